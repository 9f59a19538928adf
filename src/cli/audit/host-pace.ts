/**
 * The pace of one host, judged from the visits that the records tell of, in order of their start: none began before the
 * delay in force had passed, and no more were in flight than may be. Who gathers the visits, and from how many workers,
 * is for others.
 */
import { crawlDelayInForce, type Settings } from '../../config/index.ts'
import type { HostKey, RobotsRecord } from '../../model/index.ts'
import type { HostRegistry } from '../../politeness/index.ts'
import type { Findings } from './findings.ts'
import { CUT_MS, ROUNDED_MS, type VisitRow } from './visit.ts'

/** Ends remembered of requests in flight: more than any limit for one host. */
const MAX_ENDS = 1_000

/** What of a host decides about its pace. */
export interface PacedHost {
  readonly key: HostKey
  /** As the store has it; null when it knows of none. */
  readonly answeredAt: number | null
  readonly lanes: readonly {
    readonly id: number
    readonly robots: Pick<RobotsRecord, 'fetchedAt' | 'crawlDelayMs'> | undefined
  }[]
}

export interface PaceRules {
  readonly registry: Pick<HostRegistry, 'policyOf'>
  readonly settings: Settings
  /** How long a lease may have been used that was granted before a Crawl-delay was known. */
  readonly leaseMs: number
  readonly findings: Findings
  urlOf(visit: VisitRow): string
}

export interface Gap {
  readonly gapMs: number
  readonly delayMs: number
}

/** Judges the visits of one host in order of their start; returns the gap to the one before. */
export function createHostJudge(host: PacedHost, rules: PaceRules): (visit: VisitRow) => Gap | undefined {
  const { findings } = rules
  const policy = rules.registry.policyOf(host.key)
  const isSerial = policy.concurrency === 1
  const ends: number[] = []
  let lastStart: number | undefined
  let lastAnswer = -Infinity
  return (visit) => {
    const delayMs = delayOf(host, policy.delayMs, isSerial, visit, rules)
    const tell = (): string => `${rules.urlOf(visit)} at ${new Date(visit.start).toISOString()}`
    if (host.answeredAt !== null && visit.answer - ROUNDED_MS > host.answeredAt) {
      findings.add('pace', `${tell()}: answered later than the last answer that the store has of ${host.key}`)
    }

    // One at a time, the delay counts from the answer; several at once cannot, so it counts from start to start.
    const from = isSerial ? lastAnswer : (lastStart ?? -Infinity)
    const gapMs = visit.start - from
    if (gapMs + CUT_MS + (isSerial ? ROUNDED_MS : 0) <= delayMs) {
      findings.add(
        'pace',
        `${tell()}: ${gapMs} ms after the ${isSerial ? 'answer to' : 'start of'} the page before; the delay is ${delayMs} ms`,
      )
    }

    for (let index = ends.length - 1; index >= 0; index--) {
      if ((ends[index] as number) < visit.start + CUT_MS + ROUNDED_MS) ends.splice(index, 1)
    }
    if (ends.length >= policy.concurrency) {
      findings.add('in-flight', `${tell()}: ${ends.length + 1} in flight; the limit is ${policy.concurrency}`)
    }
    ends.push(visit.finish)
    if (ends.length > MAX_ENDS) ends.shift()

    const isFirst = lastStart === undefined
    lastStart = visit.start
    lastAnswer = Math.max(lastAnswer, visit.answer)
    return isFirst ? undefined : { gapMs, delayMs }
  }
}

/**
 * The delay in force when this visit began. A Crawl-delay counts from when its robots.txt was read: for its own origin
 * at once, since nothing of an origin is asked before that; elsewhere once no older lease can be open.
 */
function delayOf(host: PacedHost, policyMs: number, isSerial: boolean, visit: VisitRow, rules: PaceRules): number {
  let delayMs = policyMs
  for (const { id, robots } of host.lanes) {
    if (robots === undefined) continue
    const graceMs = isSerial && id === visit.lane ? 0 : rules.leaseMs
    if (visit.start < robots.fetchedAt + graceMs) continue
    delayMs = Math.max(delayMs, crawlDelayInForce(robots.crawlDelayMs, rules.settings))
  }
  return delayMs
}
