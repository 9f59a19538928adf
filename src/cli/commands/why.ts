/**
 * `tiptoe why URL DIR`: the story of one URL, from the page that named it to what happens to it next. The answer is
 * the answer, so the exit code is 0 for a URL that the crawl knows and for one that it does not.
 */
import { readSeed } from '../../engine/index.ts'
import { join } from 'node:path'
import { createSystemClock } from '../../base/index.ts'
import { scoreOptionsOf } from '../../config/index.ts'
import type { UrlView, VisitRow } from '../../frontier/index.ts'
import {
  FAILURES,
  SKIP_REASONS,
  type DuplicateBy,
  type FailureCode,
  type HostHealth,
  type NormalizedUrl,
  type PageRecord,
  type RobotsRecord,
  type SkipReason,
} from '../../model/index.ts'
import type { RobotsVerdict } from '../../politeness/index.ts'
import { RECORD_FILES } from '../../sink/index.ts'
import { hostKey, normalizeUrl, originOf, urlKey } from '../../url/index.ts'
import { countOf, formatCount } from '../count-words.ts'
import { openCrawlView, type CrawlView } from '../crawl-view.ts'
import { EXIT } from '../exit-code.ts'
import { groupsOf, healthLines, waitOf, type HostGroup } from '../host-words.ts'
import type { Invocation } from '../invocation.ts'
import { findLastRecord } from '../last-record.ts'
import { reportRows, timestamp, whenWords, type ReportRow } from '../report-lines.ts'
import { scoreLines, scoreStory, tierStory, tierWords, type ScoreStory, type TierStory } from '../score-story.ts'
import { escapeForTerminal } from '../terminal.ts'
import { visitLines, visitStory, type VisitStory } from '../visit-story.ts'

/** Referrers told of one URL, back to the seed; each is an older row than the one before, so there is an end. */
const MAX_CHAIN = 50

interface Step {
  readonly url: string
  readonly kind: 'page' | 'sitemap'
  readonly via: string
  readonly depth: number
}

interface Story {
  readonly url: string
  /** What the crawl knows it as. */
  readonly known: 'page' | 'sitemap' | null
  readonly scope: { readonly inScope: boolean; readonly rule: string }
  readonly robots: {
    readonly verdict: RobotsVerdict | null
    readonly detail: string
    readonly fetchedAt?: string
    readonly version?: string
    /** Since when a newer copy could not be had, so that the last good one is in force. */
    readonly staleSince?: string
  }
  /** How its host stands; null for one that the crawl does not know. */
  readonly host: HostStanding | null
  readonly state?: string
  readonly reason?: string
  /** Its tier, and where that comes from. */
  readonly tier?: TierStory
  /** What its place in the queue is made from; absent where it has none and gets none. */
  readonly score?: ScoreStory
  /** A URL that has waited so long has the full score for its age. */
  readonly ageHorizonMs?: number
  /** URLs of its origin and tier that come before it; absent for one that is not queued. */
  readonly ahead?: number
  /** Of a page that was fetched. */
  readonly visits?: VisitStory
  readonly depth?: number
  readonly via?: string
  readonly named?: number
  readonly attempts?: number
  /** From the page that named it back to the seed. */
  readonly referrers?: readonly Step[]
  /** The last of the records that it has in the file of its state. */
  readonly record?: Readonly<Record<string, unknown>>
  /** What the last visit of a page came to, where that brought nothing new to save. */
  readonly revisit?: Readonly<Record<string, unknown>>
  readonly next: string
  /** Spellings of it that the crawl knows. */
  readonly alike?: readonly { readonly url: string; readonly state: string }[]
}

interface HostStanding {
  readonly host: string
  readonly health: HostHealth
  readonly address: string | null
  /** Until when it is left alone, and why. */
  readonly blocked: { readonly until: string; readonly reason: string } | null
  readonly groups: readonly HostGroup[]
  /** How much later than required its requests came, at the least. */
  readonly closestMs: number | null
  /** The same for people, a line for each thing to say. */
  readonly words: readonly string[]
}

