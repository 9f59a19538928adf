/**
 * URLs that are set aside: they look like traps, or their host has all the pages that it may have. They wait until nothing
 * else is left, and are skipped then. What is learned meanwhile may free them: a lesson that turns out to be wrong, or a
 * probe, which is one of them that is fetched after all, to see.
 */
import type { Task } from '../model/index.ts'
import type { FrontierOptions, Settlement } from './contract.ts'
import type { Intake } from './intake.ts'
import type { Host, Roster } from './roster.ts'
import { namedUrls } from './settled-links.ts'
import { queuedIn, type Counters, type Storage, type UrlRow } from './storage.ts'

/** The reason of a row that is queued to be fetched as a probe. */
const PROBE = 'probe'
const BUDGET = 'host-budget'
/** URLs aside that are looked at in one go. */
const PORTION = 256
/** Of so many of a host, the oldest, one is looked for that may be probed. */
const PROBE_CANDIDATES = 4_096

export interface Parking {
  /** Sets a row that has come to the head of its queue aside, if there is a reason to. */
  setAside(host: Host, row: UrlRow): boolean
  /**
   * For so many rows of a lease at most, which are asked for before it is known what those say that are out: whether one
   * more may go. One that may is to be leased. One that may not waits until something of its host is settled.
   */
  createBatch(host: Host, count: number): (row: UrlRow) => boolean
  /** Queues a row that is aside, if there is no reason for it any more. */
  release(host: Host, row: UrlRow): boolean
  /** Whether a sample of what it says is wanted of a page that was never had. */
  wantsSample(host: Host, row: UrlRow): boolean
  /** A page was fetched; `sample` is what it says, if it was read and that was wanted. */
  learn(host: Host, settlement: Pick<Settlement, 'task' | 'outcome' | 'sample' | 'links' | 'found'>): void
  /** Why a row is aside, as its task says it. */
  reasonOf(row: UrlRow): NonNullable<Task['aside']>
}

export function createParking(
  storage: Storage,
  roster: Roster,
  intake: Intake,
  counters: Counters,
  options: Pick<FrontierOptions, 'traps' | 'maxPagesPerHost'>,
): Parking {
  const reasonFor = (host: Host, row: UrlRow): string | undefined => {
    if (row.kind !== 'page') return undefined
    if (options.maxPagesPerHost !== undefined && host.row.pages >= options.maxPagesPerHost) {
      if (storage.visit(row.id) === undefined) return BUDGET
    }
    if (!options.traps || row.reason === PROBE || storage.visit(row.id) !== undefined) return undefined
    return roster.traps(host).judge(row.url)
  }

  const free = (row: UrlRow, reason: string | null): void => {
    row.reason = reason
    intake.move(row, 'queued')
  }

  const release = (host: Host, row: UrlRow): boolean => {
    if (row.state !== 'aside' || reasonFor(host, row) !== undefined) return false
    free(row, null)
    return true
  }

  /** Looks again at the URLs of this host that are aside. */
  const review = (host: Host): void => {
    for (let behind = 0; ;) {
      const ids = storage.asideOf(host.row.id, behind, PORTION)
      for (const id of ids) release(host, storage.url(id))
      if (ids.length < PORTION) return
      behind = ids.at(-1) ?? behind
    }
  }

  /** Nothing else of the host is left: one of those aside may show whether they are there for good reason. */
  const probe = (host: Host): void => {
    for (let behind = 0, looked = 0; looked < PROBE_CANDIDATES; looked += PORTION) {
      const ids = storage.asideOf(host.row.id, behind, PORTION)
      for (const id of ids) {
        const row = storage.url(id)
        if (row.reason === BUDGET || !roster.traps(host).mayProbe(row.url)) continue
        free(row, PROBE)
        return
      }
      if (ids.length < PORTION) return
      behind = ids.at(-1) ?? behind
    }
  }

  const isIdle = (host: Host): boolean => host.leases === 0 && host.lanes.every(({ row }) => queuedIn(row) === 0)

  return {
    setAside(host, row) {
      const reason = reasonFor(host, row)
      if (reason === undefined) return false
      row.reason = reason
      intake.move(row, 'aside')
      return true
    },
    createBatch(host, count) {
      if (!options.traps) return () => true
      const traps = roster.traps(host)
      if (count === 1 && roster.maxLeases(host) === 1) {
        // One by itself always may.
        return ({ kind, url }) => {
          if (kind === 'page') traps.letPass(url)
          return true
        }
      }
      const admits = traps.batch(roster.underWay(host), roster.maxLeases(host) - host.leases)
      // Of what was read before nothing is learned.
      return (row) => row.kind !== 'page' || storage.visit(row.id) !== undefined || admits(row.url)
    },
    release,
    wantsSample: (host, row) => !options.traps || row.kind !== 'page' || roster.traps(host).wantsSample(row.url),
    learn(host, settlement) {
      const { task, outcome, sample } = settlement
      const { url, referrer, isUnsampled } = task
      if (!options.traps) return
      const traps = roster.traps(host)
      if (isUnsampled === true && outcome.kind === 'done') traps.pass(url)
      const acquits = sample !== undefined && traps.learn(url, sample, referrer, namedUrls(settlement))
      if (counters.aside === 0) return
      if (acquits) review(host)
      if (isIdle(host)) probe(host)
    },
    reasonOf: ({ reason }) =>
      reason === BUDGET
        ? { reason: BUDGET, detail: 'the host has all the pages that it may have' }
        : { reason: 'trap', detail: reason ?? 'it looks like a trap' },
  }
}
