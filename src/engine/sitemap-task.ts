/** Reading a sitemap or feed: its pages and further sitemaps become URLs of the crawl. */
import type { FoundUrl, Task } from '../model/index.ts'
import { parseSitemap, SITEMAP_MAX_DECODED_BYTES } from '../parse/index.ts'
import type { TaskContext, TaskResult } from './context.ts'
import { failed, skipped } from './records.ts'
import { redirectTarget } from './redirect.ts'
import { backOff, isOverloaded, retryLater } from './retry.ts'

/** Index files above a sitemap, at most: the protocol allows one, real sites use two. */
const MAX_NESTING = 3
/** URLs are handed over in portions, so that a sitemap of 50,000 does not hold up everything else. */
const PORTION = 1_000

export async function runSitemapTask(task: Task, context: TaskContext): Promise<TaskResult> {
  const { fetcher, registry, settings, clock, signal } = context
  const verdict = await registry.verdict(task.url)
  if (verdict === undefined) return { outcome: { kind: 'returned' } }
  if (!verdict.allowed) return skipped(task, { reason: verdict.reason }, context)
  const accept = 'application/xml,text/xml,text/plain;q=0.8,*/*;q=0.5'
  const fetched = await fetcher.fetch({ url: task.url, accept, maxBodyBytes: SITEMAP_MAX_DECODED_BYTES }, signal)
  if (fetched.kind === 'aborted') return { outcome: { kind: 'returned' }, answeredAt: clock.now() }
  if (fetched.kind === 'refused') return skipped(task, { reason: 'address' }, context)
  const times = fetched.kind === 'response' || fetched.sent ? { answeredAt: fetched.answeredAt } : {}
  if (fetched.kind === 'error') {
    return { ...(retryLater(task, context) ?? failed(task, fetched, context)), ...times }
  }
  if (isOverloaded(fetched.status)) {
    const outcome = retryLater(task, context) ?? failed(task, { code: 'http' }, context)
    // A sitemap that is refused says nothing of the pages.
    return { ...outcome, ...times, host: { ...backOff(fetched, context), strikes: context.lease.strikes } }
  }
  if (fetched.status >= 500) {
    return { ...(retryLater(task, context) ?? failed(task, { code: 'http' }, context)), ...times }
  }
  if (fetched.status >= 300 && fetched.status < 400) {
    const target = redirectTarget(fetched, task.url)
    const follow = target !== undefined && task.redirects < settings.maxRedirects
    const found: FoundUrl[] = follow
      ? [
          {
            url: target,
            kind: 'sitemap',
            depth: 0,
            via: 'redirect',
            redirects: task.redirects + 1,
            nesting: task.nesting,
          },
        ]
      : []
    return { outcome: { kind: 'done' }, ...times, found }
  }
  if (fetched.status >= 400) return { outcome: { kind: 'done' }, ...times }
  return { outcome: { kind: 'done' }, ...times, found: await read(fetched.body, task, context) }
}

/** What the sitemap names and the scope admits; all but the last portion has been handed over already. */
async function read(body: Uint8Array, task: Task, context: TaskContext): Promise<FoundUrl[]> {
  let found: FoundUrl[] = []
  for await (const entry of parseSitemap(body, task.url)) {
    if (entry.kind === 'sitemap') {
      if (task.nesting >= MAX_NESTING) continue
      found.push({
        url: entry.loc,
        kind: 'sitemap',
        depth: 0,
        via: 'sitemap',
        referrer: task.url,
        nesting: task.nesting + 1,
      })
    } else if (context.scope.check(entry.loc).inScope) {
      const tier = context.tierOf(entry.loc)
      // As deep as a link from a seed: the sitemap is the site's own front page.
      found.push({ url: entry.loc, kind: 'page', depth: 1, via: 'sitemap', ...(tier === undefined ? {} : { tier }) })
    }
    if (found.length < PORTION) continue
    await context.addEarly(found)
    found = []
  }
  return found
}
