/** The rules of a host's turn, as pure functions that every home applies alike. */

/** A lease may spend this long waiting between its own requests; a longer pace gives one task at a time. */
const LEASE_WAIT_MS = 50
/** Tasks in one lease at most. */
const LEASE_TASKS = 16
/** How often one lease may be extended. */
export const LEASE_EXTENSIONS = 10

/**
 * The delay in force: the longest of what the policy says, what robots.txt asks for, and what the host's latency asks
 * for. A host whose answers slow down is asked less often, up to a limit; where the policy knows no delay, it means it.
 */
export function delayInForce(
  host: { readonly policyMs: number; readonly crawlDelayMs: number; readonly latencyMs: number },
  latency: { readonly factor: number; readonly maxDelayMs: number },
): number {
  const delayMs = Math.max(host.policyMs, host.crawlDelayMs)
  return host.policyMs === 0
    ? delayMs
    : Math.max(delayMs, Math.min(latency.factor * host.latencyMs, latency.maxDelayMs))
}

/** When a host may be asked next, by its pace and its block. */
export function earliestStart(host: {
  answeredAt: number | null
  grantedAt: number | null
  blockedUntil: number
  delayMs: number
}): number {
  const answered = host.answeredAt === null ? 0 : host.answeredAt + host.delayMs
  // With several requests in flight the last start counts too, or they would all begin together.
  const granted = host.grantedAt === null ? 0 : host.grantedAt + host.delayMs
  return Math.max(answered, granted, host.blockedUntil)
}

/**
 * How many tasks one lease carries. Several leases on one host cannot keep a delay between each other's requests, so
 * a pace above zero with more than one lease gives single tasks; and what is queued is shared out over the slots that
 * the host may use, so that the first lease does not take what the others could do at once.
 */
export function tasksPerLease(delayMs: number, concurrency: number, queued: number): number {
  if (delayMs > 0 && concurrency > 1) return 1
  const byPace = delayMs === 0 ? LEASE_TASKS : Math.floor(LEASE_WAIT_MS / delayMs)
  const fairShare = Math.ceil(queued / concurrency)
  return Math.max(1, Math.min(byPace, fairShare, LEASE_TASKS))
}

/** Whether an origin's robots record still speaks. */
export function isFresh(robots: { readonly expiresAt: number } | undefined, now: number): boolean {
  return robots !== undefined && now < robots.expiresAt
}
