/** The audit must be able to fail: the parts that keep the pace are broken on purpose, and the alarm is seen. */
import { expect, test } from 'vitest'
import { createFrontier, type Frontier, type FrontierOptions } from '../../src/frontier/index.ts'
import type { ImpoliteRequest } from '../../src/model/index.ts'
import { openTestCrawl } from '../support/crawl.ts'
import { page, sideBySide } from '../support/side-by-side.ts'

const { webOf } = sideBySide()

/** Crawls four pages with a delay of 40 ms on a frontier made by `open`, and gives what the audit said. */
async function alarmsOf(open: (options: FrontierOptions) => Frontier) {
  const web = await webOf({ 'a.test': ({ path }) => (path === '/' ? page('/1', '/2', '/3') : page()) })
  const words = [web.url('a.test'), '--delay', '40ms', '--no-sitemaps']
  const crawl = await openTestCrawl([web], words, { openFrontier: open })
  const alarms: ImpoliteRequest[] = []
  crawl.events.on('impolite', (alarm) => alarms.push(alarm))
  try {
    await crawl.run()
    return { alarms, counted: (await crawl.stats()).impolite }
  } finally {
    await crawl.close()
  }
}

test('a crawl that keeps its pace raises no alarm', async () => {
  const { alarms, counted } = await alarmsOf((options) => createFrontier({ ...options, store: 'memory' }))
  expect([alarms, counted]).toEqual([[], 0])
})

test('a frontier that drops the delay is caught, and counted', async () => {
  const policyOf = () => ({ delayMs: 0, concurrency: 1 })
  const latency = { factor: 0, maxDelayMs: 0 }
  const { alarms, counted } = await alarmsOf((options) =>
    createFrontier({ ...options, policyOf, latency, store: 'memory' }),
  )
  expect(new Set(alarms.map(({ kind }) => kind))).toEqual(new Set(['pace']))
  expect(counted).toBe(alarms.length)
})
