/** How tasks end: what each outcome does to its URL, its lane's robots.txt, its host and the counters. */
import type { HostKey, Outcome, Task, Visit } from '../model/index.ts'
import { hostKey, originOf } from '../url/index.ts'
import type { FrontierOptions, HostChange, Output, Settlement, SettleAnswer } from './contract.ts'
import { hostImportance, passOn } from './importance.ts'
import type { Intake } from './intake.ts'
import { heldTask, type Ledger, type OpenLease } from './ledger.ts'
import type { Parking } from './parking.ts'
import { planVisit, retireVisit } from './recrawl.ts'
import type { Host, Roster } from './roster.ts'
import {
  queuedIn,
  summaryOf,
  type Counters,
  type HostRow,
  type Storage,
  type UrlRow,
  type VisitRow,
} from './storage.ts'

export interface Settling {
  settle(settlements: readonly Settlement[], output: Output | undefined, now: number): SettleAnswer
  changeHost(host: Host, change: HostChange): void
}

export function createSettling(
  storage: Storage,
  roster: Roster,
  ledger: Ledger,
  intake: Intake,
  parking: Parking,
  counters: Counters,
  options: Pick<FrontierOptions, 'recrawl'>,
  touched: Set<Host>,
): Settling {
  const changeHost = (host: Host, change: HostChange): void => {
    const { row } = host
    // What was worked out from a health before the last block knows nothing of that block.
    const isOutdated = change.health !== undefined && change.health.blockedAt < row.health.blockedAt
    if (change.blockedUntil !== undefined) row.blockedUntil = change.blockedUntil
    if (change.blockedReason !== undefined && !(isOutdated && change.blockedReason === null))
      row.blockedReason = change.blockedReason
    if (change.health !== undefined && !isOutdated) row.health = change.health
    if (change.address !== undefined) row.address = change.address
    touched.add(host)
  }

  /** Answers that were under way together may ask for different pauses: the longest counts. */
  const longerBlock = (host: Host, change: HostChange): HostChange => {
    if (change.blockedUntil === undefined || change.blockedUntil >= host.row.blockedUntil) return change
    const { blockedUntil: _until, blockedReason: _reason, ...rest } = change
    return rest
  }

  const settleRobots = (settlement: Settlement, open: OpenLease): void => {
    const { task, outcome } = settlement
    const { host, lane } = roster.settleIn(hostKey(`${task.origin}/` as Task['url']), task.origin)
    touched.add(host)
    if (outcome.kind === 'returned') return
    const errand = open.host.errands.find((candidate) => candidate.origin === task.origin)
    if (errand !== undefined) {
      storage.deleteErrand(errand.id)
      open.host.errands = open.host.errands.filter((candidate) => candidate !== errand)
    }
    lane.row.robotsMoved = false
    if (outcome.kind === 'moved') {
      const target = roster.settleIn(hostKey(outcome.url), originOf(outcome.url)).host
      target.errands = target.errands.concat(
        storage.insertErrand(target.row.id, { origin: task.origin, url: outcome.url, redirects: task.redirects + 1 }),
      )
      touched.add(target)
      lane.row.robotsMoved = true
    } else if (outcome.kind === 'retry') {
      lane.row.robotsNotBefore = outcome.notBefore
      lane.row.robotsAttempts += 1
    } else if (settlement.robots !== undefined) {
      lane.row.robots = summaryOf(settlement.robots, lane.row.origin)
      lane.row.robotsAttempts = 0
      lane.row.robotsNotBefore = 0
      lane.robotsUnused = true
      storage.saveRobots(lane.row.id, settlement.robots)
    }
    storage.updateLane(lane.row)
  }

  const settleUrl = (settlement: Settlement, host: Host, now: number): void => {
    const { task, outcome } = settlement
    const row = storage.url(task.id)
    switch (outcome.kind) {
      case 'returned':
        return
      case 'moved':
        throw new Error(`only a robots.txt can be moved, not ${task.url}`)
      case 'retry':
        row.attempts += outcome.counts ? 1 : 0
        row.at = outcome.notBefore
        intake.move(row, 'waiting')
        return
      case 'done':
      case 'skipped':
      case 'failed': {
        const before = storage.visit(row.id)
        row.reason = reasonOf(outcome)
        row.at = now
        row.attempts += settlement.answeredAt === undefined ? 0 : 1
        intake.move(row, outcome.kind)
        if (row.kind === 'sitemap') counters.sitemapsOpen -= 1
        else count(row, host.row, settlement, before)
        if (outcome.kind === 'done') plan(row, host, settlement, before, now)
        else if (before !== undefined) retire(row, host, before, now)
      }
    }
  }

  const count = (row: UrlRow, host: HostRow, settlement: Settlement, before: VisitRow | undefined): void => {
    counters.open -= 1
    if (before !== undefined) counters.refreshing -= 1
    const isSaved = row.state === 'done'
    host.pages += Number(isSaved) - Number(before !== undefined)
    const change = settlement.visit?.change ?? 'new'
    if (change !== 'new') counters.revisits[change] += 1
    if (isSaved) {
      counters.done += 1
      counters.bytes += settlement.bytes ?? 0
      counters.tokens += settlement.tokens ?? 0
    } else if (row.state === 'failed') counters.failed += 1
    else if (row.reason !== null) counters.skipped[row.reason] = (counters.skipped[row.reason] ?? 0) + 1
  }

  /** What the next visit should know, and when it is to be. */
  const plan = (
    row: UrlRow,
    host: Host,
    { visit = FIRST_VISIT }: Settlement,
    before: VisitRow | undefined,
    now: number,
  ): void => {
    const tier = roster.tierOf(host, row.slot)
    const planned = planVisit({
      id: row.id,
      before,
      visit,
      now,
      interval: options.recrawl.intervals[tier],
      hostShare: options.recrawl.hostShare,
      state: counters.recrawl[tier],
      host: host.row,
      delayMs: roster.delayMs(host),
      weight: row.kind === 'sitemap' ? 1 : hostImportance(host.row, counters),
    })
    storage.saveVisit(planned)
  }

  /** It was there before, and is not to be fetched again. */
  const retire = (row: UrlRow, host: Host, before: VisitRow, now: number): void => {
    const state = counters.recrawl[roster.tierOf(host, row.slot)]
    storage.saveVisit(retireVisit(before, { state, host: host.row, now, gone: row.reason === 'gone' }))
  }

  /** The page's part of its host's importance goes to the other hosts that it links to. */
  const passImportance = (host: Host, to: ReadonlySet<HostKey>): void => {
    const others = [...to].flatMap((key) => roster.byKey(key) ?? [])
    const pagesLeft = host.lanes.reduce((sum, { row }) => sum + queuedIn(row), 0)
    const rows = others.map(({ row }) => row)
    passOn(host.row, pagesLeft, rows, counters)
    for (const other of others) touched.add(other)
  }

  const countSpare = ({ row }: Host, spareMs: number): void => {
    row.closestMs = Math.min(row.closestMs ?? Infinity, spareMs)
    if (spareMs < (counters.closest?.spareMs ?? Infinity)) counters.closest = { host: row.key, spareMs }
  }

  const settleOne = (settlement: Settlement, open: OpenLease, now: number): void => {
    const { task, answeredAt, spareMs } = settlement
    if (answeredAt !== undefined) {
      // No host has answered in the future: a worker whose clock is ahead says so.
      ledger.answered(open, Math.min(answeredAt, now))
      counters.requests[task.kind] += 1
      counters.tiers[task.tier].requests += 1
    }
    if (spareMs !== undefined) countSpare(open.host, spareMs)
    if (settlement.impolite === true) counters.impolite += 1
    ledger.release(open, task)
    const { host } = open
    if (task.kind === 'robots') settleRobots(settlement, open)
    else settleUrl(settlement, host, now)
    if (settlement.host !== undefined) changeHost(host, longerBlock(host, settlement.host))
    const { found, links, numbering } = settlement
    if (found !== undefined || links !== undefined) {
      if (task.kind === 'robots') intake.add(found ?? [], now)
      else {
        const others = intake.addFrom(task, { found, links, numbering }, now)
        if (task.kind === 'page' && task.last === undefined) passImportance(host, others)
      }
    }
    if (task.kind === 'page') parking.learn(host, settlement)
    touched.add(open.host)
  }

  /** What it was parked for has gone while it was out to be skipped for it: it is queued again. */
  const isNoLongerParked = ({ task, outcome }: Settlement): boolean =>
    outcome.kind === 'skipped' &&
    ((outcome.reason === 'depth' && storage.url(task.id).state !== 'held') ||
      (task.aside !== undefined && storage.url(task.id).state !== 'aside'))

  const settle = (settlements: readonly Settlement[], output: Output | undefined, now: number): SettleAnswer => {
    // An expired lease may still be settled until somebody else could have been given the host.
    const seen = new Set<Task>()
    const accepted: Settlement[] = []
    const opens: OpenLease[] = []
    const results = settlements.map((settlement) => {
      const open = ledger.leaseOf(settlement.lease)
      const held = open === undefined ? undefined : heldTask(open, settlement.task)
      if (open === undefined || held === undefined || seen.has(held)) return 'stale' as const
      if (isNoLongerParked(settlement)) {
        ledger.release(open, settlement.task)
        return 'stale' as const
      }
      seen.add(held)
      accepted.push(settlement)
      opens.push(open)
      return 'settled' as const
    })
    if (output !== undefined && accepted.length > 0) {
      counters.output = output.append(accepted)
      output.sync?.()
    }
    accepted.forEach((settlement, index) => settleOne(settlement, opens[index] as OpenLease, now))
    return { results }
  }

  return { settle, changeHost }
}

/** Of a page whose settlement says nothing about it. */
const FIRST_VISIT: Visit = { change: 'new', hash: null, etag: null, lastModified: null }

function reasonOf(outcome: Extract<Outcome, { kind: 'done' | 'skipped' | 'failed' }>): string | null {
  if (outcome.kind === 'done') return null
  return outcome.kind === 'skipped' ? outcome.reason : outcome.code
}
