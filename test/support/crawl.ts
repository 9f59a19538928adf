/** A crawl inside the test's own process: the engine as the command line opens it, without folder or terminal. */
import { parseArguments, resolveSettings, type Settings } from '../../src/config/index.ts'
import { openCrawl, type Crawl, type CrawlOptions, type EndReason } from '../../src/engine/index.ts'
import type { FrontierStats } from '../../src/frontier/index.ts'
import type { FailRecord, PageRecord, SkipRecord } from '../../src/model/index.ts'
import { normalizeUrl } from '../../src/url/index.ts'
import type { CrawlOutput } from './crawl-output.ts'
import type { LoopbackWeb } from './loopback-web.ts'
import { reach } from './program.ts'

export interface CrawlOutcome extends CrawlOutput {
  readonly end: EndReason
  readonly stats: FrontierStats
}

/** Settings from words as they are typed; the web's hosts are reachable, and no retry is waited for long. */
export function settingsFor(webs: readonly LoopbackWeb[], words: readonly string[]): Settings {
  const { flags } = parseArguments([...words, ...reach(...webs)])
  return resolveSettings({ version: '0', flags, environment: { TIPTOE_RETRY_DELAY: '20ms' } }).settings
}

/** Opens a crawl of the URLs among `words`, in memory unless `options` name a store. */
export function openTestCrawl(
  webs: readonly LoopbackWeb[],
  words: readonly string[],
  options: Partial<CrawlOptions> = {},
): Promise<Crawl> {
  const settings = settingsFor(webs, words)
  const seeds = settings.seeds.map((seed) => normalizeUrl(seed)).filter((seed) => seed !== undefined)
  return openCrawl({ settings, seeds, store: 'memory', ...options })
}

/** Runs such a crawl to its end. */
export async function crawl(
  webs: LoopbackWeb | readonly LoopbackWeb[],
  words: readonly string[],
  options: Partial<CrawlOptions> = {},
): Promise<CrawlOutcome> {
  const opened = await openTestCrawl([webs].flat(), words, options)
  const pages: PageRecord[] = []
  const skipped: SkipRecord[] = []
  const failed: FailRecord[] = []
  opened.events.on('page', (page) => pages.push(page))
  opened.events.on('skip', (record) => skipped.push(record))
  opened.events.on('fail', (record) => failed.push(record))
  try {
    const end = await opened.run()
    return { end, pages, skipped, failed, stats: await opened.stats() }
  } finally {
    await opened.close()
  }
}
