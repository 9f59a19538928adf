/** The story of one URL: what there is to tell, and the words for it. */
import type { Settings } from '../config/index.ts'
import type { HostView } from '../frontier/index.ts'
import {
  FAILURES,
  SKIP_REASONS,
  type DuplicateBy,
  type FailureCode,
  type HostHealth,
  type PageRecord,
  type SkipReason,
} from '../model/index.ts'
import type { RobotsVerdict } from '../politeness/index.ts'
import { formatCount } from './count-words.ts'
import { groupsOf, healthLines, type HostGroup } from './host-words.ts'
import { reportRows, timestamp, type ReportRow } from './report-lines.ts'
import { scoreLines, tierWords, type ScoreStory, type TierStory } from './score-story.ts'
import { escapeForTerminal } from './terminal.ts'
import { visitLines, type VisitStory } from './visit-story.ts'

/** Referrers told of one URL, back to the seed; each is an older row than the one before, so there is an end. */
export const MAX_CHAIN = 50

export interface Step {
  readonly url: string
  readonly kind: 'page' | 'sitemap'
  readonly via: string
  readonly depth: number
}

export interface Story {
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
  /** Who has it under way, on a fleet, and until when at the latest. */
  readonly lease?: { readonly worker: string; readonly until: string }
  readonly next: string
  /** Spellings of it that the crawl knows. */
  readonly alike?: readonly { readonly url: string; readonly state: string }[]
}

export interface HostStanding {
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

/** How a host stands; null for one that the crawl does not know. */
export function hostStanding(host: HostView | undefined, settings: Settings, now: number): HostStanding | null {
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

export function storyWords(story: Story, now: number): string {
  const rows: ReportRow[] =
    story.known === null
      ? [['known', 'never discovered by this crawl']]
      : [
          ['state', stateWords(story)],
          ...(story.via === undefined ? [] : [['discovered', discoveryWords(story)] as const]),
          ...(story.depth === undefined ? [] : [['depth', formatCount(story.depth)] as const]),
        ]
  if (story.tier !== undefined) rows.push(['tier', tierWords(story.tier)])
  if (story.score !== undefined) rows.push(['score', scoreLines(story.score, story.ageHorizonMs ?? 0).join('\n')])
  if (story.visits !== undefined) rows.push(['visits', visitLines(story.visits, now).join('\n')])
  if (story.lease !== undefined) rows.push(['lease', `${story.lease.worker}, until ${story.lease.until} at the latest`])
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
    leased: 'under way',
    final: 'settled; what became of it is in the record that its worker wrote',
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
