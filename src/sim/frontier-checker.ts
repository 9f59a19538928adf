/**
 * The frontier under watch: every verb is checked against books that are kept apart from it and outlive its process.
 *
 * - Conservation: the counters add up after every verb, and to what was really added and settled.
 * - No task is out twice, none is handed out once it is settled, and no more than the limit.
 * - robots.txt first, not again while it is fresh, and what is stored of it is what the host said.
 */
import type { Clock } from '../base/index.ts'
import type { Frontier, FrontierStats, Lease, LeaseRequest, Settlement } from '../frontier/index.ts'
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
  /** The delay that a latency asks for. */
  latencyDelayMs(latencyMs: number): number
  /** Hosts wait for each other, and so for longer than their own pace says. */
  readonly hasGroups: boolean
  /** Told of every violation. */
  fail(error: unknown): void
}

export interface FrontierChecker extends WebObserver {
  /** The same frontier, watched. `now` is its clock. */
  watch(inner: Frontier, clock: Pick<Clock, 'now' | 'wall'>): Frontier
  /** The process that had it died: whatever was out is not any more. */
  forgetLeases(): void
  /** How far the wall clock was ahead of the steady one when something was last committed. */
  readonly skewCommitted: number
  readonly discovered: ReadonlySet<string>
  readonly settled: ReadonlyMap<string, string>
  readonly verbs: number
}

interface Out {
  readonly fence: number
  readonly host: string
  readonly tasks: Set<string>
  readonly lastsMs: number
  readonly isHeld: boolean
  expiresAt: number
}

/** When a host was last asked, as the frontier was told; by the clock of the process that has it now. */
interface Turn {
  answeredAt: number
  blockedUntil: number
  /** When the last pause was imposed, and the smoothed latency. */
  blockedAt: number
  latencyMs: number
}

interface InForce {
  readonly rules: RobotsRules | 'all' | 'none'
  readonly before: RobotsRules | 'all' | 'none' | undefined
  readonly record: RobotsRecord
  /** By the clock of the process that has the frontier now: at the earliest, and at the latest. */
  freshUntil: number
  expiresAt: number
  /** Something was handed out under it. */
  isUsed: boolean
}

