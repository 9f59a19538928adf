/**
 * How long the requests of one party take by themselves, by the frontier's rule of a turn: no start sooner than the
 * delay after the last answer that is known, nor than the delay after the last start. Several in flight therefore help
 * only a host that takes longer to answer than its delay is long.
 */

export interface Chain {
  readonly requests: number
  /** Mean of its answers. */
  readonly latencyMs: number
  readonly delayMs: number
  /** Requests in flight at once, at most. */
  readonly concurrency: number
}

/** Requests that are followed one by one; more go on in the same rhythm. */
const MOST_FOLLOWED = 10_000

/** From the first start to the last answer. */
export function chainMs({ requests, latencyMs, delayMs, concurrency }: Chain): number {
  if (requests === 0) return 0
  if (concurrency === 1) return requests * latencyMs + (requests - 1) * delayMs
  if (delayMs === 0) return Math.ceil(requests / concurrency) * latencyMs
  const followed = Math.min(requests, MOST_FOLLOWED)
  const answers: number[] = []
  let known = 0
  let at = 0
  for (let request = 1; request <= followed; request++) {
    // An answer that comes at the very moment of the start is known by then.
    for (; known < answers.length; known++) {
      const answerAt = answers[known] as number
      const isFull = answers.length - known >= concurrency
      if (!isFull && answerAt > at) break
      at = Math.max(at, answerAt + delayMs)
    }
    answers.push(at + latencyMs)
    at += delayMs
  }
  return ((answers.at(-1) as number) * requests) / followed
}
