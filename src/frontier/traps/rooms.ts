/**
 * Room in memory for what is known of large hosts, for all hosts together. A host has one room of its own; each further
 * one, some 256 pages of it, is taken from here. Where none is left a host remembers less, and nothing else happens.
 */
export interface Rooms {
  /** One host has so many at most. */
  readonly mostOfHost: number
  /**
   * What is known of a host goes to other processes, and comes from them. So only a host whose pages have several
   * addresses has more than one room: others need not know their pages. And what it learns is told sooner.
   */
  readonly areShared: boolean
  /** Whether there were so many; then they are taken. */
  take(count: number): boolean
  giveBack(count: number): void
}

export function createRooms(count: number, terms: Pick<Rooms, 'mostOfHost' | 'areShared'>): Rooms {
  let left = count
  return {
    ...terms,
    take(wanted) {
      if (wanted > left) return false
      left -= wanted
      return true
    },
    giveBack(returned) {
      left += returned
    },
  }
}

/** What a host has of its own. */
export const ONE_ROOM = (): number => 1

/** Where all hosts have the same. */
export const NO_ROOMS: Rooms = createRooms(0, { mostOfHost: 1, areShared: false })