export async function whyCommand({ parsed, terminal, version }: Invocation): Promise<number> {
  const [url = '', folder = ''] = parsed.operands
  const view = openCrawlView(folder, version)
  try {
    const now = createSystemClock().now()
    const story = await storyOf(readSeed(url), view, now)
    terminal.result(story, () => storyWords(story, now))
    return EXIT.done
  } finally {
    view.inspector.close()
  }
}

async function storyOf(url: NormalizedUrl, view: CrawlView, now: number): Promise<Story> {
  const { inspector, scope, registry, strip } = view
  // The crawl may know it without some of its parameters.
  const stripped = strip(url)
  const row =
    inspector.find('page', urlKey(url)) ??
    inspector.find('sitemap', urlKey(url)) ??
    inspector.find('page', urlKey(stripped))
  const asked = row?.url ?? stripped
  const record = robotsRecordOf(asked, view)
  const verdict = (await registry.verdict(asked)) ?? null
  const common = {
    url: asked,
    known: row?.kind ?? null,
    scope: scope.check(asked),
    robots: {
      verdict,
      detail: record?.detail ?? 'robots.txt of this origin has not been read',
      ...(record === undefined ? {} : { fetchedAt: timestamp(record.fetchedAt), version: record.version }),
      ...(record === undefined || record.staleSince === null ? {} : { staleSince: timestamp(record.staleSince) }),
    },
    host: standingOf(asked, view, now),
  }
  if (row === undefined) return { ...common, next: strangerNext(common, view), alike: alikeOf(stripped, view) }
  const visit = inspector.visit(row.id)
  const written = recordOf(row, view)
  const revisit = visit === undefined ? undefined : newestRevisit(row, visit, view)
  return {
    ...common,
    state: row.state,
    ...(row.reason === null ? {} : { reason: row.reason }),
    ...standingInQueue(row, visit, view, now),
    ...(visit === undefined ? {} : { visits: visitStory(visit) }),
    depth: row.depth,
    via: row.via,
    named: row.referrers,
    attempts: row.attempts,
    referrers: chainOf(row, view),
    ...(written === undefined ? {} : { record: written }),
    ...(revisit === undefined ? {} : { revisit }),
    next: nextOf(row, visit, view, now),
  }
}

type QueueStanding = Pick<Story, 'tier' | 'score' | 'ageHorizonMs' | 'ahead'>

/** Tier, score and place. What is final, and not to be fetched again, has no use for a score. */
function standingInQueue(row: UrlView, visit: VisitRow | undefined, view: CrawlView, now: number): QueueStanding {
  const host = view.inspector.hostByKey(row.host)
  if (host === undefined) return {}
  const comes = !isFinal(row) || (visit !== undefined && visit.dueAt !== null)
  return {
    tier: tierStory(row, host, view),
    ...(row.kind === 'page' && comes
      ? { score: scoreStory(row, host, visit, view, now), ageHorizonMs: scoreOptionsOf(view.settings).ageMs }
      : {}),
    ...(row.state === 'queued' ? { ahead: view.inspector.countAhead(row) } : {}),
  }
}

const isFinal = ({ state }: UrlView): boolean => state === 'done' || state === 'failed' || state === 'skipped'

function standingOf(url: NormalizedUrl, { inspector, settings }: CrawlView, now: number): HostStanding | null {
  const host = inspector.hostByKey(hostKey(url))
  if (host === undefined) return null
  const { key, health, address, closestMs, blockedUntil, blockedReason } = host
  return {
    host: key,
    health,
    address,
    blocked: blockedUntil > now ? { until: timestamp(blockedUntil), reason: blockedReason ?? 'blocked' } : null,
    groups: groupsOf(host, settings),
    closestMs,
    words: healthLines(host, settings, now),
  }
}

function robotsRecordOf(url: NormalizedUrl, { inspector }: CrawlView): RobotsRecord | undefined {
  const lane = inspector.hostByKey(hostKey(url))?.lanes.find(({ origin }) => origin === originOf(url))
  return lane === undefined ? undefined : inspector.robots(lane)
}

