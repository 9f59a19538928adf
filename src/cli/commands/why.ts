/**
 * `tiptoe why URL DIR` or `tiptoe why URL STORE --crawl NAME`: the story of one URL, from the page that named it to what
 * happens to it next. The answer is the answer, so the exit code is 0 for a URL that the crawl knows and for one that it
 * does not.
 */
import { readSeed } from '../../engine/index.ts'
import { join } from 'node:path'
import { createSystemClock } from '../../base/index.ts'
import { scoreOptionsOf } from '../../config/index.ts'
import type { UrlView, VisitRow } from '../../frontier/index.ts'
import { TiptoeError, type NormalizedUrl, type RobotsRecord } from '../../model/index.ts'
import { RECORD_FILES } from '../../sink/index.ts'
import { hostKey, normalizeUrl, originOf, urlKey } from '../../url/index.ts'
import { countOf, formatCount } from '../count-words.ts'
import { openCrawlView, type CrawlView } from '../crawl-view.ts'
import { EXIT } from '../exit-code.ts'
import { fleetStory } from '../fleet-story.ts'
import { waitOf } from '../host-words.ts'
import type { Invocation } from '../invocation.ts'
import { findLastRecord } from '../last-record.ts'
import { timestamp, whenWords } from '../report-lines.ts'
import { scoreStory, tierStory } from '../score-story.ts'
import { isStore, namedPlace } from '../store-operand.ts'
import { hostStanding, MAX_CHAIN, storyWords, type Step, type Story } from '../url-story.ts'
import { visitStory } from '../visit-story.ts'

export async function whyCommand(invocation: Invocation): Promise<number> {
  const { parsed, terminal, version } = invocation
  const [url = '', ...named] = parsed.operands
  const { place: folder, others: workers } = namedPlace(named, invocation)
  if (isStore(folder)) {
    const now = createSystemClock().now()
    const story = await fleetStory(readSeed(url), folder, workers, invocation, now)
    terminal.result(story, () => storyWords(story, now))
    return EXIT.done
  }
  if (workers.length > 0) {
    throw new TiptoeError('usage', 'the folders of workers tell the story together with their store', {
      hint: 'tiptoe why URL redis://… WORKERDIR… --crawl NAME',
    })
  }
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
  const { inspector, scope, registry, strip, settings } = view
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
    host: hostStanding(inspector.hostByKey(hostKey(asked)), settings, now),
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
