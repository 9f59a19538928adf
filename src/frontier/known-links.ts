/**
 * Links to known URLs, as they were met of late, by the text of the URL as it stands, or by its number where it has one:
 * most links of a page are links of the page before. Who is found here needs no key, no fingerprint and no row; and a
 * string that was met before, the same object, is found by its place in memory.
 *
 * It forgets and never invents: what a URL's id and host are never changes. There are two generations. What is met in
 * the older one moves to the younger, and when that is full the older one is dropped. Texts are dear to keep, so
 * whoever puts them in asks first whether a URL was met before, of late: links that nobody follows up cost nothing here.
 */
import type { HostKey, NormalizedUrl, UrlNumbering } from '../model/index.ts'

/** Links of one generation; with their texts some 250 bytes each. */
const LINKS_KEPT = 16_384
/** Ids that are remembered as met once, for each link of a generation; four bytes each. */
const MET_FOR_LINK = 2
/** Longer URLs are not kept, so that the texts have a bound too. */
const LONGEST = 256

/** As numbers of URLs go, more or less. */
const NUMBERS = 32_768

export interface KnownLink {
  /** Of the URL. */
  readonly id: number
  readonly host: HostKey
}

export interface KnownLinks {
  find(url: NormalizedUrl): KnownLink | undefined
  put(url: NormalizedUrl, link: KnownLink): void
  /** Whether this URL was met before, of late; from now on it was. */
  isMetAgain(id: number): boolean
  /** By number, those that were met in this era; for the caller to fill. Another era makes it forget them. */
  of(era: UrlNumbering['era']): (KnownLink | undefined)[]
}

export function createKnownLinks(kept: number = LINKS_KEPT): KnownLinks {
  let young = new Map<NormalizedUrl, KnownLink>()
  let old = new Map<NormalizedUrl, KnownLink>()
  const met = new Uint32Array(MET_FOR_LINK * kept)
  let byNumber = noneYet()
  let latestEra: UrlNumbering['era'] | undefined
  const put = (url: NormalizedUrl, link: KnownLink): void => {
    if (url.length > LONGEST) return
    if (young.size >= kept) {
      old = young
      young = new Map()
    }
    young.set(url, link)
  }
  return {
    find(url) {
      const link = young.get(url)
      if (link !== undefined) return link
      const before = old.get(url)
      if (before !== undefined) put(url, before)
      return before
    },
    put,
    isMetAgain(id) {
      const place = id % met.length
      if (met[place] === id) return true
      met[place] = id
      return false
    },
    of(era) {
      if (era !== latestEra) byNumber = noneYet()
      latestEra = era
      return byNumber
    },
  }
}

/** With room, so that it is a plain list from the start. */
function noneYet(): (KnownLink | undefined)[] {
  return Array<KnownLink | undefined>(NUMBERS).fill(undefined)
}
