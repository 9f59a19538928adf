/** `tiptoe status DIR` and `tiptoe status STORE --crawl NAME`: how a crawl stands, also while it runs. */
import { createSystemClock } from '../../base/index.ts'
import { sumOf } from '../count-words.ts'
import { openCrawlView, type CrawlView } from '../crawl-view.ts'
import { EXIT } from '../exit-code.ts'
import { fleetStatus } from '../fleet-status.ts'
import { waitOf } from '../host-words.ts'
import { surveyHosts } from '../host-survey.ts'
import type { Invocation } from '../invocation.ts'
import { timestamp } from '../report-lines.ts'
import { HOSTS_NAMED, NEXT_HOSTS, stateOf, statusWords, tiersOf, type Status } from '../status-words.ts'
import { isStore, namedPlace } from '../store-operand.ts'

export async function statusCommand(invocation: Invocation): Promise<number> {
  const { parsed, terminal, version } = invocation
  const { place } = namedPlace(parsed.operands, invocation)
  if (isStore(place)) {
    const now = createSystemClock().now()
    const status = await fleetStatus(place, invocation, now)
    terminal.result(status, () => statusWords(status, now))
    return EXIT.done
  }
  const view = openCrawlView(place, version)
  try {
    const now = createSystemClock().now()
    const status = await statusOf(view, now)
    terminal.result(status, () => statusWords(status, now))
    return EXIT.done
  } finally {
    view.inspector.close()
  }
}

async function statusOf(view: CrawlView, now: number): Promise<Status> {
  const { inspector, settings } = view
  const counters = inspector.counters()
  const next = inspector.nextHosts(NEXT_HOSTS).flatMap((host) => {
    const wait = waitOf(host, view, now)
    return wait === undefined ? [] : [{ host: host.key, at: timestamp(wait.at), reason: wait.reason }]
  })
  const working = inspector.isWorkedOn()
  const nextVisit = inspector.nextVisit()
  return {
    folder: view.folder,
    seeds: view.seeds.length,
    working,
    /** Meaningless while a process works on it. */
    closedInOrder: inspector.clean,
    ...(inspector.barred === undefined ? {} : { barred: inspector.barred }),
    state: stateOf(counters, settings, nextVisit),
    urls: {
      discovered: counters.discovered,
      queued: counters.open,
      waitingForRetry: inspector.countWaiting(),
      heldForDepth: counters.held,
      setAside: counters.aside,
      /** Saved before, and queued to be fetched again. */
      refreshing: counters.refreshing,
      done: counters.done,
      failed: counters.failed,
      skipped: counters.skipped,
    },
    tiers: tiersOf(counters.tiers, settings),
    recrawl: {
      enabled: settings.recrawl,
      revisits: counters.revisits,
      nextVisit: nextVisit === undefined ? null : timestamp(nextVisit),
    },
    /** Look-ups of URLs that the filter sent to the store in vain. */
    bloomFalsePositives: inspector.lookups().falsePositives,
    hosts: inspector.hostTally(now),
    robots: inspector.robotsTally(),
    requests: counters.requests,
    sitemapsQueued: counters.sitemapsOpen,
    bytes: counters.bytes,
    tokens: counters.tokens,
    ...(settings.maxPages === undefined ? {} : { maxPages: settings.maxPages }),
    ...(await surveyHosts(inspector.hosts(), now, HOSTS_NAMED)),
    /** What the audit that runs with the crawl has seen. */
    politeness: {
      requests: sumOf(counters.requests),
      violations: counters.impolite,
      closest: counters.closest,
    },
    next,
  }
}
