/**
 * Links as they go from a thread to the frontier: nine of ten were named by an earlier page, so each URL is spelled out
 * once and is a number from then on. Both sides keep the same book; the one who writes says when it is begun anew, since
 * it must not grow without end.
 */
import type { FoundUrl, NormalizedUrl } from '../../model/index.ts'

/** URLs in a book before it is begun anew. */
const MOST_URLS = 65_536

/** URLs that were found in the same way. */
interface Group extends Omit<FoundUrl, 'url'> {
  readonly numbers: Uint32Array
}

/** What one task has found. */
export interface NumberedLinks {
  /** The book is begun anew with this. */
  readonly isNewBook: boolean
  /** URLs that get the next numbers, one on each line. */
  readonly spelled: string
  readonly groups: readonly Group[]
}

export interface LinkWriter {
  write(found: readonly FoundUrl[]): NumberedLinks
}

/** Writings are to be read in the order in which they were made. */
export interface LinkReader {
  read(links: NumberedLinks): FoundUrl[]
}

export function createLinkWriter(mostUrls = MOST_URLS): LinkWriter {
  const numbers = new Map<NormalizedUrl, number>()
  return {
    write(found) {
      const isNewBook = numbers.size === 0 || numbers.size + found.length > mostUrls
      if (isNewBook) numbers.clear()
      const spelled: NormalizedUrl[] = []
      const groups: Group[] = []
      for (let start = 0; start < found.length;) {
        const end = endOfGroup(found, start)
        const group = new Uint32Array(end - start)
        for (let index = start; index < end; index++) {
          const { url } = found[index] as FoundUrl
          let number = numbers.get(url)
          if (number === undefined) {
            number = numbers.size
            numbers.set(url, number)
            spelled.push(url)
          }
          group[index - start] = number
        }
        const { url: _url, ...how } = found[start] as FoundUrl
        groups.push({ ...how, numbers: group })
        start = end
      }
      return { isNewBook, spelled: spelled.join('\n'), groups }
    },
  }
}

export function createLinkReader(): LinkReader {
  let urls: NormalizedUrl[] = []
  return {
    read({ isNewBook, spelled, groups }) {
      if (isNewBook) urls = []
      if (spelled !== '') for (const url of spelled.split('\n')) urls.push(url as NormalizedUrl)
      const found: FoundUrl[] = []
      for (const { numbers, ...how } of groups) {
        for (const number of numbers) found.push({ ...how, url: urls[number] as NormalizedUrl })
      }
      return found
    },
  }
}

/** Where those that were found in the same way as this one end. */
function endOfGroup(found: readonly FoundUrl[], start: number): number {
  const first = found[start] as FoundUrl
  let end = start + 1
  while (end < found.length && isAlike(found[end] as FoundUrl, first)) end++
  return end
}

function isAlike(a: FoundUrl, b: FoundUrl): boolean {
  return (
    a.kind === b.kind &&
    a.depth === b.depth &&
    a.via === b.via &&
    a.referrer === b.referrer &&
    a.tier === b.tier &&
    a.redirects === b.redirects &&
    a.nesting === b.nesting &&
    a.modifiedAt === b.modifiedAt
  )
}
