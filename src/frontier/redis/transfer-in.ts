/**
 * A crawl of the embedded home carried to the servers, from wherever it stopped the last time. How far it has come is kept
 * in the record of the crawl on the servers; each portion is the same whenever it is read, since nobody can work on the
 * source, so one that is sent twice does no harm.
 */
import type { EmbeddedSource } from '../embedded/index.ts'
import { totalsOf } from '../transfer.ts'
import { loadCrawlScript } from './scripts.ts'
import type { MovingStore } from './transfer-store.ts'
import { createRedisTarget } from './transfer-target.ts'

/** Hosts and URLs of one portion. Texts of robots.txt files go with hosts, so these are fewer. */
const HOSTS_AT_ONCE = 100
const URLS_AT_ONCE = 2_000

/** Field of the crawl's record, while it is moved. */
const PROGRESS = 'progress'
const RECORD = loadCrawlScript('transfer-crawl')

interface Progress {
  /** The number of the next portion. */
  readonly portion: number
  readonly step: 'room' | 'hosts' | 'urls' | 'sums' | 'done'
  readonly behind: number
  /** What has been carried of the kind that the step is about. */
  readonly carried: number
}

export interface MoveReport {
  readonly hosts: number
  readonly urls: number
}

/** Told after every portion. */
export type OnMoved = (moved: {
  readonly what: 'hosts' | 'URLs'
  readonly carried: number
  readonly of: number
}) => void

export async function moveIn(source: EmbeddedSource, store: MovingStore, onMoved: OnMoved): Promise<MoveReport> {
  const { counters } = source
  const target = createRedisTarget(store, { askedUntil: source.clean ? source.uncleanAt : store.clock.now() })
  const stored = (await store.note({}))[PROGRESS]
  let at: Progress =
    stored === undefined ? { portion: 1, step: 'room', behind: 0, carried: 0 } : (JSON.parse(stored) as Progress)
  // Every partition says again how many buckets it has.
  if (at.step !== 'room') await target.prepare(0, 0)
  while (at.step !== 'done') {
    at = await carryOn(at)
    await store.note({ set: { [PROGRESS]: JSON.stringify(at) } })
  }
  return { hosts: counters.hosts, urls: source.urlCount }

  async function carryOn({ portion, step, behind, carried }: Progress): Promise<Progress> {
    const next = { portion: portion + 1, behind: 0, carried: 0 }
    if (step === 'room') {
      await target.prepare(portion, source.urlCount)
      return { ...next, step: 'hosts' }
    }
    if (step === 'hosts') {
      const { items, next: last } = source.hosts(behind, HOSTS_AT_ONCE)
      await target.hosts(portion, items, carried)
      onMoved({ what: 'hosts', carried: carried + items.length, of: counters.hosts })
      if (last === null) return { ...next, step: 'urls' }
      return { ...next, step, behind: last, carried: carried + items.length }
    }
    if (step === 'urls') {
      const { items, next: last } = source.urls(behind, URLS_AT_ONCE)
      await target.urls(portion, items)
      onMoved({ what: 'URLs', carried: carried + items.length, of: source.urlCount })
      if (last === null) return { ...next, step: 'sums' }
      return { ...next, step, behind: last, carried: carried + items.length }
    }
    await target.sums(portion, totalsOf(counters))
    // Whoever grants pages of a limit asks all partitions first how many they have.
    await store.callCrawl(RECORD, ['limits'], { set: { server: 'moved' } })
    return { ...next, step: 'done' }
  }
}
