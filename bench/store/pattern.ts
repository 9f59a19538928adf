/**
 * The access pattern of a crawl, without the crawl: lease the hosts that are due, settle a page of each with its
 * links, commit. The numbers are those of documentation sites: of 100 links on a page 90 are known, and the cache of
 * fingerprints answers for most of those.
 */
import { createRng } from '../../src/base/index.ts'
import type { Engine, NewUrl, Row, SettledPage } from './engine.ts'

const HOSTS = 1_000
/** New URLs on each page; each is looked up, then inserted into three tables. */
const NEW_PER_PAGE = 10
/** Known links that the cache does not answer for. */
const LOOKED_UP_PER_PAGE = 5
/** Referrer counts written, after many have been added up in memory. */
const REFERRERS_PER_PAGE = 5
/** Logical operations for one page: 2 to lease, 4 to settle, then what its links need. */
export const OPERATIONS_PER_PAGE = 6 + LOOKED_UP_PER_PAGE + REFERRERS_PER_PAGE + NEW_PER_PAGE * 4

export interface Measured {
  readonly urls: number
  readonly pages: number
  readonly seconds: number
  /** Pages per second over the last tenth, when the store is at its largest. */
  readonly lastTenth: number
}

export async function runPattern(engine: Engine, urls: number, pagesPerCommit: number): Promise<Measured> {
  const rng = createRng(1)
  let lastId = 0
  let clock = HOSTS
  const make = (lane: number, rank: number, referrer: number): NewUrl => {
    const id = ++lastId
    return { id, lane, rank, referrer, url: urlOf(id, lane), hi: hiOf(id), lo: loOf(id) }
  }
  await engine.seed(Array.from({ length: HOSTS }, (_, index) => make(index + 1, 1, 0)))

  const settled = (row: Row, wasDue: number): SettledPage => {
    const before = lastId
    const known = Array.from({ length: LOOKED_UP_PER_PAGE }, () => {
      const id = 1 + rng.int(before)
      return { id, hi: hiOf(id), lo: loOf(id) }
    })
    const referrers = Array.from({ length: REFERRERS_PER_PAGE }, () => 1 + rng.int(before))
    const found = Array.from({ length: NEW_PER_PAGE }, (_, index) =>
      make(index === 0 ? 1 + rng.int(HOSTS) : row.lane, row.rank + 1, row.id),
    )
    return { row, at: clock, wasDue, due: ++clock, found, known, referrers }
  }

  const started = performance.now()
  let pages = 0
  let mark: { at: number; pages: number } | undefined
  for (let more = true; more; more = lastId < urls) {
    if (mark === undefined && lastId >= urls * 0.9) mark = { at: performance.now(), pages }
    const leased = await engine.lease(pagesPerCommit)
    const batch = leased.map(({ row, due }) => settled(row, due))
    pages += batch.length
    await engine.settle(batch, `{"discovered":${lastId},"done":${pages}}`)
  }
  const ended = performance.now()
  const tail = mark ?? { at: started, pages: 0 }
  return {
    urls: lastId,
    pages,
    seconds: (ended - started) / 1_000,
    lastTenth: (pages - tail.pages) / ((ended - tail.at) / 1_000),
  }
}

/** About 80 bytes, as URLs of documentation are. */
function urlOf(id: number, lane: number): string {
  return `https://host-${lane}.example.com/documentation/section-${id % 100}/a-page-with-a-title-${id}.html`
}

const hiOf = (id: number): number => mix(id ^ 0x5bd1e995)
const loOf = (id: number): number => mix(Math.imul(id, 0x9e3779b1) ^ 0x27d4eb2f)

/** One to one on 32 bits, so two ids never share a fingerprint. */
function mix(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}
