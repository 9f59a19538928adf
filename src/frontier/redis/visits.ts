/**
 * Pages that are to be fetched again: what is kept of a page until then, and how a visit is planned from what came of the
 * last one. The arithmetic is that of recrawl.ts, done here with the numbers that the servers have; what follows for them
 * goes back as steps, so that plans made at the same time by others are not undone.
 *
 * On the servers a visit is one line of JSON and the row (lua/shared/visits.lua knows some of its places). Times in it are
 * the server's.
 */
import type { LastVisit, Task, Tier, Visit } from '../../model/index.ts'
import { hostKey } from '../../url/index.ts'
import { planVisit, retireVisit, type RecrawlState, type VisitedHost } from '../recrawl.ts'
import { rankOf, REVISIT_RANK, SITEMAP_RANK } from '../score.ts'
import type { VisitRow } from '../storage.ts'
import type { Chosen, Intake } from './intake.ts'
import { listOf } from './replies.ts'
import { HOUR_MS, readRow, type Row } from './row.ts'
import { loadScript } from './scripts.ts'
import type { Partition, Store } from './store.ts'
import type { Times } from './times.ts'

const DUE_VISITS = loadScript('due-visits')
const REVISIT = loadScript('revisit')

/** Visits that are made tasks in one step. */
const VISITS_AT_ONCE = 256
/**
 * Pages that change alike stand in one list of their host: the finer the ranks, the more lists. This is a hundredth of a
 * point of score.
 */
const RANK_STEP = 1_000

/** What planning needs to know of a host, as `weigh` tells it; changed in place by what is planned. */
export interface PlannedHost extends VisitedHost {
  readonly delayMs: number
  readonly importance: number
}

/** What settling does to the plan: see settle.lua. */
export interface Plan {
  readonly text?: string
  readonly due?: number
  readonly pages: number
  readonly price?: number
  readonly price_before?: number
  readonly rates?: string
  readonly change_pages: number
  readonly change_rate: number
  readonly revisit_rate: number
}

/** Of a page whose settlement says nothing about it. */
const FIRST_VISIT: Visit = { change: 'new', hash: null, etag: null, lastModified: null }

export function writeVisit(visit: VisitRow, settledAt: number, row: string): string {
  const { visits, changes, misses, firstAt, checkedAt, changedAt, changeShape, changeTimeMs, intervalMs } = visit
  const { hash, etag, lastModified } = visit
  const numbers = [visits, changes, misses, firstAt, checkedAt, changedAt, changeShape, changeTimeMs, intervalMs]
  return `${JSON.stringify([...numbers, hash, etag, lastModified, settledAt])}\n${row}`
}

export function readVisit(text: string, id: number): { readonly visit: VisitRow; readonly row: string } {
  const end = text.indexOf('\n')
  const fields = JSON.parse(text.slice(0, end)) as [...number[]] & (string | null)[]
  const number = (index: number): number => Number(fields[index])
  const word = (index: number): string | null => (fields[index] as string | null | undefined) ?? null
  return {
    visit: {
      id,
      visits: number(0),
      changes: number(1),
      misses: number(2),
      firstAt: number(3),
      checkedAt: number(4),
      changedAt: number(5),
      changeShape: number(6),
      changeTimeMs: number(7),
      intervalMs: number(8),
      dueAt: null,
      hash: word(9),
      etag: word(10),
      lastModified: word(11),
    },
    row: text.slice(end + 1),
  }
}

/** What a task says of the last time. */
export function lastVisitOf(text: string, times: Times): LastVisit {
  const { checkedAt, visits, misses, hash, etag, lastModified } = readVisit(text, 0).visit
  return { at: times.toWorker(checkedAt), visits, misses, hash, etag, lastModified }
}

export interface PlanInput {
  readonly task: Task
  /** Of the task, and what is kept from its last visit. */
  readonly row: string
  readonly before: string | undefined
  readonly tier: Tier
  readonly host: PlannedHost
  readonly state: RecrawlState
  /** The server's. */
  readonly now: number
}

