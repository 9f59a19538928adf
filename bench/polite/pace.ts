/**
 * What a web's log says of the pace at which its hosts were asked: how much of what politeness permits was used, how
 * late each request was, and whether one came too soon.
 *
 * All times are the server's. A request is due `delayMs` after the answer before it was given, by the moment just before
 * the first byte was written: the crawler cannot know of an answer sooner, so a gap that looks too short is too short,
 * however late the server's own event loop was.
 */

/** One request: which host, when it arrived, when its answer was written; ms of one steady clock. */
export interface AskedHost {
  readonly host: number
  readonly arrivedAt: number
  /** Infinity while it is not answered. */
  readonly answeredAt: number
}

export interface Pace {
  readonly hosts: number
  readonly requests: number
  /** The rate at which hosts were asked, against one request for each delay; 1 is ideal. */
  readonly share: number
  /** The same for the host that is the worst of a hundred. */
  readonly shareOfWorst: number
  /** Requests after each host's first, against the whole delays since that one was answered. */
  readonly shareOfWhole: number
  /** How much later than due requests arrived, in ms; null when no host was asked twice. */
  readonly lagP50Ms: number | null
  readonly lagP99Ms: number | null
  /** Requests that came before they were due. */
  readonly violations: number
}

/** In order of arrival. Requests before `fromMs` count only as what the next ones are measured from. */
export function paceOf(log: Iterable<AskedHost>, span: { fromMs: number; untilMs: number; delayMs: number }): Pace {
  const { fromMs, untilMs, delayMs } = span
  const begun = new Map<number, { since: number; last: number; asked: number; lateMs: number }>()
  const lags: number[] = []
  let requests = 0
  let violations = 0
  for (const { host, arrivedAt, answeredAt } of log) {
    if (arrivedAt > untilMs) break
    const known = begun.get(host)
    const lag = known === undefined ? 0 : arrivedAt - (known.last + delayMs)
    if (lag < 0) violations += 1
    if (arrivedAt >= fromMs) requests += 1
    if (known === undefined || arrivedAt < fromMs)
      begun.set(host, { since: answeredAt, last: answeredAt, asked: 0, lateMs: 0 })
    else {
      lags.push(lag)
      known.last = answeredAt
      known.asked += 1
      known.lateMs += lag
    }
  }
  const hosts = [...begun.values()].map(({ since, last, asked, lateMs }) => ({
    asked,
    wholeDelays: Math.max(asked, Math.floor((untilMs - since) / delayMs)),
    // A host that is due and was not asked counts for as long as it has waited.
    neededMs: asked * delayMs + lateMs + Math.max(0, untilMs - (last + delayMs)),
  }))
  const share = (of: readonly (typeof hosts)[number][]): number =>
    (delayMs * sum(of.map(({ asked }) => asked))) / Math.max(1, sum(of.map(({ neededMs }) => neededMs)))
  const shares = hosts.filter(({ neededMs }) => neededMs > 0).map((host) => share([host]))
  lags.sort((a, b) => a - b)
  shares.sort((a, b) => a - b)
  return {
    hosts: hosts.length,
    requests,
    share: share(hosts),
    shareOfWorst: quantile(shares, 0.01) ?? 0,
    shareOfWhole: sum(hosts.map(({ asked }) => asked)) / Math.max(1, sum(hosts.map(({ wholeDelays }) => wholeDelays))),
    lagP50Ms: quantile(lags, 0.5),
    lagP99Ms: quantile(lags, 0.99),
    violations,
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

function quantile(sorted: readonly number[], share: number): number | null {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? null
}
