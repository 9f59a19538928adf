import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { page } from '../../../test/conformance/harness.ts'
import { createVirtualClock, type VirtualClock } from '../../base/index.ts'
import type { UrlKey } from '../../model/index.ts'
import { createFrontier, openInspector } from '../index.ts'
import { workOff } from '../test-support/work-off.ts'
import { totalsOf, type CarriedTotals } from '../transfer.ts'
import { openEmbeddedSource, type EmbeddedSource } from './transfer-source.ts'
import { openEmbeddedTarget } from './transfer-target.ts'

const root = mkdtempSync(join(tmpdir(), 'tiptoe-transfer-'))
let serial = 0
const folder = (): string => join(root, String(serial++))
afterAll(() => rmSync(root, { recursive: true }))

const BAR = { message: 'half of it is here', hint: 'go on' }

async function crawlWithEveryState(clock: VirtualClock): Promise<string> {
  const store = folder()
  const frontier = createFrontier({ store, clock, maxDepth: 1, maxPages: 2 })
  await frontier.add([
    page('https://a.test/'),
    page('https://a.test/fails'),
    page('https://a.test/later'),
    page('https://a.test/skipped'),
    page('https://a.test/more'),
    page('https://b.test/'),
    page('https://b.test/too/deep', 2),
    { ...page('https://b.test/sitemap.xml', 1), kind: 'sitemap', via: 'sitemap' },
  ])
  await workOff(frontier, clock, ({ url }) => {
    if (url.endsWith('fails')) return { kind: 'failed', code: 'timeout' }
    if (url.endsWith('later')) return { kind: 'retry', notBefore: clock.now() + 3_600_000, counts: true }
    if (url.endsWith('skipped')) return { kind: 'skipped', reason: 'robots' }
    return { kind: 'done' }
  })
  await frontier.close()
  return store
}

/** Carries everything over, in portions of three; stops after so many of them when told. */
function carry(source: EmbeddedSource, to: string, clock: VirtualClock, portions = Infinity): boolean {
  const target = openEmbeddedTarget(to, BAR, { clock })
  const totals: CarriedTotals = totalsOf(source.counters)
  try {
    for (let left = portions; left > 0; left--) {
      const at = JSON.parse(target.progress ?? '{"of":"hosts","behind":0}') as { of: 'hosts' | 'urls'; behind: number }
      if (at.of === 'hosts') {
        const { items, next } = source.hosts(at.behind, 3)
        const progress = next === null ? { of: 'urls', behind: 0 } : { of: 'hosts', behind: next }
        target.portion(JSON.stringify(progress), (writer) => items.forEach((host) => writer.host(host)))
        continue
      }
      const { items, next } = source.urls(at.behind, 3)
      target.portion(JSON.stringify({ of: 'urls', behind: next ?? 1e9 }), (writer) =>
        items.forEach((url) => writer.url(url)),
      )
      if (next !== null) continue
      target.complete(totals)
      return true
    }
    return false
  } finally {
    target.close()
  }
}

test('a crawl that is carried to another folder is the same crawl there', async () => {
  const clock = createVirtualClock()
  const from = await crawlWithEveryState(clock)
  const source = openEmbeddedSource(from)
  const to = folder()
  expect(carry(source, to, clock)).toBe(true)
  source.close()
  const [there, here] = [openInspector(from), openInspector(to)]
  expect(here.counters()).toEqual(there.counters())
  expect(here.tally()).toEqual(there.tally())
  expect([...here.hosts()].map(({ due: _due, ...host }) => host)).toEqual(
    [...there.hosts()].map(({ due: _due, ...host }) => host),
  )
  for (const url of ['https://a.test/', 'https://a.test/later', 'https://b.test/too/deep']) {
    expect(here.find('page', url as UrlKey)).toEqual(there.find('page', url as UrlKey))
  }
  there.close()
  here.close()
})

test('nothing that was done is asked again, all that was open is, and no host before its delay', async () => {
  const clock = createVirtualClock()
  const from = await crawlWithEveryState(clock)
  const source = openEmbeddedSource(from)
  const { counters } = source
  const to = folder()
  carry(source, to, clock)
  source.close()
  const frontier = createFrontier({ store: to, clock, maxDepth: 1, maxPages: 100 })
  const due = await frontier.host('a.test' as never)
  expect(due?.answeredAt).not.toBeNull()
  await clock.advance(3_600_000)
  const ended = await workOff(frontier, clock, ({ url }) =>
    url.endsWith('deep') ? { kind: 'skipped', reason: 'depth' } : { kind: 'done' },
  )
  const asked = ended.map(({ url }) => url)
  const { discovered, queued, done } = await frontier.stats()
  expect({ discovered, queued }).toEqual({ discovered: counters.discovered, queued: 0 })
  const { failed, skipped } = counters
  expect(done).toBe(discovered - 1 - failed - (skipped['robots'] ?? 0))
  expect(asked).toContain('https://a.test/later')
  expect(new Set(asked).size).toBe(asked.length)
  await frontier.close()
})

test('a move that was cut short goes on where it stopped, and nobody works on the crawl meanwhile', async () => {
  const clock = createVirtualClock()
  const from = await crawlWithEveryState(clock)
  const source = openEmbeddedSource(from)
  const to = folder()
  expect(carry(source, to, clock, 2)).toBe(false)
  expect(() => createFrontier({ store: to, clock })).toThrow('half of it is here')
  expect(carry(source, to, clock)).toBe(true)
  source.close()
  const here = openInspector(to)
  expect(here.counters()).toEqual(source.counters)
  here.close()
})

test('a crawl that was moved away is refused with where it went', async () => {
  const clock = createVirtualClock()
  const from = await crawlWithEveryState(clock)
  const source = openEmbeddedSource(from)
  source.setBar({ message: 'it went to the fleet', hint: 'go there' })
  source.close()
  expect(() => createFrontier({ store: from, clock })).toThrow('it went to the fleet')
})
