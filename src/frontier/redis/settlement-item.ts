/** A settlement as settle.lua takes it: what each field means stands there. */
import type { HostKey, Outcome, RobotsRecord, Task } from '../../model/index.ts'
import { hostKey, originOf } from '../../url/index.ts'
import type { HostChange, Settlement } from '../contract.ts'
import type { ChosenUrls, IntakeBatch } from './intake.ts'
import type { KeyList } from './key-list.ts'
import type { Partition, Store } from './store.ts'
import { streamEntry } from './stream-entry.ts'
import type { Times } from './times.ts'
import { planNext, planNoMore, type Plan } from './visits.ts'
import { parkedHash, type HeldTask, type Weighing } from './weighing.ts'

/** Of one call to settle.lua. */
export interface ItemContext {
  readonly store: Store
  readonly partition: Partition
  readonly keys: KeyList
  readonly batch: IntakeBatch
}

export interface ItemInput {
  readonly settlement: Settlement
  readonly held: HeldTask
  readonly plan: Plan | undefined
  /** What its answer names, as far as it is told. */
  readonly found: ChosenUrls | undefined
  /** The output has its record already. */
  readonly isSure: boolean
}

export function itemOf(input: ItemInput, context: ItemContext): object {
  const { settlement, held, plan, found, isSure } = input
  const { store, partition, keys, batch } = context
  const { task, outcome, lease } = settlement
  const isUrl = task.kind !== 'robots'
  const parked = parkedHash(partition, settlement)
  const { answeredAt, spareMs, bytes, tokens, host, impolite } = settlement
  return {
    fence: String(lease.fence),
    host: lease.host,
    name: held.name,
    kind: task.kind.charAt(0),
    outcome: outcome.kind,
    tier: held.tier,
    ...(isSure ? sureFields(settlement, held, context) : {}),
    ...(task.kind === 'robots' ? {} : { bucket: batch.bucket(store.fingerprints.ofUrl(task.kind, task.url)) }),
    ...(answeredAt === undefined ? {} : { age: partition.times.age(answeredAt) }),
    ...(spareMs === undefined ? {} : { spare: spareMs }),
    ...(impolite === true ? { impolite } : {}),
    ...(bytes === undefined ? {} : { bytes }),
    ...(tokens === undefined ? {} : { tokens }),
    ...outcomeFields(outcome, partition.times),
    ...(parked === undefined || held.parked === undefined ? {} : { parked: keys.at(parked) }),
    ...(isUrl && mayGoBack(outcome, held) ? { list: keys.at(listOf(partition, held)) } : {}),
    ...(host === undefined ? {} : { change: changeFields(host, partition.times) }),
    ...(isUrl || outcome.kind === 'returned' ? {} : robotsFields(settlement, context)),
    ...(found === undefined ? {} : foundFields(settlement, found, context)),
    ...visitedField(settlement),
    ...(plan === undefined ? {} : { plan }),
    ...(store.settings.stream ? { entry: streamEntry(settlement.record) } : {}),
  }
}

/** What a settlement does to the visits of its URL; undefined for nothing. Changes the numbers that it is made from. */
export function planOf(
  settlement: Settlement,
  held: HeldTask,
  planning: Weighing['planning'],
  settings: Store['settings'],
): Plan | undefined {
  const { task, outcome } = settlement
  const host = planning?.hosts.get(held.host)
  if (settings.recrawl.mode === 'off' || task.kind === 'robots' || held.row === undefined) return undefined
  if (planning === undefined || host === undefined) return undefined
  const { row, visit: before, tier } = held
  const input = { task, row, before, tier, host, state: planning.recrawl[tier], now: planning.now }
  if (outcome.kind === 'done') return planNext(input, settlement.visit, settings)
  if ((outcome.kind !== 'skipped' && outcome.kind !== 'failed') || before === undefined) return undefined
  return planNoMore(input, outcome.kind === 'skipped' && outcome.reason === 'gone')
}

function outcomeFields(outcome: Outcome, times: Times): object {
  if (outcome.kind === 'skipped') return { reason: outcome.reason }
  if (outcome.kind === 'retry') return { at: times.toServer(outcome.notBefore), counts: outcome.counts }
  return {}
}

/** What it takes to settle a task whose lease is lost. */
function sureFields({ task }: Settlement, { row, last, host, origin }: HeldTask, context: ItemContext): object {
  const { store, partition, keys } = context
  const sure = { sure: true, policy: store.policyFor(host), origin }
  if (task.kind === 'robots') return { ...sure, at: originOf(task.url) }
  return { ...sure, row, last, parks: [keys.at(partition.keys.held(host)), keys.at(partition.keys.aside(host))] }
}

