/**
 * Room in memory for what is known of large hosts, for all hosts together. A host has one room of its own; each further
 * one, some 256 pages of it, is taken from here. Where none is left a host remembers less, and nothing else happens.
 */
export interface Rooms {
  /** Whether there were so many; then they are taken. */
  take(count: number): boolean
  giveBack(count: number): void
}

export function createRooms(count: number): Rooms {
  let left = count
  return {
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
export const NO_ROOMS: Rooms = { take: () => false, giveBack() {} }
