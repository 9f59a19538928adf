/** The records that a crawl left, read back strictly: a line that is no record is an error, never passed over. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FailRecord, PageRecord, SkipRecord } from '../../src/model/index.ts'

export interface CrawlOutput {
  readonly pages: readonly PageRecord[]
  readonly skipped: readonly SkipRecord[]
  readonly failed: readonly FailRecord[]
}

export function readOutput(folder: string): CrawlOutput {
  return {
    pages: readLines(join(folder, 'pages.jsonl')),
    skipped: readLines(join(folder, 'skipped.jsonl')),
    failed: readLines(join(folder, 'failed.jsonl')),
  }
}

/** Every whole line of a file of records; a last line without its end is an error. */
export function readLines<T>(path: string): T[] {
  if (!existsSync(path)) return []
  const text = readFileSync(path, 'utf8')
  if (text !== '' && !text.endsWith('\n')) throw new Error(`${path} ends in a torn line: ${text.slice(-200)}`)
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as T)
}

/** The URL of every record, of all three files. */
export function recordedUrls({ pages, skipped, failed }: CrawlOutput): string[] {
  return [...pages, ...skipped, ...failed].map(({ url }) => url)
}

/** What became of each URL, as `page`, the reason of a skip or the error of a failure. Throws on a second record. */
export function endings({ pages, skipped, failed }: CrawlOutput): Map<string, string> {
  const found = new Map<string, string>()
  const note = (url: string, ending: string): void => {
    if (found.has(url)) throw new Error(`${url} has two records: ${found.get(url)} and ${ending}`)
    found.set(url, ending)
  }
  for (const { url } of pages) note(url, 'page')
  for (const { url, reason } of skipped) note(url, reason)
  for (const { url, error } of failed) note(url, error)
  return found
}

/**
 * The output without what differs from run to run: the times, and by which path a page was first found. Its order depends
 * on the URLs alone.
 */
export function timeless(output: CrawlOutput): unknown {
  const strip = (records: readonly { readonly url: string }[]): unknown[] =>
    [...records]
      .sort((a, b) => (a.url < b.url ? -1 : 1))
      .map((record) => ({
        ...record,
        fetchedAt: 0,
        at: 0,
        answerMs: 0,
        durationMs: 0,
        referrer: null,
        depth: 0,
        // Of two copies the one that is fetched later is the copy.
        duplicateOf: undefined,
        duplicateBy: undefined,
      }))
  return { pages: strip(output.pages), skipped: strip(output.skipped), failed: strip(output.failed) }
}
