/**
 * Links as they go from a thread to the frontier: nine of ten were named by an earlier page, so each URL is spelled out
 * once and is a number from then on. Both sides keep the same book; the one who writes says when it is begun anew, since
 * it must not grow without end.
 */
import type { NormalizedUrl } from '../../model/index.ts'

/** URLs in a book before it is begun anew. */
const MOST_URLS = 65_536

/** The links of one page. */
export interface NumberedLinks {
  /** The book is begun anew with this. */
  readonly isNewBook: boolean
  /** URLs that get the next numbers, one on each line. */
  readonly spelled: string
  readonly numbers: Uint32Array
}

export interface LinkWriter {
  write(links: readonly NormalizedUrl[]): NumberedLinks
}

/** Writings are to be read in the order in which they were made. */
export interface LinkReader {
  read(links: NumberedLinks): NormalizedUrl[]
}

export function createLinkWriter(mostUrls = MOST_URLS): LinkWriter {
  const known = new Map<NormalizedUrl, number>()
  return {
    write(links) {
      const isNewBook = known.size === 0 || known.size + links.length > mostUrls
      if (isNewBook) known.clear()
      const spelled: NormalizedUrl[] = []
      const numbers = new Uint32Array(links.length)
      for (let index = 0; index < links.length; index++) {
        const url = links[index] as NormalizedUrl
        let number = known.get(url)
        if (number === undefined) {
          number = known.size
          known.set(url, number)
          spelled.push(url)
        }
        numbers[index] = number
      }
      return { isNewBook, spelled: spelled.join('\n'), numbers }
    },
  }
}

export function createLinkReader(): LinkReader {
  let urls: NormalizedUrl[] = []
  return {
    read({ isNewBook, spelled, numbers }) {
      if (isNewBook) urls = []
      if (spelled !== '') for (const url of spelled.split('\n')) urls.push(url as NormalizedUrl)
      return Array.from(numbers, (number) => urls[number] as NormalizedUrl)
    },
  }
}
