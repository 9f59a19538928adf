/**
 * How a worker of a fleet talks to a frontier that lives elsewhere and has another clock. Messages take time, get lost
 * and come twice, and what is not answered is sent again. The verbs bear that: leases are asked for by name, and what
 * is settled already is stale.
 *
 * Times never travel as they are: what travels is how long ago something was when it was sent, or how far ahead. The
 * receiver counts from when it received it, so an answer is never taken for older than it is, and a pause never ends
 * before its time.
 */
import type { Rng } from '../base/index.ts'
import type { Frontier, HostChange, Lease, LeaseAnswer, Output, Settlement, SettleAnswer } from '../frontier/index.ts'
import type { HostHealth, HostRecord, Outcome, RobotsRecord, Task } from '../model/index.ts'
import type { SimProcess, World } from './world.ts'

export interface LinkQuality {
  readonly latencyMs: number
  /** The share of messages that never arrive, each way. */
  readonly loss: number
  /** The share of messages that arrive twice. */
  readonly doubling: number
  /** After so long without an answer a message is sent again. */
  readonly resendMs: number
}

export interface LinkDeps {
  readonly world: World
  readonly worker: SimProcess
  readonly store: SimProcess
  readonly rng: Rng
  /** A step of the worker, at which something may happen to it. */
  step(what: string): void
}

/**
 * The frontier as this worker sees it. Records are written where the frontier lives, by `output`.
 */
export function createLink(
  frontier: Frontier,
  output: Output | undefined,
  quality: LinkQuality,
  deps: LinkDeps,
): Frontier {
  const { world, worker, store, rng, step } = deps

  const carry = (to: SimProcess, deliver: () => void): void => {
    const send = (): void => void to.later(quality.latencyMs * (0.5 + rng.next()), deliver)
    if (rng.next() >= quality.loss) send()
    if (rng.next() < quality.doubling) send()
  }

  /**
   * One call: `ask` runs at the store with the age of what it carries, `answer` at the worker. Only the first answer
   * to arrive counts.
   */
  const call = <T, A>(
    what: string,
    ask: (lag: (local: number) => number) => Promise<T>,
    read: (answer: T, local: (storeTime: number) => number) => A,
  ): Promise<A> => {
    if (!worker.alive) return new Promise(() => {})
    step(`${what} sent`)
    return new Promise((resolve, reject) => {
      let heard = false
      const hear = (answer: T, storeNow: number): void => {
        if (heard) return
        heard = true
        cancel()
        const shift = worker.clock.now() - storeNow
        try {
          step(`${what} heard`)
        } catch (error) {
          reject(error)
          return
        }
        const value = read(answer, (time) => time + shift)
        if (worker.frozen) worker.later(0, () => resolve(value))
        else resolve(value)
      }
      let cancel = (): void => {}
      const send = (): void => {
        if (!worker.alive) return
        const sentAt = worker.clock.now()
        carry(store, () => {
          const shift = store.clock.now() - sentAt
          ask((time) => time + shift).then(
            (answer) => {
              const storeNow = store.clock.now()
              carry(worker, () => hear(answer, storeNow))
            },
            (error: unknown) => world.fail(error),
          )
        })
        cancel = worker.clock.timer(quality.resendMs, send)
      }
      send()
    })
  }

  return {
    add: (found) =>
      call(
        'add',
        () => frontier.add(found),
        (answer) => answer,
      ),
    lease: (request) => call<LeaseAnswer, LeaseAnswer>('lease', () => frontier.lease(request), localLeases),
    settle: (settlements) =>
      call<SettleAnswer, SettleAnswer>(
        'settle',
        (there) =>
          frontier.settle(
            settlements.map((settlement) => settlementFor(settlement, there)),
            output,
          ),
        (answer) => answer,
      ),
    extend: (lease) =>
      call(
        'extend',
        () => frontier.extend(lease),
        (answer) => answer,
      ),
    host: (key, change) =>
      call<HostRecord | undefined, HostRecord | undefined>(
        'host',
        (there) => frontier.host(key, change === undefined ? undefined : changeFor(change, there)),
        (record, here) => (record === undefined ? undefined : recordFor(record, here)),
      ),
    stats: () =>
      call(
        'stats',
        () => frontier.stats(),
        (answer) => answer,
      ),
    // The frontier is not the worker's to close.
    close: () => Promise.resolve(),
  }
}

type Translate = (time: number) => number

/** Zero and null stand for never, on every clock. */
const moved = (time: number, translate: Translate): number => (time === 0 ? 0 : translate(time))

function localLeases(answer: LeaseAnswer, here: Translate): LeaseAnswer {
  return {
    ...answer,
    nextAt: answer.nextAt === null ? null : here(answer.nextAt),
    leases: answer.leases.map((lease): Lease => ({
      ...lease,
      tasks: lease.tasks.map((task) => taskFor(task, here)),
      grantedAt: here(lease.grantedAt),
      notBefore: here(lease.notBefore),
      expiresAt: here(lease.expiresAt),
      health: healthFor(lease.health, here),
    })),
  }
}

function healthFor(health: HostHealth, translate: Translate): HostHealth {
  return {
    ...health,
    streakSince: moved(health.streakSince, translate),
    blockedAt: moved(health.blockedAt, translate),
  }
}

function changeFor(change: HostChange, translate: Translate): HostChange {
  const { blockedUntil, health } = change
  return {
    ...change,
    ...(blockedUntil === undefined ? {} : { blockedUntil: moved(blockedUntil, translate) }),
    ...(health === undefined ? {} : { health: healthFor(health, translate) }),
  }
}

function robotsFor(record: RobotsRecord, translate: Translate): RobotsRecord {
  return {
    ...record,
    fetchedAt: moved(record.fetchedAt, translate),
    expiresAt: moved(record.expiresAt, translate),
    staleSince: record.staleSince === null ? null : moved(record.staleSince, translate),
  }
}

function recordFor(record: HostRecord, translate: Translate): HostRecord {
  return {
    ...record,
    answeredAt: record.answeredAt === null ? null : translate(record.answeredAt),
    blockedUntil: moved(record.blockedUntil, translate),
    health: healthFor(record.health, translate),
    robots: record.robots.map((robots) => robotsFor(robots, translate)),
  }
}

function taskFor(task: Task, translate: Translate): Task {
  return task.last === undefined ? task : { ...task, last: { ...task.last, at: translate(task.last.at) } }
}

function settlementFor(settlement: Settlement, translate: Translate): Settlement {
  const { answeredAt, outcome, host, robots } = settlement
  return {
    ...settlement,
    task: taskFor(settlement.task, translate),
    outcome: outcomeFor(outcome, translate),
    ...(answeredAt === undefined ? {} : { answeredAt: translate(answeredAt) }),
    ...(host === undefined ? {} : { host: changeFor(host, translate) }),
    ...(robots === undefined ? {} : { robots: robotsFor(robots, translate) }),
  }
}

function outcomeFor(outcome: Outcome, translate: Translate): Outcome {
  return outcome.kind === 'retry' ? { ...outcome, notBefore: moved(outcome.notBefore, translate) } : outcome
}
