/**
 * What is kept on the store of a crawl as a whole: its configuration and seeds, who works on it, who leads, who asks which
 * partitions first, whether it was halted, and the rate that all keep together. Each verb is one script on the slot of the
 * crawl's name. Nothing here is needed to be polite: leases and pace belong to the partitions.
 */
import { listOf } from './replies.ts'
import { loadCrawlScript } from './scripts.ts'
import type { Store } from './store.ts'

/** A process that works on the crawl, as it says itself. */
export interface Member {
  readonly id: string
  readonly role: 'worker' | 'coordinator'
  readonly host: string
  readonly pid: number
  readonly slots: number
  readonly inFlight: number
  readonly startedAt: number
  readonly done: number
  readonly detail?: string
}

export interface FleetCrawl {
  /** The resolved configuration, set once by whoever comes first; answers the one in force. */
  config(proposed?: string): Promise<string | undefined>
  /** Another configuration from now on. Who works on the crawl goes by the one that it began with. */
  replaceConfig(config: string): Promise<void>
  /** All seed URLs ever given, in the order in which they came. */
  seeds(): Promise<readonly string[]>
  addSeeds(urls: readonly string[]): Promise<void>
  /** Says that this process is alive; forgotten `ttlMs` after the last time. */
  beat(member: Member, ttlMs: number): Promise<void>
  members(): Promise<readonly Member[]>
  /** True while this id leads; renewed by calling again. Nobody else leads for `ttlMs` from then on. */
  lead(id: string, ttlMs: number): Promise<boolean>
  resign(id: string): Promise<void>
  /** Replaces every assignment. */
  assign(partitionsByWorker: Readonly<Record<string, readonly number[]>>): Promise<void>
  assignment(worker: string): Promise<readonly number[] | undefined>
  /** The crawl is stopped for all; the first reason stays. */
  halt(reason: string): Promise<void>
  halted(): Promise<string | undefined>
  /** It is no longer stopped. */
  resume(): Promise<void>
  /**
   * Permits to start requests, of so many that all workers together may start in any second. Each is for one request,
   * which starts within `goodMs` of the moment at which it is given, or not at all.
   */
  takePermits(wanted: number, perSecond: number, goodMs: number): Promise<number>
  /**
   * Adds to the bytes that all workers have fetched, and answers their sum: for whoever has to know at once. What counts
   * in the end is in the statistics of the partitions; a sum that turns out to be more than that is `corrected`.
   */
  countBytes(bytes: number, corrected?: number): Promise<number>
}

/** Seeds in one call. */
const SEEDS_AT_ONCE = 1_000

const CONFIG = loadCrawlScript('crawl-config')
const SEEDS = loadCrawlScript('crawl-seeds')
const MEMBERS = loadCrawlScript('crawl-members')
const LEAD = loadCrawlScript('crawl-lead')
const ASSIGN = loadCrawlScript('crawl-assign')
const PERMITS = loadCrawlScript('crawl-permits')
const BYTES = loadCrawlScript('crawl-bytes')

export function createCrawlRecord({ callCrawl }: Pick<Store, 'callCrawl'>): FleetCrawl {
  const configuration = async (asked: object): Promise<{ readonly config?: string; readonly halted?: string }> =>
    (await callCrawl(CONFIG, ['record'], asked)) as { config?: string; halted?: string }
  const members = ['members', 'members-until']
  return {
    config: async (proposed) => (await configuration(proposed === undefined ? {} : { config: proposed })).config,
    async replaceConfig(config) {
      await configuration({ replace: config })
    },
    async seeds() {
      const all: string[] = []
      for (;;) {
        const reply = await callCrawl(SEEDS, ['seeds'], { from: all.length, most: SEEDS_AT_ONCE })
        const urls = listOf<string>((reply as { readonly urls: unknown }).urls)
        all.push(...urls)
        if (urls.length < SEEDS_AT_ONCE) return all
      }
    },
    async addSeeds(urls) {
      for (let start = 0; start < urls.length; start += SEEDS_AT_ONCE)
        await callCrawl(SEEDS, ['seeds'], { urls: urls.slice(start, start + SEEDS_AT_ONCE) })
    },
    async beat(member, ttlMs) {
      await callCrawl(MEMBERS, members, { id: member.id, member: JSON.stringify(member), ttlMs })
    },
    async members() {
      const reply = (await callCrawl(MEMBERS, members, {})) as { readonly members: unknown }
      return listOf<string>(reply.members)
        .map((text) => JSON.parse(text) as Member)
        .sort((a, b) => (a.id < b.id ? -1 : 1))
    },
    async lead(id, ttlMs) {
      return ((await callCrawl(LEAD, ['leader'], { id, ttlMs })) as { readonly leads: boolean }).leads
    },
    async resign(id) {
      await callCrawl(LEAD, ['leader'], { id })
    },
    async assign(partitionsByWorker) {
      const all = Object.entries(partitionsByWorker).map(([worker, partitions]) => [worker, JSON.stringify(partitions)])
      await callCrawl(ASSIGN, ['assignment'], { all: Object.fromEntries(all) as object })
    },
    async assignment(worker) {
      const { partitions } = (await callCrawl(ASSIGN, ['assignment'], { worker })) as { readonly partitions?: string }
      return partitions === undefined ? undefined : (JSON.parse(partitions) as number[])
    },
    async halt(reason) {
      await configuration({ halt: reason })
    },
    halted: async () => (await configuration({})).halted,
    async resume() {
      await configuration({ resume: true })
    },
    async takePermits(wanted, perSecond, goodMs) {
      const reply = (await callCrawl(PERMITS, ['permits'], { wanted, perSecond, goodMs })) as {
        readonly permits: number
      }
      return reply.permits
    },
    async countBytes(bytes, corrected) {
      const asked = corrected === undefined ? { bytes } : { bytes, corrected }
      return ((await callCrawl(BYTES, ['bytes'], asked)) as { readonly bytes: number }).bytes
    },
  }
}
