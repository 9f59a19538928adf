/**
 * A web to be discovered, computed and not kept: a URL is a host and its number there, and its text follows from both.
 * The same seed gives the same web in every process, so that all that are measured see the same links.
 *
 * There is one host for 100 URLs at every size. The first hosts have most: one has some 7 % of ten million, a few have
 * tens of thousands, half have thirty or fewer, and a fifth have one. Pages have 100 links, 10 of them new.
 */
import { createRng } from '../../src/base/index.ts'
import { textOf } from './url-text.ts'

const URLS_PER_HOST = 100
/** New links of one page, which are of its host. */
export const NEW_PER_PAGE = 10
/** Links of one page that are known. */
export const KNOWN_PER_PAGE = 90
/** Of these, how many are the same on every page of a host, as menus and footers are. */
const MENU_LINKS = 60
/** And how many lead anywhere else on the host. */
const RELATED_LINKS = 20
/** The part of all pages that the largest host has besides what it has like the others. */
const GIANT_SHARE = 0.05
/** The larger, the more of all URLs the first hosts have. */
const HOST_SKEW = 3
/** The larger, the more links to another host lead to its front page. */
const FRONT_SKEW = 4
/** Hosts of the largest web that can be made: 200 million URLs. */
const MOST_HOSTS = 2_000_000
/** A page asks for known links at most so often: a small web may not have as many. */
const MOST_DRAWS = 1_000

export interface Link {
  readonly host: number
  /** Of the URLs of this host, in order of their discovery from 0. */
  readonly number: number
}

export interface Page {
  readonly page: Link
  readonly known: readonly Link[]
  readonly fresh: readonly Link[]
}

/** How the known links of a page are drawn: as pages have them, or evenly from all known URLs. */
export type Draw = 'skewed' | 'uniform'

export interface World {
  readonly urls: number
  readonly hosts: number
  /** Makes so many URLs known, ten on each page. */
  grow(count: number): Page[]
  /** Draws pages evenly from those known, each with its links; what is new on them is known from then on. */
  pages(count: number, draw: Draw): Page[]
  /** URLs of this host that are known. */
  countOf(host: number): number
}

export function createWorld(seed: number): World {
  const rng = createRng(seed)
  const counts = new Uint32Array(MOST_HOSTS)
  /** URLs of all hosts before this one, when the web was last looked at as a whole. */
  let before = new Float64Array(0)
  let surveyed = 0
  let hosts = 0
  let urls = 0

  const take = (host: number): Link => {
    const number = counts[host] ?? 0
    counts[host] = number + 1
    urls += 1
    return { host, number }
  }
  /** One more URL: each hundredth is the first of a host. */
  const discover = (host: number): Link => (urls % URLS_PER_HOST === 0 ? take(hosts++) : take(host))
  const drawHost = (): number => Math.floor(hosts * rng.next() ** HOST_SKEW)

  /** Counts are summed up again when a hundredth has come to them: until then the youngest are not drawn. */
  const survey = (): void => {
    if (urls < surveyed * 1.01) return
    before = new Float64Array(hosts)
    let sum = 0
    for (let host = 0; host < hosts; host++) {
      before[host] = sum
      sum += counts[host] ?? 0
    }
    surveyed = urls
  }
  const drawEvenly = (): Link => {
    const index = rng.int(surveyed)
    let low = 0
    for (let high = before.length - 1; low < high;) {
      const middle = (low + high + 1) >>> 1
      if ((before[middle] ?? 0) <= index) low = middle
      else high = middle - 1
    }
    return { host: low, number: index - (before[low] ?? 0) }
  }
  const drawFront = (): Link => {
    const host = drawHost()
    return { host, number: Math.floor(Math.min(counts[host] ?? 0, MENU_LINKS) * rng.next() ** FRONT_SKEW) }
  }

  const knownOf = (page: Link, draw: Draw): Link[] => {
    const { host } = page
    const count = counts[host] ?? 0
    const links = new Map<string, Link>()
    const put = (link: Link): void => void links.set(`${link.host} ${link.number}`, link)
    if (draw === 'skewed') {
      for (let number = 0; number < Math.min(MENU_LINKS, count); number++) put({ host, number })
      for (let related = 0; related < RELATED_LINKS; related++) put({ host, number: rng.int(count) })
    }
    for (let draws = 0; links.size < KNOWN_PER_PAGE && draws < MOST_DRAWS; draws++)
      put(draw === 'skewed' ? drawFront() : drawEvenly())
    return [...links.values()]
  }

  return {
    get urls() {
      return urls
    },
    get hosts() {
      return hosts
    },
    countOf: (host) => counts[host] ?? 0,
    grow(count) {
      const pages: Page[] = []
      for (let left = count; left > 0; left -= NEW_PER_PAGE) {
        const host = rng.next() < GIANT_SHARE ? 0 : drawHost()
        const page = { host, number: rng.int(counts[host] ?? 0) }
        pages.push({
          page,
          known: [],
          fresh: Array.from({ length: Math.min(NEW_PER_PAGE, left) }, () => discover(host)),
        })
      }
      return pages
    },
    pages(count, draw) {
      survey()
      return Array.from({ length: count }, () => {
        const page = drawEvenly()
        const known = knownOf(page, draw)
        return { page, known, fresh: Array.from({ length: NEW_PER_PAGE }, () => discover(page.host)) }
      })
    },
  }
}

/** Links from a seed: the deeper, the later it was found on its host. */
export function depthOf({ number }: Link): number {
  return number === 0 ? 0 : 1 + Math.floor(Math.log2(number) / 3)
}

export const urlOf = ({ host, number }: Link): string => textOf(host, number)
