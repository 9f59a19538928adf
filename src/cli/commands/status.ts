/** `tiptoe status DIR`: how a crawl stands, also while it runs. */
import { createSystemClock, formatBytes } from '../../base/index.ts'
import { countOf, formatCount, sumOf } from '../count-words.ts'
import { openCrawlView, type CrawlView } from '../crawl-view.ts'
import { EXIT } from '../exit-code.ts'
import { spareWords, troubleWords, waitOf } from '../host-words.ts'
import { quotasOf, type Settings } from '../../config/index.ts'
import { TIERS, type Tier } from '../../model/index.ts'
import { surveyHosts } from '../host-survey.ts'
import { revisitWords } from '../revisit-words.ts'
import type { Invocation } from '../invocation.ts'
import { countList, reportRows, timestamp, whenWords, type ReportRow } from '../report-lines.ts'
import { escapeForTerminal } from '../terminal.ts'

/** Hosts named as the next to be asked. */
const NEXT_HOSTS = 5
/** Hosts named as left alone or in trouble; the rest are counted. */
const HOSTS_NAMED = 5

export async function statusCommand({ parsed, terminal, version }: Invocation): Promise<number> {
  const view = openCrawlView(parsed.operands[0] as string, version)
  try {
    const now = createSystemClock().now()
    const status = statusOf(view, now)
    terminal.result(status, () => statusWords(status, now))
    return EXIT.done
  } finally {
    view.inspector.close()
  }
}

type Status = ReturnType<typeof statusOf>

function statusOf(view: CrawlView, now: number) {
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
    ...surveyHosts(inspector, now, HOSTS_NAMED),
    /** What the audit that runs with the crawl has seen. */
    politeness: {
      requests: sumOf(counters.requests),
      violations: counters.impolite,
      closest: counters.closest,
    },
    next,
  }
}

/** `due`: nothing is left but to wait until pages are to be fetched again. */
function stateOf(
  counters: { open: number; sitemapsOpen: number; done: number; refreshing: number },
  { maxPages, recrawl }: Settings,
  nextVisit: number | undefined,
): 'finished' | 'due' | 'limit' | 'open' {
  if (counters.open === 0 && counters.sitemapsOpen === 0) {
    return recrawl && nextVisit !== undefined ? 'due' : 'finished'
  }
  if (counters.refreshing > 0) return 'open'
  return maxPages !== undefined && counters.done >= maxPages ? 'limit' : 'open'
}

interface TierStatus {
  readonly queued: number
  readonly requests: number
  /** Of all requests so far, and the part that it is given while all tiers have work that is due; 0 to 1. */
  readonly share: number
  readonly quota: number
}

function tiersOf(
  counted: Readonly<Record<Tier, { readonly queued: number; readonly requests: number }>>,
  settings: Settings,
): Record<Tier, TierStatus> {
  const quotas = quotasOf(settings)
  const total = TIERS.reduce((sum, tier) => sum + counted[tier].requests, 0)
  const of = (tier: Tier): TierStatus => ({
    ...counted[tier],
    share: total === 0 ? 0 : counted[tier].requests / total,
    quota: quotas[tier],
  })
  return { high: of('high'), medium: of('medium'), low: of('low') }
}

