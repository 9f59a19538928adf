/** Fetching a robots.txt, and what its answer means for the origin (RFC 9309 §2.3.1). */
import type { FetchOutcome } from '../fetch/index.ts'
import type { FoundUrl, NormalizedUrl, RobotsRecord, Task } from '../model/index.ts'
import { parseRobots, ROBOTS_MAX_BYTES } from '../robots/index.ts'
import { normalizeUrl } from '../url/index.ts'
import type { TaskContext, TaskResult } from './context.ts'
import { redirectTarget } from './redirect.ts'
import { isOverloaded, retryAfterMs, retryLater } from './retry.ts'

/** RFC 9309 §2.4: not to be used for longer than a day. */
const FRESH_MS = 86_400_000
/** How long we take the word of an origin whose robots.txt could not be had. */
const REFUSED_MS = 3_600_000
/** RFC 9309 §2.3.1.2: at least five; beyond them the file counts as unavailable. */
const MAX_REDIRECTS = 5
/** Sitemap lines taken from one file. */
const MAX_SITEMAPS = 200

export async function runRobotsTask(task: Task, context: TaskContext): Promise<TaskResult> {
  const { settings, fetcher, registry, signal } = context
  const judge = createJudge(task, context)
  if (settings.ignoreRobotsBecause !== undefined) {
    const detail = `robots.txt is not asked for: ${settings.ignoreRobotsBecause}`
    return conclude(judge.record({ state: 'allow-all', status: null, detail }), [])
  }
  const outcome = await fetcher.fetch(
    { url: task.url, accept: 'text/plain,*/*;q=0.5', maxBodyBytes: ROBOTS_MAX_BYTES },
    signal,
  )
  return judge.judge(outcome)

  function conclude(record: RobotsRecord, sitemaps: readonly FoundUrl[]): TaskResult {
    registry.learn(record)
    return { outcome: { kind: 'done' }, robots: record, found: sitemaps }
  }

  function createJudge(of: Task, { clock }: TaskContext) {
    const record = (part: Pick<RobotsRecord, 'state' | 'status' | 'detail'> & Partial<RobotsRecord>): RobotsRecord => ({
      origin: of.origin,
      refusal: null,
      fetchedAt: clock.now(),
      expiresAt: clock.now() + FRESH_MS,
      body: '',
      crawlDelayMs: 0,
      ...part,
    })
    const refuse = (status: number | null, detail: string, refusal: RobotsRecord['refusal']): TaskResult =>
      conclude(record({ state: 'disallow-all', status, detail, refusal, expiresAt: clock.now() + REFUSED_MS }), [])

    const judge = (fetched: FetchOutcome): TaskResult => {
      switch (fetched.kind) {
        case 'aborted':
          return { outcome: { kind: 'returned' }, answeredAt: clock.now() }
        case 'refused':
          return refuse(null, fetched.detail, 'address')
        case 'error': {
          const times = fetched.sent ? { answeredAt: fetched.answeredAt } : {}
          const again = retryLater(of, context)
          if (again !== undefined) return { ...again, ...times }
          if (fetched.offline && context.isOffline()) return { outcome: { kind: 'returned' }, offline: fetched.detail }
          return { ...refuse(null, fetched.detail, 'robots-unreachable'), ...times }
        }
        case 'response':
          return { ...answered(fetched), answeredAt: fetched.answeredAt }
      }
    }

    const answered = (response: Extract<FetchOutcome, { kind: 'response' }>): TaskResult => {
      const { status } = response
      if (status >= 200 && status < 300) return accept(status, new TextDecoder().decode(response.body))
      if (status >= 300 && status < 400) {
        const target = redirectTarget(response, of.url)
        if (target !== undefined && of.redirects < MAX_REDIRECTS) return { outcome: { kind: 'moved', url: target } }
        const why = target === undefined ? 'a redirect without a target' : `more than ${MAX_REDIRECTS} redirects`
        return withSitemaps(record({ state: 'allow-all', status, detail: `no robots.txt: ${why}` }), [])
      }
      if (status >= 400 && status < 500 && status !== 429) {
        return withSitemaps(record({ state: 'allow-all', status, detail: `no robots.txt: HTTP ${status}` }), [])
      }
      const again = retryLater(of, context)
      if (again === undefined) return refuse(status, `robots.txt answered HTTP ${status}`, 'robots-unreachable')
      const asked = isOverloaded(status) ? retryAfterMs(response.headers.get('retry-after'), clock.now()) : undefined
      if (asked === undefined || again.outcome.kind !== 'retry') return again
      return { outcome: { ...again.outcome, notBefore: Math.max(again.outcome.notBefore, clock.now() + asked) } }
    }

    const accept = (status: number, body: string): TaskResult => {
      const rules = parseRobots(body)
      const asked = settings.respectCrawlDelay ? (rules.crawlDelayMs(context.productToken) ?? 0) : 0
      const tooLong = asked > settings.maxCrawlDelayMs
      if (tooLong && settings.crawlDelayOverMax === 'skip') {
        const detail = `Crawl-delay ${asked / 1_000}s is longer than max_crawl_delay ${settings.maxCrawlDelayMs / 1_000}s`
        return conclude(record({ state: 'disallow-all', status, detail, refusal: 'crawl-delay', body }), [])
      }
      const crawlDelayMs = Math.min(asked, settings.maxCrawlDelayMs)
      const detail = `HTTP ${status}, ${body.length} characters`
      return withSitemaps(record({ state: 'rules', status, detail, body, crawlDelayMs }), rules.sitemaps)
    }

    const withSitemaps = (made: RobotsRecord, named: readonly string[]): TaskResult => {
      if (!settings.sitemaps) return conclude(made, [])
      const urls = named.slice(0, MAX_SITEMAPS).flatMap((line) => normalizeUrl(line, `${of.origin}/`) ?? [])
      // The usual place is worth a request only where the file names no other.
      const all = urls.length > 0 ? urls : [`${of.origin}/sitemap.xml` as NormalizedUrl]
      return conclude(
        made,
        all.map((url): FoundUrl => ({ url, kind: 'sitemap', depth: 0, via: 'sitemap' })),
      )
    }

    return { record, judge }
  }
}
