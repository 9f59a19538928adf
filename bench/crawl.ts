/**
 * What does a crawl cost? A generated site of pages like those of real documentation is crawled by `tiptoe`, in turns
 * with others, each in a process of its own.
 *
 *   npx node bench/crawl.ts [pages] [repetitions] [-- WORDS]           beside a bare loop that only fetches; and a profile
 *   npx node bench/crawl.ts [pages] [repetitions] --without LIST|all   without each of these promises: what it costs
 *                                                 [--base links]       of a crawl for links only, not of everything
 *
 * CPU seconds per 1,000 pages are what to compare: with server and crawler on two cores, pages per second also tell
 * of the server and of whoever else uses the machine. WORDS are flags for the crawler.
 */
import { parseArgs } from 'node:util'
import { compareWithBareLoop } from './crawl/beyond-fetching.ts'
import { measureCosts } from './crawl/cost-of-promises.ts'
import { PROMISES } from './crawl/promises.ts'
import { openSiteCrawls } from './crawl/site-crawl.ts'

const divide = process.argv.indexOf('--')
const words = divide === -1 ? [] : process.argv.slice(divide + 1)
const { values, positionals } = parseArgs({
  args: process.argv.slice(2, divide === -1 ? undefined : divide),
  options: { without: { type: 'string' }, base: { type: 'string', default: 'everything' } },
  allowPositionals: true,
})
const [pages = 4_000, repetitions = 3] = positionals.map(Number)

const site = await openSiteCrawls(pages)
try {
  const { without: names, base } = values
  if (names === undefined) await compareWithBareLoop(site, { pages, repetitions, words })
  else {
    const without = names === 'all' ? Object.keys(PROMISES) : names.split(',')
    await measureCosts(site, { pages, repetitions, without, base, words })
  }
} finally {
  site.close()
}