/** A parked row stands in no queue, and stays where it is. */
const mayGoBack = (outcome: Outcome, { parked }: HeldTask): boolean =>
  parked === undefined && (outcome.kind === 'returned' || (outcome.kind === 'skipped' && outcome.reason === 'depth'))

function listOf({ keys }: Partition, { origin, slot, rank }: HeldTask): string {
  if (slot === undefined || rank === undefined) throw new Error('a row of a lease has no place to go back to')
  return keys.queue(origin, slot, rank)
}

export function changeFields(change: HostChange, times: Times): object {
  const { blockedUntil, blockedReason, health, address } = change
  return {
    ...(blockedUntil === undefined ? {} : { until: times.toServer(blockedUntil) }),
    ...(blockedReason === undefined ? {} : blockedReason === null ? { clear: true } : { reason: blockedReason }),
    ...(health === undefined
      ? {}
      : {
          health: [
            health.strikes,
            health.streak,
            times.toServer(health.streakSince),
            times.toServer(health.blockedAt),
            health.latencyMs,
          ],
        }),
    ...(address === undefined ? {} : { address }),
  }
}

function robotsFields({ task, outcome, robots }: Settlement, { store, partition }: ItemContext): object {
  /** What is for another partition says so. */
  const forHost = (kind: string, host: HostKey): object => {
    const { index } = store.partitionOf(host)
    return { kind, host, policy: store.policyFor(host), ...(index === partition.index ? {} : { to: index }) }
  }
  const own = { ...forHost('robots', hostKey(`${task.origin}/` as Task['url'])), origin: task.origin }
  if (outcome.kind === 'moved') {
    const { url } = outcome
    const place = { at: originOf(url), origin: task.origin, url }
    const counts = { redirects: task.redirects + 1, attempts: task.attempts }
    return {
      robots: { ...own, outcome: 'moved' },
      errand: { ...forHost('errand', hostKey(url)), ...place, ...counts },
    }
  }
  if (outcome.kind === 'retry')
    return { robots: { ...own, outcome: 'retry', not_before: partition.times.toServer(outcome.notBefore) } }
  return {
    robots: { ...own, outcome: 'done', ...(robots === undefined ? {} : recordFields(robots, store, partition)) },
  }
}

function recordFields(robots: RobotsRecord, { settings }: Store, { times }: Partition): object {
  const { body, ...summary } = robots
  const expires = times.toServer(robots.expiresAt)
  const { crawlDelayMs } = robots
  return {
    record: JSON.stringify({
      ...summary,
      fetchedAt: times.toServer(robots.fetchedAt),
      staleSince: times.toServer(robots.staleSince),
      expiresAt: expires,
    }),
    body,
    expires,
    crawl_delay: crawlDelayMs > 0 ? settings.crawlDelayMs(crawlDelayMs) : 0,
    version: robots.version,
  }
}

/** A robots record as it is kept, and its text. */
export function robotsRecordOf(record: string, body: string, times: Times): RobotsRecord {
  const summary = JSON.parse(record) as Omit<RobotsRecord, 'body'>
  return {
    ...summary,
    fetchedAt: times.toWorker(summary.fetchedAt),
    staleSince: times.toWorker(summary.staleSince),
    expiresAt: times.toWorker(summary.expiresAt),
    body,
  }
}

function foundFields(settlement: Settlement, told: ChosenUrls, { batch }: ItemContext): object {
  const { task } = settlement
  const { chosen, children } = told
  const elsewhere = batch.elsewhere(chosen)
  return {
    found: batch.items(chosen),
    depth: task.depth,
    ...(elsewhere.length === 0 ? {} : { elsewhere }),
    ...(children.length === 0 ? {} : { url: task.url, children }),
    ...(task.kind === 'page' && task.last === undefined ? { pass: otherHosts(settlement).size } : {}),
  }
}

/** Hosts that a page links to, other than its own. */
export function otherHosts({ task, found = [] }: Settlement): Set<HostKey> {
  const hosts = new Set(found.map(({ url }) => hostKey(url)))
  hosts.delete(task.host)
  return hosts
}

function visitedField({ task, visit }: Settlement): object {
  return task.kind !== 'page' || visit === undefined || visit.change === 'new' ? {} : { visited: visit.change }
}