function chainOf(row: UrlView, { inspector }: CrawlView): Step[] {
  const chain: Step[] = []
  let id = row.referrer
  while (id !== 0 && chain.length < MAX_CHAIN) {
    const referrer = inspector.byId(id)
    if (referrer === undefined) break
    chain.push({ url: referrer.url, kind: referrer.kind, via: referrer.via, depth: referrer.depth })
    id = referrer.referrer
  }
  return chain
}

function recordOf(row: UrlView, view: CrawlView): Record<string, unknown> | undefined {
  if (row.kind !== 'page' || !isFinal(row)) return undefined
  const kind = { done: 'page', skipped: 'skip', failed: 'fail' } as const
  return lastRecord(kind[row.state as keyof typeof kind], row.url, view)
}

/** The record of the last visit, where that brought nothing new to save. */
function newestRevisit(row: UrlView, { visits }: VisitRow, view: CrawlView): Record<string, unknown> | undefined {
  const record = visits > 1 ? lastRecord('revisit', row.url, view) : undefined
  return record?.['visit'] === visits ? record : undefined
}

function lastRecord(
  kind: keyof typeof RECORD_FILES,
  url: string,
  { folder, inspector }: CrawlView,
): Record<string, unknown> | undefined {
  const name = RECORD_FILES[kind]
  return findLastRecord(join(folder, name), inspector.counters().output[name] ?? 0, url)
}

/** What happens next, in a sentence. */
function nextOf(row: UrlView, visit: VisitRow | undefined, view: CrawlView, now: number): string {
  const { inspector, settings } = view
  if (isFinal(row)) return visit === undefined || visit.dueAt === null ? FINAL : visitNext(visit.dueAt, view, now)
  const idle = inspector.isWorkedOn() ? '' : ' No process is working on the crawl now.'
  if (row.state === 'waiting') return `It is tried again ${whenWords(row.at, now)}.${idle}`
  if (row.state === 'held') {
    const limit = settings.maxDepth ?? 0
    return `It is held: depth ${row.depth} is beyond max_depth ${limit}. A shorter path would free it; without one it is skipped at the end.${idle}`
  }
  if (row.state === 'aside') {
    const end =
      row.reason === 'host-budget'
        ? 'It is skipped when nothing else is left.'
        : 'It waits until nothing else is left, and is skipped then; pages that show its kind to be worth fetching free it.'
    return `${end}${idle}`
  }
  const saved = inspector.counters().done + inspector.counters().refreshing
  if (visit === undefined && row.kind === 'page' && settings.maxPages !== undefined && saved >= settings.maxPages) {
    return `It stays queued: the limit of ${countOf(settings.maxPages, 'page')} is reached. A higher --max-pages goes on.`
  }
  return `${queueWords(row, view, now)}${idle}`
}

const FINAL = 'Nothing: this is final.'

/** A page that is done, and planned to be fetched again. */
function visitNext(dueAt: number, { settings, inspector }: CrawlView, now: number): string {
  const due = dueAt <= now ? `due since ${timestamp(dueAt)}` : `due ${whenWords(dueAt, now)}`
  if (!settings.recrawl) return `Nothing by itself. With --once or --recrawl it is fetched again: it is ${due}.`
  const idle = inspector.isWorkedOn() ? '' : ' No process is working on the crawl now.'
  return `It is fetched again: it is ${due}.${idle}`
}

function queueWords(row: UrlView, view: CrawlView, now: number): string {
  const { inspector } = view
  const host = inspector.hostByKey(row.host)
  const wait = host === undefined ? undefined : waitOf(host, view, now)
  const ahead = inspector.countAhead(row)
  const place =
    ahead === 0
      ? 'It is the next of its origin and tier'
      : `${countOf(ahead, 'URL')} of its origin and tier ${ahead === 1 ? 'comes' : 'come'} before it`
  const lane = host?.lanes.find(({ origin }) => origin === row.origin)
  const robotsFirst = lane?.robots === undefined || lane.robots.expiresAt <= now ? ', after robots.txt is read' : ''
  const turn =
    wait === undefined
      ? `${row.host} waits for the answer to a request elsewhere`
      : wait.at <= now
        ? `${row.host} is due now`
        : `${row.host} may be asked ${whenWords(wait.at, now)} (${wait.reason})`
  return `${place}${robotsFirst}; ${turn}.`
}

