/** How a crawl stands: what there is to say, of one in a folder and of one on a store, and the words for it. */
import { formatBytes, formatDuration } from '../base/index.ts'
import { quotasOf, type Settings } from '../config/index.ts'
import { TIERS, type Change, type TaskKind, type Tier } from '../model/index.ts'
import { countOf, formatCount, sumOf } from './count-words.ts'
import type { HostSurvey } from './host-survey.ts'
import { spareWords, troubleWords } from './host-words.ts'
import { countList, reportRows, whenWords, type ReportRow } from './report-lines.ts'
import { revisitWords } from './revisit-words.ts'
import { escapeForTerminal } from './terminal.ts'

/** Hosts named as the next to be asked. */
export const NEXT_HOSTS = 5
/** Hosts named as left alone or in trouble; the rest are counted. */
export const HOSTS_NAMED = 5

export interface Status extends HostSurvey {
  /** The folder, or the store with the name of the crawl. */
  readonly folder: string
  readonly seeds: number
  readonly working: boolean
  /** Meaningless while a process works on it, and of a crawl on a store. */
  readonly closedInOrder: boolean
  /** Why nobody may go on with it in its folder; absent when everybody may. */
  readonly barred?: string
  readonly state: 'finished' | 'due' | 'limit' | 'open'
  readonly urls: {
    readonly discovered: number
    /** Leased ones among them. */
    readonly queued: number
    readonly waitingForRetry: number
    readonly heldForDepth: number
    readonly setAside: number
    /** Saved before, and queued to be fetched again. */
    readonly refreshing: number
    readonly done: number
    readonly failed: number
    readonly skipped: Readonly<Record<string, number>>
  }
  readonly tiers: Readonly<Record<Tier, TierStatus>>
  readonly recrawl: {
    readonly enabled: boolean
    readonly revisits: Readonly<Record<Exclude<Change, 'new'>, number>>
    readonly nextVisit: string | null
  }
  /** Look-ups of URLs that the filter sent to the store in vain; there is none where the store is exact by itself. */
  readonly bloomFalsePositives: number
  readonly hosts: {
    readonly known: number
    readonly due: number
    readonly pausing: number
    readonly blocked: number
    readonly idle: number
  }
  readonly robots: Readonly<Record<string, number>>
  readonly requests: Readonly<Record<TaskKind, number>>
  readonly sitemapsQueued: number
  readonly bytes: number
  readonly tokens: number
  readonly maxPages?: number
  /** What the audit that runs with the crawl has seen. */
  readonly politeness: {
    readonly requests: number
    readonly violations: number
    readonly closest: { readonly host: string; readonly spareMs: number } | null
  }
  readonly next: readonly { readonly host: string; readonly at: string; readonly reason: string }[]
  /** Of a crawl on a store. */
  readonly fleet?: FleetStatus
}

export interface FleetStatus {
  readonly crawl: string
  /** Why nobody may work on it; null when everybody may. */
  readonly barred: string | null
  /** Why it was stopped for all; null when it was not. */
  readonly halted: string | null
  readonly leased: number
  readonly members: readonly {
    readonly id: string
    readonly role: string
    readonly host: string
    readonly pid: number
    readonly slots: number
    readonly inFlight: number
    readonly done: number
  }[]
  readonly partitions: {
    readonly count: number
    /** Those that keep quiet because their server changed, and until when the last of them does. */
    readonly quiet: number
    readonly quietUntil: string | null
    /** When one of them last found another server than before; null if none ever did. */
    readonly serverChangedAt: string | null
    /** Messages between partitions that are under way. */
    readonly undelivered: number
  }
}

/** `due`: nothing is left but to wait until pages are to be fetched again. */
export function stateOf(
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

export interface TierStatus {
  readonly queued: number
  readonly requests: number
  /** Of all requests so far, and the part that it is given while all tiers have work that is due; 0 to 1. */
  readonly share: number
  readonly quota: number
}

export function tiersOf(
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

export function statusWords(status: Status, now: number): string {
  const { urls, hosts } = status
  const rows: ReportRow[] = [
    ...(status.fleet === undefined ? [] : fleetRows(status.fleet, now)),
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
    ...(status.fleet === undefined
      ? [['filter', countOf(status.bloomFalsePositives, 'false positive')] satisfies ReportRow]
      : []),
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
  if (status.fleet !== undefined) return `${stood}; ${fleetHeading(status.fleet)}`
  if (status.barred !== undefined) return `${stood} here; ${escapeForTerminal(status.barred)}`
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

function fleetHeading({ barred, halted, members }: FleetStatus): string {
  if (barred !== null) return `nobody may work on it: ${escapeForTerminal(barred)}`
  const workers = members.filter(({ role }) => role === 'worker').length
  const work = workers === 0 ? 'no worker is alive' : `${countOf(workers, 'worker')} on it now`
  return halted === null ? work : `stopped for all (${escapeForTerminal(halted)}), ${work}`
}

function fleetRows({ members, partitions, leased }: FleetStatus, now: number): ReportRow[] {
  const people = members.map(
    ({ id, role, host, pid, slots, inFlight, done }) =>
      `${role} ${id} on ${host}, process ${pid}${role === 'worker' ? `: ${formatCount(inFlight)} of ${countOf(slots, 'slot')} in use, ${formatCount(done)} saved` : ''}`,
  )
  const { count, quiet, quietUntil, serverChangedAt, undelivered } = partitions
  const parts = [
    ...(quietUntil === null
      ? []
      : [
          `${formatCount(quiet)} quiet since their server changed, the last for another ${formatDuration(Math.max(0, Date.parse(quietUntil) - now))}`,
        ]),
    ...(serverChangedAt === null ? [] : [`a server changed ${whenWords(Date.parse(serverChangedAt), now)}`]),
    ...(undelivered === 0 ? [] : [`${countOf(undelivered, 'message')} between them under way`]),
  ]
  return [
    ['members', people.length === 0 ? 'none' : people.map(escapeForTerminal).join('\n')],
    ['partitions', [formatCount(count), ...parts].join('\n')],
    ['leased', countOf(leased, 'page')],
  ]
}