function statusWords(status: Status, now: number): string {
  const { urls, hosts } = status
  const rows: ReportRow[] = [
    ['discovered', countOf(urls.discovered, 'URL')],
    ['saved', formatCount(urls.done + urls.refreshing)],
    ['failed', formatCount(urls.failed)],
    ['skipped', `${formatCount(sumOf(urls.skipped))}${detail(countList(urls.skipped))}`],
    ['queued', `${formatCount(urls.queued)}${detail(queuedParts(status))}`],
    ['tiers', TIERS.map((tier) => tierWords(tier, status.tiers[tier])).join('\n')],
    ['sitemaps', `${formatCount(status.sitemapsQueued)} still to be read`],
    ['requests', countList(status.requests)],
    ...recrawlRows(status, now),
    ['bytes', formatBytes(status.bytes)],
    ['tokens', formatCount(status.tokens)],
    [
      'hosts',
      `${formatCount(hosts.known)}${detail(countList({ due: hosts.due, pausing: hosts.pausing, blocked: hosts.blocked, 'without work': hosts.idle }))}`,
    ],
    ['robots.txt', countList(status.robots)],
    ['filter', countOf(status.bloomFalsePositives, 'false positive')],
    ...troubleRows(status, now),
    ['politeness', politenessWords(status.politeness)],
  ]
  const next = status.next.map(({ host, at, reason }) => {
    const due = Date.parse(at)
    const when = due <= now ? 'due now' : `${whenWords(due, now)} (${reason})`
    return `  ${escapeForTerminal(host)} ${escapeForTerminal(when)}`
  })
  return [
    `${escapeForTerminal(status.folder)}: ${heading(status)}`,
    ...reportRows(rows),
    ...(next.length === 0 ? [] : ['next', ...next]),
  ].join('\n')
}

function tierWords(tier: Tier, { queued, requests, share, quota }: TierStatus): string {
  const part = requests === 0 ? '' : ` (${percentWords(share)}, quota ${percentWords(quota)})`
  return `${tier}: ${formatCount(queued)} queued, ${countOf(requests, 'request')}${part}`
}

const percentWords = (share: number): string => `${Math.round(share * 100)}%`

function recrawlRows({ recrawl }: Status, now: number): ReportRow[] {
  const again = revisitWords(recrawl.revisits)
  const rows: ReportRow[] = again === '' ? [] : [['again', again]]
  if (recrawl.nextVisit === null) return rows
  const due = Date.parse(recrawl.nextVisit)
  const when = due <= now ? `due since ${recrawl.nextVisit}` : whenWords(due, now)
  return [...rows, ['next visit', recrawl.enabled ? when : `${when}, with --once or --recrawl`]]
}

function troubleRows({ leftAlone, inTrouble }: Status, now: number): ReportRow[] {
  const rows: ReportRow[] = []
  const add = (name: string, count: number, lines: readonly string[]): void => {
    const more = count > lines.length ? [`and ${formatCount(count - lines.length)} more`] : []
    if (count > 0) rows.push([name, [...lines.map(escapeForTerminal), ...more].join('\n')])
  }
  add(
    'left alone',
    leftAlone.count,
    leftAlone.hosts.map(
      ({ host, until, reason }) => `${host}, asked again ${whenWords(Date.parse(until), now)}: ${reason}`,
    ),
  )
  add(
    'in trouble',
    inTrouble.count,
    inTrouble.hosts.map(({ host, times, since }) => `${host} ${troubleWords(times)}, since ${since}`),
  )
  return rows
}

function politenessWords({ requests, violations, closest }: Status['politeness']): string {
  const found = violations === 0 ? 'no violation' : countOf(violations, 'VIOLATION')
  const words = `${countOf(requests, 'request')} watched, ${found}`
  return closest === null
    ? words
    : `${words}\nclosest: ${escapeForTerminal(closest.host)}, ${spareWords(closest.spareMs)}`
}

function heading(status: Status): string {
  const stood = {
    finished: 'finished',
    due: 'nothing is queued until pages are due again',
    limit: `at its limit of ${countOf(status.maxPages ?? 0, 'page')}`,
    open: 'not finished',
  }[status.state]
  if (status.working) return `${stood}, and a process is working on it now`
  if (status.closedInOrder) return `${stood}; no process is working on it`
  return `${stood}; no process is working on it, and the last one did not close it in order (it resumes all the same)`
}

function queuedParts({ urls }: Status): string {
  const parts = {
    'to be fetched again': urls.refreshing,
    'waiting for another attempt': urls.waitingForRetry,
    'held for depth': urls.heldForDepth,
    'set aside': urls.setAside,
  }
  return sumOf(parts) === 0 ? '' : countList(parts)
}

function detail(words: string): string {
  return words === '' || words === 'none' ? '' : ` (${words})`
}
