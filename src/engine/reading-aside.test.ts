import { expect, test } from 'vitest'
import { createVirtualClock } from '../base/index.ts'
import { settingsFromLibrary } from '../config/index.ts'
import type { NormalizedUrl } from '../model/index.ts'
import { createInlineReader, type Backlog, type Reader } from '../reading/index.ts'
import { openCrawl } from './index.ts'
import { createVirtualWeb, linksTo } from './test-support/virtual-web.ts'

const SITE = 'http://a.test'
const SEED = `${SITE}/` as NormalizedUrl
const PATHS = Array.from({ length: 20 }, (_, index) => `/${index}`)
const READING_MS = 100

/** A crawl of twenty pages by one request at a time, each of which takes a while to read. */
async function crawlWith(backlog: () => Backlog | undefined) {
  const clock = createVirtualClock()
  const pages = Object.fromEntries(PATHS.map((path) => [`${SITE}${path}`, `<title>${path}</title>`]))
  const web = createVirtualWeb(clock, { ...pages, [SEED]: linksTo(...PATHS) }, () => 1)
  const inline = createInlineReader()
  let unread = 0
  let mostUnread = 0
  const reader: Reader = {
    async read(input, signal) {
      unread += 1
      mostUnread = Math.max(mostUnread, unread)
      await clock.sleepUntil(clock.now() + READING_MS, signal)
      unread -= 1
      return inline.read(input, signal)
    },
    get backlog() {
      return backlog()
    },
    close: inline.close,
  }
  const settings = settingsFromLibrary({ delay: 0, perHost: 1, sitemaps: false, traps: false }, '0.0.0')
  const crawl = await openCrawl({ settings, seeds: [SEED], store: 'memory', clock, fetcher: web.fetcher, reader })
  const over = crawl.run()
  await clock.advance(10_000)
  expect(await over).toBe('finished')
  const stats = await crawl.stats()
  await crawl.close()
  const asked = web.requests.filter(({ url }) => url !== `${SITE}/robots.txt`)
  return { stats, mostUnread, tookMs: (asked.at(-1)?.at ?? 0) - (asked[0]?.at ?? 0) }
}

test('a slot asks for the next page while another thread reads the last', async () => {
  const { stats, mostUnread, tookMs } = await crawlWith(() => 'short')
  expect(stats).toMatchObject({ done: 21, queued: 0, leased: 0 })
  expect(mostUnread).toBeGreaterThan(10)
  expect(tookMs).toBeLessThan(5 * READING_MS)
})

test.each([undefined, 'long'] as const)(
  'with a backlog that is %s it waits until the page is read',
  async (backlog) => {
    const { stats, mostUnread, tookMs } = await crawlWith(() => backlog)
    expect(stats).toMatchObject({ done: 21, queued: 0, leased: 0 })
    expect(mostUnread).toBe(1)
    expect(tookMs).toBeGreaterThanOrEqual(20 * READING_MS)
  },
)
