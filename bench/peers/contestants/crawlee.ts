/**
 * Crawlee of npm: HttpCrawler with its queue in memory and on its default disk store, and CheerioCrawler in memory.
 * robots.txt on, exactly 32 requests at once, no delay, links of the same host. HttpCrawler leaves links to its user,
 * who here takes them with a regular expression and leaves out those of other hosts and those that a page has twice, which
 * is faster than what Crawlee does with all as they stand. CheerioCrawler finds them itself.
 */
import { join } from 'node:path'
import { CONCURRENCY, type Contestant } from '../contestant.ts'
import { installModules } from '../npm-modules.ts'

const VERSION = '^3.18.1'

const kinds = {
  'Crawlee HttpCrawler': ['http', 'memory'],
  'Crawlee HttpCrawler, links as they stand': ['unsifted', 'memory'],
  'Crawlee HttpCrawler on disk': ['http', 'disk'],
  'Crawlee CheerioCrawler': ['cheerio', 'memory'],
}

export const crawlee: readonly Contestant[] = Object.entries(kinds).map(([name, kind]) => ({
  name,
  setUp({ home, url, out }) {
    const modules = join(home, 'crawlee')
    const failed = installModules(modules, { '@crawlee/http': VERSION, '@crawlee/cheerio': VERSION })
    if (failed !== undefined) return failed
    return {
      program: process.execPath,
      words: [join(import.meta.dirname, 'crawlee-crawler.mjs'), modules, ...kind, url, String(CONCURRENCY)],
      env: { CRAWLEE_STORAGE_DIR: join(out, 'storage'), CRAWLEE_LOG_LEVEL: 'ERROR' },
    }
  },
}))
