import { expect, test } from 'vitest'
import { createVirtualClock } from '../base/index.ts'
import { settingsFromLibrary } from '../config/index.ts'
import type { NormalizedUrl } from '../model/index.ts'
import { openCrawl } from './index.ts'
import { createVirtualWeb, linksTo } from './test-support/virtual-web.ts'

const SITE = 'http://a.test'
const SEED = `${SITE}/` as NormalizedUrl
const SLOW = `${SITE}/slow`
const CHAIN = 20

test('what is found is asked for at once while nothing else can be, though a lease will run out some time', async () => {
  const clock = createVirtualClock()
  const chain = Array.from({ length: CHAIN }, (_, index) => [`${SITE}/${index}`, linksTo(`/${index + 1}`)])
  const pages = { ...Object.fromEntries(chain), [SEED]: linksTo('/slow', '/0'), [SLOW]: '', [`${SITE}/${CHAIN}`]: '' }
  const web = createVirtualWeb(clock, pages, (url) => (url === SLOW ? 10_000 : 1))
  const settings = settingsFromLibrary({ delay: 0, perHost: 2, sitemaps: false }, '0.0.0')
  const crawl = await openCrawl({ settings, seeds: [SEED], store: 'memory', clock, fetcher: web.fetcher })
  const over = crawl.run()
  await clock.advance(20_000)
  expect(await over).toBe('finished')
  await crawl.close()
  const at = (path: string): number => web.requests.find(({ url }) => url === `${SITE}${path}`)?.at ?? NaN
  // Gathered for 5 ms each, and not for the 40 that pages wait for company otherwise.
  expect(at(`/${CHAIN}`) - at('/0')).toBeLessThan(CHAIN * 10)
})
