/**
 * The frontier under watch: every verb is checked against books that are kept apart from it and outlive its process.
 *
 * - Conservation: the counters add up after every verb, and to what was really added and settled.
 * - No task is out twice, none is handed out once it is settled, and no more than the limit.
 * - robots.txt first, not again while it is fresh, and what is stored of it is what the host said.
 */
import type { Frontier, FrontierStats, Lease, Settlement } from '../frontier/index.ts'
import type { RobotsRecord, Task } from '../model/index.ts'
import type { PaceChecker } from './pace-checker.ts'
import type { RecordsChecker } from './records-checker.ts'
import { Violation } from './violation.ts'
import type { Reaction, Visit, WebObserver } from './web.ts'
import { permits, robotsText, type RobotsRules } from './web-spec.ts'

const DAY_MS = 86_400_000
const STALE_MS = 30 * DAY_MS

export interface FrontierCheckerOptions {
  readonly pace: PaceChecker
  /** Absent when nothing is written. */
  readonly records: RecordsChecker | undefined
  readonly maxPages: number | undefined
  /** Infinity when there is no limit. */
  readonly maxDepth: number
  readonly robotsMaxAgeMs: number
  /** robots.txt is not asked for. */
  readonly ignoresRobots: boolean
  concurrencyOf(host: string): number
  /** Told of every violation. */
  fail(error: unknown): void
}

export interface FrontierChecker extends WebObserver {
  /** The same frontier, watched. `now` is its clock. */
  watch(inner: Frontier, now: () => number): Frontier
  /** The process that had it died: whatever was out is not any more. */
  forgetLeases(): void
  readonly discovered: ReadonlySet<string>
  readonly settled: ReadonlyMap<string, string>
  readonly verbs: number
}

interface Out {
  readonly fence: number
  readonly host: string
  readonly tasks: Set<string>
  readonly lastsMs: number
  expiresAt: number
}

/** When a host was last asked, as the frontier was told; by the clock of the process that has it now. */
interface Turn {
  answeredAt: number
  blockedUntil: number
}

interface InForce {
  readonly rules: RobotsRules | 'all' | 'none'
  readonly before: RobotsRules | 'all' | 'none' | undefined
  readonly record: RobotsRecord
  /** By the clock of the process that has the frontier now. */
  expiresAt: number
}

const nameOf = (task: Task): string => (task.kind === 'robots' ? `robots ${task.origin}` : `${task.kind} ${task.url}`)