function strangerNext(story: Pick<Story, 'scope' | 'robots'>, { inspector }: CrawlView): string {
  const { scope, robots } = story
  if (!scope.inScope) return 'The crawl does not take it in: it is out of scope, wherever it may be linked.'
  const open = inspector.counters().open
  const wait =
    open === 0
      ? 'No page or sitemap that was read names it, and nothing is left to read.'
      : `No page or sitemap read so far names it; ${formatCount(open)} ${open === 1 ? 'is' : 'are'} still queued.`
  return robots.verdict?.allowed === false ? `${wait} If one does, it will be skipped.` : wait
}

/** The slips that are made most often: the slash at the end, the scheme, `www.`, the query. */
function alikeOf(url: NormalizedUrl, { inspector }: CrawlView): { url: string; state: string }[] {
  const parsed = new URL(url)
  const variants = [
    edit(
      parsed,
      (copy) => (copy.pathname = copy.pathname.endsWith('/') ? copy.pathname.slice(0, -1) : `${copy.pathname}/`),
    ),
    edit(parsed, (copy) => (copy.protocol = copy.protocol === 'https:' ? 'http:' : 'https:')),
    edit(
      parsed,
      (copy) => (copy.hostname = copy.hostname.startsWith('www.') ? copy.hostname.slice(4) : `www.${copy.hostname}`),
    ),
    edit(parsed, (copy) => (copy.search = '')),
  ]
  const found = variants.flatMap((variant) => {
    const row = variant === undefined || variant === url ? undefined : inspector.find('page', urlKey(variant))
    return row === undefined ? [] : [{ url: row.url, state: row.state }]
  })
  return found.filter((one, index) => found.findIndex(({ url }) => url === one.url) === index)
}

function edit(url: URL, change: (copy: URL) => void): NormalizedUrl | undefined {
  const copy = new URL(url)
  change(copy)
  return normalizeUrl(copy.href)
}

function storyWords(story: Story, now: number): string {
  const rows: ReportRow[] =
    story.known === null
      ? [['known', 'never discovered by this crawl']]
      : [
          ['state', stateWords(story)],
          ['discovered', discoveryWords(story)],
          ['depth', formatCount(story.depth ?? 0)],
        ]
  if (story.tier !== undefined) rows.push(['tier', tierWords(story.tier)])
  if (story.score !== undefined) rows.push(['score', scoreLines(story.score, story.ageHorizonMs ?? 0).join('\n')])
  if (story.visits !== undefined) rows.push(['visits', visitLines(story.visits, now).join('\n')])
  rows.push(['scope', `${story.scope.inScope ? 'in' : 'out'}: ${story.scope.rule}`])
  rows.push(['robots.txt', robotsWords(story)])
  if (story.host !== null) rows.push(['host', story.host.words.join('\n')])
  if ((story.attempts ?? 0) > 0) rows.push(['attempts', formatCount(story.attempts ?? 0)])
  const copy = copyWords(story.record)
  if (copy !== undefined) rows.push(['copy', copy])
  if (story.record !== undefined) rows.push(['record', recordWords(story.record)])
  if (story.revisit !== undefined) rows.push(['last visit', recordWords(story.revisit)])
  rows.push(['next', story.next])
  if (story.alike !== undefined && story.alike.length > 0) {
    rows.push(['but known', story.alike.map(({ url, state }) => `${escapeForTerminal(url)} (${state})`).join('\n')])
  }
  const escaped = rows.map(([name, value]): ReportRow => [name, value.split('\n').map(escapeForTerminal).join('\n')])
  return [escapeForTerminal(story.url), ...reportRows(escaped)].join('\n')
}