/** What was stored by an earlier run may be by a clock that was so much behind or ahead; smaller steps shift nothing. */
const CLOCK_LAG_MS = 1_002

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
  const askings = new Map<string, { readonly request: string; readonly fences: readonly number[] }>()
  const lastRobots = new Map<string, Reaction | undefined>()
  let lastFence = 0
  let verbs = 0
  let homeNow = (): number => 0
  let homeClock: Pick<Clock, 'now' | 'wall'> | undefined
  let nowCommitted = 0
  let skewCommitted = 0
  let skewClosed = 0
  let isReopened = false

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
      // Its holder may have sent something at the very last moment.
      if (!lease.isHeld) turnOf(lease.host).answeredAt = Math.max(turnOf(lease.host).answeredAt, lease.expiresAt)
      for (const name of lease.tasks) close(lease, name)
    }
  }

  const checkRobots = (task: Task): void => {
    if (options.ignoresRobots) return
    const known = robots.get(task.origin)
    const isExpired = known === undefined || homeNow() >= known.expiresAt + CLOCK_LAG_MS
    // A host that waits for longer than its robots.txt lives is asked once under it.
    const hadToWait =
      options.hasGroups ||
      options.concurrencyOf(task.host) > 1 ||
      // Opened again, hosts wait for their delay once more, and for the grain of the clocks.
      isReopened ||
      (known !== undefined && earliestOf(task.host) >= known.freshUntil - CLOCK_LAG_MS)
    const isForThisTurn = known?.isUsed === false && hadToWait
    if (task.kind === 'robots') {
      if (known !== undefined && homeNow() < known.freshUntil - CLOCK_LAG_MS)
        throw new Violation('robots', task.url, 'asked for again while the last one is fresh')
    } else if (isExpired && !isForThisTurn) {
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
      isHeld,
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
    for (const { kind, origin } of lease.tasks) {
      const known = robots.get(origin)
      if (kind !== 'robots' && known !== undefined) known.isUsed = true
    }
    leases.set(lease.fence, entry)
  }

  const turnOf = (host: string): Turn => {
    let turn = turns.get(host)
    if (turn === undefined) {
      turn = { answeredAt: -Infinity, blockedUntil: -Infinity, blockedAt: -Infinity, latencyMs: 0 }
      turns.set(host, turn)
    }
    return turn
  }

  /** The same asking, because the answer was lost, gets the same leases, and no longer than they last. */
  const checkAsking = ({ worker, request }: LeaseRequest, answered: readonly Lease[]): void => {
    const before = askings.get(worker)
    if (request !== undefined && before?.request === request && before.fences.some((fence) => leases.has(fence))) {
      for (const { fence, host, expiresAt } of answered) {
        if (!before.fences.includes(fence))
          throw new Violation('asking', host, `another lease for the same request of ${worker}`)
        if (expiresAt > (leases.get(fence)?.expiresAt ?? Infinity))
          throw new Violation('asking', host, 'a lease grew longer by being asked for again')
      }
      return
    }
    if (request !== undefined) askings.set(worker, { request, fences: answered.map(({ fence }) => fence) })
  }

  /** When the host may be asked next, groups aside. With several under way, only pauses are known here. */
  const earliestOf = (host: string): number => {
    const { answeredAt, blockedUntil, latencyMs } = turnOf(host)
    if (options.concurrencyOf(host) > 1) return blockedUntil
    return Math.max(answeredAt + Math.max(options.pace.delayOf(host), options.latencyDelayMs(latencyMs)), blockedUntil)
  }

  /** A lease is never given before its time, whatever its holder makes of it. */
  const checkTurn = (lease: Lease): void => {
    const { host, tasks, health } = lease
    const turn = turnOf(host)
    const isAlone = options.concurrencyOf(host) === 1
    const early = earliestOf(host) - homeNow()
    if (early > 0) throw new Violation('turn', host, `${tasks[0]?.url} was leased ${early} ms before its time`)
    if (health.blockedAt < turn.blockedAt - CLOCK_LAG_MS)
      throw new Violation('health', host, 'its last pause is forgotten')
    // Several leases keep no delay between each other's tasks.
    if (!isAlone && tasks.length > 1 && options.pace.delayOf(host) > 0) {
      throw new Violation('turn', host, `${tasks.length} tasks in one of several leases, with a delay`)
    }
  }

  const takeTurn = ({ task, answeredAt, host }: Settlement): void => {
    const turn = turnOf(task.host)
    turn.answeredAt = Math.max(turn.answeredAt, answeredAt ?? -Infinity)
    turn.blockedUntil = Math.max(turn.blockedUntil, host?.blockedUntil ?? -Infinity)
    const health = host?.health
    // What was worked out before the last pause says nothing of it.
    if (health === undefined || (health.blockedAt !== 0 && health.blockedAt < turn.blockedAt - CLOCK_LAG_MS)) return
    if (health.blockedAt !== 0) turn.blockedAt = health.blockedAt
    if (options.concurrencyOf(task.host) === 1) turn.latencyMs = health.latencyMs
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
    robots.set(record.origin, {
      rules,
      before: before?.rules,
      record,
      freshUntil: record.expiresAt,
      expiresAt: record.expiresAt,
      isUsed: false,
    })
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
    get skewCommitted() {
      return skewCommitted
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
    watch(inner, clock) {
      const now = (): number => clock.now()
      // Another clock: whatever was to happen is as far off as it was, whichever clock says so. How far the clocks were
      // apart, the store knows as of its last commit; whether the last close was one cannot be seen from here.
      const isSetBack = now() < nowCommitted + skewCommitted
      const shifts =
        homeClock === undefined
          ? [0]
          : [now() - homeNow(), skewCommitted, skewClosed, ...(isSetBack ? [now() - nowCommitted] : [])]
      const [least, most] = [Math.min(...shifts), Math.max(...shifts)]
      for (const known of robots.values()) {
        known.freshUntil += least
        known.expiresAt += most
      }
      for (const turn of turns.values()) {
        turn.answeredAt += least
        turn.blockedUntil += least
        turn.blockedAt += least
      }
      homeNow = now
      isReopened = homeClock !== undefined
      homeClock = clock
      const noteTime = (): void => {
        nowCommitted = clock.now()
        skewCommitted = clock.wall() - nowCommitted
        skewClosed = skewCommitted
      }
      noteTime()
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
        noteTime()
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
            checkAsking(request, answer.leases)
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
        close() {
          skewClosed = clock.wall() - clock.now()
          return inner.close()
        },
      }
    },
  }
}