export function createFrontierChecker(options: FrontierCheckerOptions): FrontierChecker {
  const discovered = new Set<string>()
  const settled = new Map<string, string>()
  const counts = { done: 0, failed: 0, skipped: 0 }
  const leases = new Map<number, Out>()
  const out = new Map<string, Out>()
  const robots = new Map<string, InForce>()
  /** What robots.txt files have said so far, by their text. */
  const texts = new Map<string, RobotsRules>()
  const turns = new Map<string, Turn>()
  const lastRobots = new Map<string, Reaction | undefined>()
  let lastFence = 0
  let verbs = 0
  let homeNow = (): number => 0

  const take = (found: Settlement['found']): void => {
    for (const { kind, url } of found ?? []) if (kind === 'page') discovered.add(url)
  }

  const close = (lease: Out, name: string): void => {
    lease.tasks.delete(name)
    if (out.get(name) === lease) out.delete(name)
    if (lease.tasks.size === 0) leases.delete(lease.fence)
  }
  const takeBackExpired = (now: number): void => {
    for (const lease of leases.values()) {
      if (lease.expiresAt > now) continue
      for (const name of lease.tasks) close(lease, name)
    }
  }

  const checkRobots = (task: Task): void => {
    if (options.ignoresRobots) return
    const known = robots.get(task.origin)
    const isFresh = known !== undefined && homeNow() < known.expiresAt
    if (task.kind === 'robots') {
      if (isFresh) throw new Violation('robots', task.url, 'asked for again while the last one is fresh')
    } else if (!isFresh) {
      throw new Violation(
        'robots',
        task.url,
        known === undefined ? 'handed out before robots.txt' : 'handed out with a robots.txt that has expired',
      )
    }
  }

  const granted = (lease: Lease): void => {
    if (lease.fence <= lastFence) throw new Violation('fence', lease.host, `${lease.fence} after ${lastFence}`)
    lastFence = lease.fence
    if (lease.tasks.length === 0) throw new Violation('lease', lease.host, 'without a task')
    // What is too deep is handed out to be recorded, and nothing is sent for it.
    const isHeld = lease.tasks.every(({ kind, depth }) => kind === 'page' && depth > options.maxDepth)
    let open = 0
    for (const other of leases.values()) if (other.host === lease.host) open += 1
    if (open >= options.concurrencyOf(lease.host))
      throw new Violation('in-flight', lease.host, `${open + 1} leases at once`)
    if (!isHeld) checkTurn(lease)
    const entry: Out = {
      fence: lease.fence,
      host: lease.host,
      tasks: new Set(),
      lastsMs: lease.expiresAt - lease.grantedAt,
      expiresAt: lease.expiresAt,
    }
    for (const task of lease.tasks) {
      const name = nameOf(task)
      const other = out.get(name)
      if (other !== undefined)
        throw new Violation('handed-out', task.url, `twice: with ${other.fence} and with ${lease.fence}`)
      if (task.kind === 'page' && settled.has(task.url))
        throw new Violation('handed-out', task.url, `though it is settled: ${settled.get(task.url)}`)
      out.set(name, entry)
      entry.tasks.add(name)
      if (!isHeld) checkRobots(task)
    }
    leases.set(lease.fence, entry)
  }

  /** A lease is never given before its time, whatever its holder makes of it. */
  const checkTurn = ({ host, tasks }: Lease): void => {
    const turn = turns.get(host)
    if (turn === undefined) return
    const isAlone = options.concurrencyOf(host) === 1
    const early = Math.max(isAlone ? turn.answeredAt + options.pace.delayOf(host) : 0, turn.blockedUntil) - homeNow()
    if (early > 0) throw new Violation('turn', host, `${tasks[0]?.url} was leased ${early} ms before its time`)
  }

  const takeTurn = ({ task, answeredAt, host }: Settlement): void => {
    if (answeredAt === undefined && host?.blockedUntil === undefined) return
    const turn = turns.get(task.host) ?? { answeredAt: -Infinity, blockedUntil: -Infinity }
    turn.answeredAt = Math.max(turn.answeredAt, answeredAt ?? -Infinity)
    turn.blockedUntil = Math.max(turn.blockedUntil, host?.blockedUntil ?? -Infinity)
    turns.set(task.host, turn)
  }

  const committed = (settlement: Settlement): void => {
    const { task, outcome, lease } = settlement
    const entry = leases.get(lease.fence)
    if (entry !== undefined) close(entry, nameOf(task))
    if (task.kind === 'page') {
      const fate =
        outcome.kind === 'done'
          ? 'page'
          : outcome.kind === 'skipped'
            ? `skip ${outcome.reason}`
            : outcome.kind === 'failed'
              ? `fail ${outcome.code}`
              : undefined
      if (fate !== undefined) {
        if (settled.has(task.url))
          throw new Violation('settled', task.url, `twice: ${settled.get(task.url)}, then ${fate}`)
        if (!discovered.has(task.url)) throw new Violation('settled', task.url, 'though it was never discovered')
        settled.set(task.url, fate)
        if (outcome.kind === 'done') counts.done += 1
        else if (outcome.kind === 'failed') counts.failed += 1
        else counts.skipped += 1
      }
    }
    take(settlement.found)
    if (settlement.robots !== undefined) learn(task, settlement.robots)
    options.pace.committed(settlement)
    takeTurn(settlement)
  }

  /** A robots record is in force from now on. It must be what the host said. */
  const learn = (task: Task, record: RobotsRecord): void => {
    const before = robots.get(record.origin)
    const said = lastRobots.get(task.url)
    const wrong = (detail: string): never => {
      throw new Violation(
        'robots',
        record.origin,
        `${detail}: ${JSON.stringify({ ...record, body: record.body.length })}`,
      )
    }
    if (!options.ignoresRobots) {
      const status = said?.kind === 'answer' ? said.status : undefined
      const isRefused = status === undefined || status === 429 || status >= 500
      if (isRefused && record.state !== 'disallow-all') {
        if (record.staleSince === null) wrong(`${status ?? 'no answer'} made it ${record.state}`)
        if (before === undefined || before.record.version !== record.version)
          wrong('a copy that is no copy of the last one')
      }
      if (
        status === 200 &&
        said?.kind === 'answer' &&
        record.state === 'rules' &&
        record.staleSince === null &&
        record.body !== said.body
      )
        wrong('another text than the host sent')
      if (status === 200 && record.state === 'allow-all') wrong('a file was had, and everything is allowed')
      if (
        status !== undefined &&
        status >= 400 &&
        status < 500 &&
        status !== 429 &&
        record.state !== 'allow-all' &&
        record.staleSince === null
      )
        wrong(`HTTP ${status} is no refusal`)
      if (record.expiresAt > record.fetchedAt + options.robotsMaxAgeMs && record.staleSince === null)
        wrong('in force for too long')
      if (
        record.staleSince !== null &&
        record.state !== 'disallow-all' &&
        record.expiresAt > record.staleSince + STALE_MS + DAY_MS
      )
        wrong('an old copy in force for too long')
    }
    const rules =
      record.state === 'rules' ? (texts.get(record.body) ?? 'none') : record.state === 'allow-all' ? 'all' : 'none'
    robots.set(record.origin, { rules, before: before?.rules, record, expiresAt: record.expiresAt })
  }

  const law = (stats: FrontierStats): void => {
    const skipped = Object.values(stats.skipped).reduce((sum, count) => sum + count, 0)
    const sum = stats.queued + stats.leased + stats.done + stats.failed + skipped
    const say = (detail: string): never => {
      throw new Violation(
        'conservation',
        'the frontier',
        `${detail}: ${JSON.stringify({ ...stats, hosts: undefined })}`,
      )
    }
    if (stats.discovered !== sum) say(`discovered is not the sum of the states, ${sum}`)
    if (stats.queued < 0 || stats.leased < 0 || stats.held < 0) say('below zero')
    if (stats.discovered !== discovered.size) say(`${discovered.size} URLs were added`)
    if (stats.done !== counts.done || stats.failed !== counts.failed || skipped !== counts.skipped)
      say(`settled were ${JSON.stringify(counts)}`)
    if (options.maxPages !== undefined && stats.done + stats.leased > options.maxPages && stats.done > options.maxPages)
      say('beyond the page limit')
    options.records?.committed(stats.output)
    if (options.records !== undefined && options.records.fates.size !== settled.size)
      say(`${options.records.fates.size} records for ${settled.size} settled`)
  }

  return {
    discovered,
    settled,
    get verbs() {
      return verbs
    },
    forgetLeases() {
      leases.clear()
      out.clear()
    },
    heard(visit: Visit, reaction) {
      if (visit.kind !== 'robots') return
      lastRobots.set(visit.url, reaction)
      if (reaction?.kind === 'answer' && reaction.rules !== undefined)
        texts.set(robotsText(reaction.rules), reaction.rules)
    },
    ended(visit) {
      if (visit.kind === 'robots' && visit.brokeOff) lastRobots.set(visit.url, undefined)
    },
    started(visit) {
      if (visit.kind === 'robots' || options.ignoresRobots) return
      const known = robots.get(visit.origin)
      if (known === undefined) throw new Violation('robots', visit.url, 'asked before robots.txt')
      const allows = (rules: InForce['rules'] | undefined): boolean =>
        rules === 'all' || (rules !== undefined && rules !== 'none' && permits(rules, visit.path))
      const several = options.concurrencyOf(visit.host.spec.name) > 1
      if (!allows(known.rules) && !(several && allows(known.before))) {
        throw new Violation('robots', visit.url, `asked though robots.txt forbids it: ${JSON.stringify(known.rules)}`)
      }
    },
    watch(inner, now) {
      // Another clock: whatever was to happen is as far off as it was, whichever clock says so.
      const shift = now() - homeNow()
      for (const known of robots.values()) known.expiresAt += shift
      for (const turn of turns.values()) {
        turn.answeredAt += shift
        turn.blockedUntil += shift
      }
      homeNow = now
      /** What is found out ends the run; the crawler under test must not be the one to catch it. */
      const judge = (check: () => void): void => {
        try {
          check()
        } catch (error) {
          options.fail(error)
        }
      }
      const checked = async (): Promise<void> => {
        verbs += 1
        const stats = await inner.stats()
        judge(() => law(stats))
      }
      return {
        async add(found) {
          const answer = await inner.add(found)
          take(found)
          await checked()
          return answer
        },
        async lease(request) {
          takeBackExpired(now())
          const answer = await inner.lease(request)
          judge(() => {
            for (const lease of answer.leases) if (!leases.has(lease.fence)) granted(lease)
            if (answer.leases.length <= request.want) return
            throw new Violation('lease', request.worker, 'more leases than wanted')
          })
          await checked()
          return answer
        },
        async settle(settlements, output) {
          const answer = await inner.settle(settlements, output)
          settlements.forEach((settlement, index) => {
            if (answer.results[index] === 'settled') judge(() => committed(settlement))
            else {
              const entry = leases.get(settlement.lease.fence)
              if (entry !== undefined) close(entry, nameOf(settlement.task))
            }
          })
          await checked()
          return answer
        },
        async extend(ref) {
          const extended = await inner.extend(ref)
          const entry = leases.get(ref.fence)
          if (extended && entry !== undefined) entry.expiresAt = now() + entry.lastsMs
          return extended
        },
        host: (key, change) => inner.host(key, change),
        stats: () => inner.stats(),
        close: () => inner.close(),
      }
    },
  }
}
