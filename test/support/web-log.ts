/**
 * Checks on the log of a loopback web: what a host would say of its visitor. Each is exact, without a tolerance,
 * because the times are the server's own. An address that was never asked satisfies all of them, so a test also
 * looks at what was asked.
 */
import type { LogEntry } from '../../src/cli/demo/loopback-web.ts'

/**
 * The shortest time from an answer of the host to the next arrival; negative when a request arrived before an
 * earlier one was answered, Infinity with fewer than two requests. A request that the client gave up on has no
 * answer, and the server learns of the end after the client: it counts from its arrival.
 */
export function smallestGapMs(log: readonly LogEntry[], host: string): number {
  let smallest = Infinity
  let lastAnswer = -Infinity
  for (const entry of log) {
    if (entry.host !== host) continue
    smallest = Math.min(smallest, entry.arrivedAt - lastAnswer)
    lastAnswer = Math.max(lastAnswer, entry.answeredAt ?? entry.arrivedAt)
  }
  return smallest
}

/** Whether robots.txt was the first thing asked of the host, and was asked no second time. */
export function robotsFirstAndOnce(log: readonly LogEntry[], host: string): boolean {
  const asked = log.filter((entry) => entry.host === host).map((entry) => entry.path)
  return asked.length === 0 || (asked[0] === '/robots.txt' && asked.lastIndexOf('/robots.txt') === 0)
}

/** The most requests that were in flight at the host at one time, from arrival to the last byte. */
export function maxInFlight(log: readonly LogEntry[], host: string): number {
  const changes: { at: number; step: 1 | -1 }[] = []
  for (const entry of log) {
    if (entry.host !== host) continue
    changes.push({ at: entry.arrivedAt, step: 1 }, { at: entry.endedAt ?? Infinity, step: -1 })
  }
  // An end and an arrival in the same instant do not overlap.
  changes.sort((a, b) => (a.at === b.at ? a.step - b.step : a.at - b.at))
  let inFlight = 0
  let most = 0
  for (const change of changes) {
    inFlight += change.step
    most = Math.max(most, inFlight)
  }
  return most
}
