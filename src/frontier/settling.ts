/** How tasks end: what each outcome does to its URL, its lane's robots.txt, its host and the counters. */
import type { Outcome, Task } from '../model/index.ts'
import { hostKey, originOf } from '../url/index.ts'
import type { HostChange, Output, Settlement, SettleAnswer } from './contract.ts'
import type { Intake } from './intake.ts'
import { taskName, type Ledger, type OpenLease } from './ledger.ts'
import type { Host, Roster } from './roster.ts'
import type { Counters, Storage, UrlRow } from './storage.ts'

export interface Settling {
  settle(settlements: readonly Settlement[], output: Output | undefined, now: number): SettleAnswer
  changeHost(host: Host, change: HostChange): void
}

export function createSettling(
  storage: Storage,
  roster: Roster,
  ledger: Ledger,
  intake: Intake,
  counters: Counters,
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
      open.host.errands.splice(open.host.errands.indexOf(errand), 1)
    }
    lane.row.robotsMoved = false
    if (outcome.kind === 'moved') {
      const target = roster.settleIn(hostKey(outcome.url), originOf(outcome.url)).host
      target.errands.push(
        storage.insertErrand(target.row.id, { origin: task.origin, url: outcome.url, redirects: task.redirects + 1 }),
      )
      touched.add(target)
      lane.row.robotsMoved = true
    } else if (outcome.kind === 'retry') {
      lane.row.robotsNotBefore = outcome.notBefore
      lane.row.robotsAttempts += 1
    } else if (settlement.robots !== undefined) {
      const { body: _body, ...summary } = settlement.robots
      lane.row.robots = summary
      lane.row.robotsAttempts = 0
      lane.row.robotsNotBefore = 0
      lane.robotsUnused = true
      storage.saveRobots(lane.row.id, settlement.robots)
    }
    storage.updateLane(lane.row)
  }

  const settleUrl = (settlement: Settlement, now: number): void => {
    const { task, outcome } = settlement
    const row = storage.url(task.id)
    switch (outcome.kind) {
      case 'returned':
        return
      case 'moved':
        throw new Error(`only a robots.txt can be moved, not ${task.url}`)
      case 'retry':
        intake.dequeue(row)
        row.state = 'waiting'
        row.attempts += outcome.counts ? 1 : 0
        row.at = outcome.notBefore
        storage.update(row)
        storage.wait(outcome.notBefore, row.id)
        return
      case 'done':
      case 'skipped':
      case 'failed':
        intake.dequeue(row)
        row.state = outcome.kind
        row.reason = reasonOf(outcome)
        row.at = now
        row.attempts += settlement.answeredAt === undefined ? 0 : 1
        storage.update(row)
        count(row, settlement)
    }
  }

  const count = (row: UrlRow, settlement: Settlement): void => {
    if (row.kind === 'sitemap') {
      counters.sitemapsOpen -= 1
      return
    }
    counters.open -= 1
    if (row.state === 'done') {
      counters.done += 1
      counters.bytes += settlement.bytes ?? 0
      counters.tokens += settlement.tokens ?? 0
    } else if (row.state === 'failed') counters.failed += 1
    else if (row.reason !== null) counters.skipped[row.reason] = (counters.skipped[row.reason] ?? 0) + 1
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
    }
    if (spareMs !== undefined) countSpare(open.host, spareMs)
    if (settlement.impolite === true) counters.impolite += 1
    ledger.release(open, task)
    if (task.kind === 'robots') settleRobots(settlement, open)
    else settleUrl(settlement, now)
    if (settlement.host !== undefined) changeHost(open.host, longerBlock(open.host, settlement.host))
    if (settlement.found !== undefined) intake.add(settlement.found, task.kind === 'robots' ? undefined : task)
    touched.add(open.host)
  }

  /** A shorter path to a held page turned up while it was out to be skipped: it is queued again. */
  const isNoLongerTooDeep = ({ task, outcome }: Settlement): boolean =>
    outcome.kind === 'skipped' && outcome.reason === 'depth' && storage.url(task.id).state !== 'held'

  const settle = (settlements: readonly Settlement[], output: Output | undefined, now: number): SettleAnswer => {
    // An expired lease may still be settled until somebody else could have been given the host.
    const seen = new Set<string>()
    const results = settlements.map((settlement) => {
      const name = `${settlement.lease.fence} ${taskName(settlement.task)}`
      const open = ledger.holding(settlement.lease, settlement.task)
      if (seen.has(name) || open === undefined) return 'stale' as const
      if (isNoLongerTooDeep(settlement)) {
        ledger.release(open, settlement.task)
        return 'stale' as const
      }
      seen.add(name)
      return 'settled' as const
    })
    const accepted = settlements.filter((_, index) => results[index] === 'settled')
    if (output !== undefined && accepted.length > 0) counters.output = output.append(accepted)
    for (const settlement of accepted) {
      const open = ledger.holding(settlement.lease, settlement.task)
      if (open !== undefined) settleOne(settlement, open, now)
    }
    return { results }
  }

  return { settle, changeHost }
}

function reasonOf(outcome: Extract<Outcome, { kind: 'done' | 'skipped' | 'failed' }>): string | null {
  if (outcome.kind === 'done') return null
  return outcome.kind === 'skipped' ? outcome.reason : outcome.code
}