/** A page or sitemap is done: when it is to be fetched again. */
export function planNext(input: PlanInput, visit: Visit | undefined, { recrawl }: Store['settings']): Plan {
  const { task, tier, host, state, now } = input
  return withSteps(input, () => {
    const planned = planVisit({
      id: task.id,
      before: input.before === undefined ? undefined : readVisit(input.before, task.id).visit,
      visit: visit ?? FIRST_VISIT,
      now,
      interval: recrawl.intervals[tier],
      hostShare: recrawl.hostShare,
      state,
      host,
      delayMs: host.delayMs,
      weight: task.kind === 'sitemap' ? 1 : host.importance,
    })
    const text = writeVisit(planned, now, input.row)
    return planned.dueAt === null ? { text } : { text, due: Math.ceil(planned.dueAt) }
  })
}

/** It was there before, and is not to be fetched again: nothing of it is kept. */
export function planNoMore(input: PlanInput, gone: boolean): Plan {
  return withSteps(input, () => {
    const { before, task, state, host, now } = input
    if (before !== undefined) retireVisit(readVisit(before, task.id).visit, { state, host, now, gone })
    return {}
  })
}

/** Plans, and says by how much the numbers that the plan is made from have changed with it. */
function withSteps({ state, host }: PlanInput, plan: () => Pick<Plan, 'text' | 'due'>): Plan {
  const [pages, price, changePages, revisitRate] = [state.pages, state.price, host.changePages, host.revisitRate]
  const ratesBefore = writeRates(state.rates)
  const planned = plan()
  const rates = writeRates(state.rates)
  return {
    ...planned,
    pages: state.pages - pages,
    ...(state.price > 0 ? { price: state.price, price_before: price } : {}),
    ...(rates === ratesBefore ? {} : { rates }),
    change_pages: host.changePages - changePages,
    change_rate: host.changeRate,
    revisit_rate: host.revisitRate - revisitRate,
  }
}

/** The spread of a tier's rates as the store has it. Six digits are more than what is learned from visits is good for. */
export function writeRates(rates: readonly number[] = []): string {
  return rates.map((rate) => String(Number(rate.toPrecision(6)))).join(' ')
}

export function readRates(text: string): number[] {
  return text === '' ? [] : text.split(' ').map(Number)
}

export interface Visits {
  /** Queues the pages of a partition whose visit is due until then (the server's time). True when there may be more. */
  promote(partition: Partition, until: number): Promise<boolean>
}

export function createVisits(store: Store, intake: Intake): Visits {
  const { settings } = store
  const isLimited = settings.maxPages !== undefined || settings.maxPagesPerHost !== undefined

  const rankFor = (row: Row, visit: VisitRow): number => {
    if (row.kind === 'sitemap') return SITEMAP_RANK
    // Where the number of pages is limited, those that are had already go first: new ones may have no room.
    if (isLimited) return REVISIT_RANK
    const since = Math.floor(visit.checkedAt / HOUR_MS) * HOUR_MS
    const changeRate = visit.changeShape / visit.changeTimeMs
    const rank = rankOf({ depth: row.depth, referrers: 1, changeRate, since }, settings.score)
    return Math.ceil(rank / RANK_STEP) * RANK_STEP
  }

  /** How a page comes back: like a new one, but for its rank. */
  const comingBack = (text: string): Chosen => {
    const { visit, row: kept } = readVisit(text, 0)
    const old = readRow(kept)
    const row: Row = { ...old, attempts: 0, rank: rankFor(old, visit) }
    const number = store.fingerprints.ofUrl(row.kind, row.url)
    return { row, number, host: hostKey(row.url), ordinal: 0, times: 0, modifiedAt: 0 }
  }

  return {
    async promote(partition, until) {
      const due = (await partition.call(DUE_VISITS, partition.keys.fixed, { until, count: VISITS_AT_ONCE })) as {
        readonly visits: unknown
      }
      const visits = listOf<readonly [string, string]>(due.visits)
      for (;;) {
        if (visits.length === 0) return false
        const keys = partition.keyList()
        const batch = intake.batch(partition, keys)
        const items = batch.items(visits.map(([, text]) => comingBack(text)))
        const reply = await partition.call(REVISIT, keys.names, { ...batch.tables(), until, items })
        if (intake.isRefused(partition, reply)) continue
        return visits.length === VISITS_AT_ONCE
      }
    },
  }
}
