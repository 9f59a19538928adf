/** `tiptoe status DIR`: how a crawl stands, also while it runs. */
import { createSystemClock, formatBytes } from '../../base/index.ts'
import { countOf, formatCount, sumOf } from '../count-words.ts'
import { openCrawlView, type CrawlView } from '../crawl-view.ts'
import { EXIT } from '../exit-code.ts'
import { spareWords, troubleWords, waitOf } from '../host-words.ts'
import { surveyHosts } from '../host-survey.ts'
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
  return {
    folder: view.folder,
    seeds: view.seeds.length,
    working,
    /** Meaningless while a process works on it. */
    closedInOrder: inspector.clean,
    state: stateOf(counters, settings.maxPages),
    urls: {
      discovered: counters.discovered,
      queued: counters.open,
      waitingForRetry: inspector.countWaiting(),
      heldForDepth: counters.held,
      done: counters.done,
      failed: counters.failed,
      skipped: counters.skipped,
    },
    tiers: counters.tiers,
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

function stateOf(
  counters: { open: number; sitemapsOpen: number; done: number },
  maxPages: number | undefined,
): 'finished' | 'limit' | 'open' {
  if (counters.open === 0 && counters.sitemapsOpen === 0) return 'finished'
  return maxPages !== undefined && counters.done >= maxPages ? 'limit' : 'open'
}

function statusWords(status: Status, now: number): string {
  const { urls, hosts } = status
  const rows: ReportRow[] = [
    ['discovered', countOf(urls.discovered, 'URL')],
    ['saved', formatCount(urls.done)],
    ['failed', formatCount(urls.failed)],
    ['skipped', `${formatCount(sumOf(urls.skipped))}${detail(countList(urls.skipped))}`],
    ['queued', `${formatCount(urls.queued)}${detail(queuedParts(status))}`],
    ['tiers', countList(status.tiers)],
    ['sitemaps', `${formatCount(status.sitemapsQueued)} still to be read`],
    ['requests', countList(status.requests)],
    ['bytes', formatBytes(status.bytes)],
    ['tokens', formatCount(status.tokens)],
    [
      'hosts',
      `${formatCount(hosts.known)}${detail(countList({ due: hosts.due, pausing: hosts.pausing, blocked: hosts.blocked, 'without work': hosts.idle }))}`,
    ],
    ['robots.txt', countList(status.robots)],
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
    limit: `at its limit of ${countOf(status.maxPages ?? 0, 'page')}`,
    open: 'not finished',
  }[status.state]
  if (status.working) return `${stood}, and a process is working on it now`
  if (status.closedInOrder) return `${stood}; no process is working on it`
  return `${stood}; no process is working on it, and the last one did not close it in order (it resumes all the same)`
}

function queuedParts({ urls }: Status): string {
  const parts = { 'waiting for another attempt': urls.waitingForRetry, 'held for depth': urls.heldForDepth }
  return sumOf(parts) === 0 ? '' : countList(parts)
}

function detail(words: string): string {
  return words === '' || words === 'none' ? '' : ` (${words})`
}
