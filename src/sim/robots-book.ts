/**
 * robots.txt as the checker has it: what each host said, what the frontier was told of it, and until when that speaks.
 *
 * - robots.txt first, and not again while it is fresh.
 * - What is stored of it is what the host said, and no request is sent that it forbids.
 */
import type { RobotsRecord, Task } from '../model/index.ts'
import { CLOCK_LAG_MS } from './lease-book.ts'
import { Violation } from './violation.ts'
import type { Reaction, Visit, WebObserver } from './web.ts'
import { permits, robotsText, type RobotsRules } from './web-spec.ts'

const DAY_MS = 86_400_000
const STALE_MS = 30 * DAY_MS

export interface RobotsBookOptions {
  readonly robotsMaxAgeMs: number
  /** robots.txt is not asked for. */
  readonly ignoresRobots: boolean
  concurrencyOf(host: string): number
  /** Hosts wait for each other, and so for longer than their own pace says. */
  readonly hasGroups: boolean
  /** When a host may be asked next. */
  earliestOf(host: string): number
}

export interface RobotsBook extends WebObserver {
  /** The task is handed out at this time; `isReopened` when the frontier was opened again since it was made. */
  granted(task: Task, now: number, isReopened: boolean): void
  /** All tasks of a lease were looked at: what they are asked under is used. */
  used(task: Task): void
  /** A robots record is in force from now on. It must be what the host said. */
  learn(task: Task, record: RobotsRecord): void
  /** Whether the record of this origin surely speaks at this time. */
  isFresh(origin: string, now: number): boolean
  /** Another clock: what was to happen is later by it, by so much at the least and at the most. */
  shift(leastMs: number, mostMs: number): void
}

type Rules = RobotsRules | 'all' | 'none'

interface InForce {
  readonly rules: Rules
  readonly before: Rules | undefined
  readonly record: RobotsRecord
  /** By the clock of the process that has the frontier now: at the earliest, and at the latest. */
  freshUntil: number
  expiresAt: number
  /** Something was handed out under it. */
  isUsed: boolean
}

export function createRobotsBook(options: RobotsBookOptions): RobotsBook {
  const robots = new Map<string, InForce>()
  /** What robots.txt files have said so far, by their text. */
  const texts = new Map<string, RobotsRules>()
  const lastSaid = new Map<string, Reaction | undefined>()

  const checkRecord = (task: Task, record: RobotsRecord, before: InForce | undefined): void => {
    const said = lastSaid.get(task.url)
    const wrong = (detail: string): never => {
      const what = JSON.stringify({ ...record, body: record.body.length })
      throw new Violation('robots', record.origin, `${detail}: ${what}`)
    }
    const status = said?.kind === 'answer' ? said.status : undefined
    const isCopy = record.staleSince !== null
    const isRefused = status === undefined || status === 429 || status >= 500
    if (isRefused && record.state !== 'disallow-all') {
      if (!isCopy) wrong(`${status ?? 'no answer'} made it ${record.state}`)
      if (before === undefined || before.record.version !== record.version)
        wrong('a copy that is no copy of the last one')
    }
    const isRead = status === 200 && record.state === 'rules' && !isCopy
    if (isRead && said?.kind === 'answer' && record.body !== said.body) wrong('another text than the host sent')
    if (status === 200 && record.state === 'allow-all') wrong('a file was had, and everything is allowed')
    if (!isRefused && status >= 400 && record.state !== 'allow-all' && !isCopy) wrong(`HTTP ${status} is no refusal`)
    if (record.expiresAt > record.fetchedAt + options.robotsMaxAgeMs && !isCopy) wrong('in force for too long')
    if (
      record.staleSince !== null &&
      record.state !== 'disallow-all' &&
      record.expiresAt > record.staleSince + STALE_MS + DAY_MS
    )
      wrong('an old copy in force for too long')
  }

  return {
    granted(task, now, isReopened) {
      if (options.ignoresRobots) return
      const known = robots.get(task.origin)
      const isExpired = known === undefined || now >= known.expiresAt + CLOCK_LAG_MS
      // A host that waits for longer than its robots.txt lives is asked once under it.
      const hadToWait =
        options.hasGroups ||
        options.concurrencyOf(task.host) > 1 ||
        // Opened again, hosts wait for their delay once more, and for the grain of the clocks.
        isReopened ||
        (known !== undefined && options.earliestOf(task.host) >= known.freshUntil - CLOCK_LAG_MS)
      const isForThisTurn = known?.isUsed === false && hadToWait
      if (task.kind === 'robots') {
        if (known !== undefined && now < known.freshUntil - CLOCK_LAG_MS)
          throw new Violation('robots', task.url, 'asked for again while the last one is fresh')
      } else if (isExpired && !isForThisTurn) {
        throw new Violation(
          'robots',
          task.url,
          known === undefined ? 'handed out before robots.txt' : 'handed out with a robots.txt that has expired',
        )
      }
    },
    used({ kind, origin }) {
      const known = robots.get(origin)
      if (kind !== 'robots' && known !== undefined) known.isUsed = true
    },
    learn(task, record) {
      const before = robots.get(record.origin)
      if (!options.ignoresRobots) checkRecord(task, record, before)
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
    },
    isFresh: (origin, now) => now < (robots.get(origin)?.freshUntil ?? -Infinity) - CLOCK_LAG_MS,
    shift(leastMs, mostMs) {
      for (const known of robots.values()) {
        known.freshUntil += leastMs
        known.expiresAt += mostMs
      }
    },
    heard(visit: Visit, reaction) {
      if (visit.kind !== 'robots') return
      lastSaid.set(visit.url, reaction)
      if (reaction?.kind === 'answer' && reaction.rules !== undefined)
        texts.set(robotsText(reaction.rules), reaction.rules)
    },
    ended(visit) {
      if (visit.kind === 'robots' && visit.brokeOff) lastSaid.set(visit.url, undefined)
    },
    started(visit) {
      if (visit.kind === 'robots' || options.ignoresRobots) return
      const known = robots.get(visit.origin)
      if (known === undefined) throw new Violation('robots', visit.url, 'asked before robots.txt')
      const allows = (rules: Rules | undefined): boolean =>
        rules === 'all' || (rules !== undefined && rules !== 'none' && permits(rules, visit.path))
      const several = options.concurrencyOf(visit.host.spec.name) > 1
      if (!allows(known.rules) && !(several && allows(known.before))) {
        throw new Violation('robots', visit.url, `asked though robots.txt forbids it: ${JSON.stringify(known.rules)}`)
      }
    },
  }
}