function stateWords({ state, reason, known, visits }: Story): string {
  const what = known === 'sitemap' ? 'sitemap, ' : ''
  if (state === 'done') return `${what}${known === 'sitemap' ? 'read' : 'fetched and saved'}`
  if (state === 'skipped') return `${what}skipped (${reason}): ${SKIP_REASONS[reason as SkipReason] ?? reason}`
  if (state === 'failed') return `${what}given up on (${reason}): ${FAILURES[reason as FailureCode] ?? reason}`
  if (state === 'aside') return `${what}set aside: ${SKIP_REASONS[reason as SkipReason] ?? reason}`
  const words: Record<string, string> = {
    queued: reason === 'probe' ? 'queued, to see whether those like it are a trap' : 'queued',
    waiting: 'waiting for another attempt',
    held: 'held for being too deep',
  }
  return `${what}${words[state ?? ''] ?? state}${visits === undefined ? '' : ', to be fetched again'}`
}

function discoveryWords({ via, named = 1, referrers = [] }: Story): string {
  const times = named > 1 ? `, named ${formatCount(named)} times in all` : ''
  if (referrers.length === 0) {
    const alone: Record<string, string> = { seed: 'a seed of the crawl', sitemap: 'named by a sitemap or robots.txt' }
    return `${alone[via ?? ''] ?? `found by ${via}`}${times}`
  }
  const verbs: Record<string, string> = {
    link: 'linked from',
    redirect: 'redirected from',
    sitemap: 'named by sitemap',
    canonical: 'named as canonical by',
  }
  let how = via
  const lines = referrers.map((step) => {
    const line = `${verbs[how ?? ''] ?? how} ${step.url}${step.via === 'seed' ? ' (a seed)' : ''}`
    how = step.via
    return line
  })
  const more = lines.length === MAX_CHAIN ? ['…'] : []
  const [first = '', ...rest] = lines
  return [`${first}${times}`, ...rest, ...more].join('\n')
}

function robotsWords({ robots: { verdict, detail, fetchedAt, version, staleSince } }: Story): string {
  if (verdict === null) return `not known: ${detail}`
  const more = detail === verdict.detail ? '' : `: ${detail}`
  const read = fetchedAt === undefined ? '' : `\nread ${fetchedAt}, version ${version}${more}`
  const stale = staleSince === undefined ? '' : `\nthe last good copy: since ${staleSince} no newer one could be had`
  return `${verdict.allowed ? 'allowed' : 'not allowed'}: ${verdict.detail}${read}${stale}`
}

const COPIES: Readonly<Record<DuplicateBy, string>> = {
  canonical: 'it names this page as canonical',
  same: 'it has the same text as this page',
  near: 'it has nearly the same text as this page',
}

/** Which page it repeats, and by what that is told. */
function copyWords(record: Story['record']): string | undefined {
  const { duplicateOf, duplicateBy } = (record ?? {}) as Partial<PageRecord>
  if (duplicateOf === undefined || duplicateBy === undefined) return undefined
  return `${COPIES[duplicateBy]}: ${text(duplicateOf)}`
}

/** The fields that tell what happened, as the record has them. */
function recordWords(record: Readonly<Record<string, unknown>>): string {
  const names = [
    'change',
    'visit',
    'status',
    'reason',
    'error',
    'detail',
    'location',
    'fetchedAt',
    'checkedAt',
    'at',
    'answerMs',
    'durationMs',
    'bytes',
    'limits',
    'contentType',
    'sniffedType',
    'title',
    'published',
    'modified',
    'contentSignals',
    'tdm',
    'links',
    'markdownPath',
  ]
  return names
    .flatMap((name) => (record[name] === undefined || record[name] === null ? [] : [`${name}: ${text(record[name])}`]))
    .join('\n')
}

function text(value: unknown): string {
  return typeof value === 'string' ? value.replaceAll('\n', ' ') : JSON.stringify(value)
}
