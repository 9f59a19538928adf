import { describe, expect, test } from 'vitest'
import { createRng } from '../../base/index.ts'
import { contentSample } from '../../content/index.ts'
import type { HostKey, NormalizedUrl } from '../../model/index.ts'
import { prose, token } from '../traps/test-support/sites.ts'
import { createTrapsCache, type TaughtPage, type Telling, type TrapsCache } from './traps-cache.ts'

const HOST = 'a.test' as HostKey
const urlOf = (number: number, session: string): NormalizedUrl =>
  `https://a.test/${prose(`${number}`, 2).replace(' ', '/')}-${number}?sid=${token(session)}` as NormalizedUrl
const pageOf = (number: number, session = `first ${number}`): TaughtPage => {
  const url = urlOf(number, session)
  return { url, sample: contentSample(prose(`page ${number}`, 40), url, ''), referrer: undefined, links: [] }
}

/** What a server has of the host: it takes a text on top of the version that it has, and no other. */
function createServer() {
  let version = 0
  let text: string | undefined
  return {
    update(cache: TrapsCache): void {
      if ((cache.version(HOST) ?? 0) !== version) cache.read(HOST, version, text)
    },
    take(telling: Telling): number | undefined {
      if (telling.version !== version) return undefined
      text = telling.text
      return ++version
    },
  }
}

/** Reads these pages, each by one of so many workers, and answers what one who comes late is told. */
function readBy(workers: number, pages: readonly TaughtPage[]): TrapsCache {
  const server = createServer()
  const rng = createRng(1)
  const caches = Array.from({ length: workers }, createTrapsCache)
  for (const page of pages) {
    const cache = caches[rng.int(workers)] as TrapsCache
    server.update(cache)
    cache.learn(HOST, page)
    const telling = cache.tell(HOST)
    if (telling === undefined) continue
    const version = server.take(telling)
    if (version === undefined) cache.refused(telling)
    else cache.told(telling, version)
  }
  const late = createTrapsCache()
  server.update(late)
  return late
}

/** Of the first so many pages, those that are known to have been read, whatever their session. */
const knownOf = (cache: TrapsCache, count: number): number =>
  Array.from({ length: count }, (_, number) => urlOf(number, 'another')).filter(
    (url) => cache.get(HOST).judge(url) !== undefined,
  ).length

describe('what several workers learn of a large host', () => {
  const COUNT = 1_500
  const once = Array.from({ length: COUNT }, (_, number) => pageOf(number))
  // Some come twice, which tells that sessions make no difference.
  const pages = [...once.slice(0, 4), ...[0, 1, 2, 3].map((number) => pageOf(number, 'second')), ...once.slice(4)]

  test.each([1, 2, 5])('is told to all but for the latest pages, with %i of them', (workers) => {
    const known = knownOf(readBy(workers, pages), COUNT)
    // Each has at most as many pages of its own as are told at once.
    expect(known).toBeGreaterThan(COUNT - workers * 130)
  })

  test('is as it was when pages are taken back, which were not settled', () => {
    const server = createServer()
    const cache = createTrapsCache()
    for (const page of pages) {
      cache.learn(HOST, page)
      const telling = cache.tell(HOST)
      if (telling !== undefined) cache.told(telling, server.take(telling) as number)
    }
    const before = cache.get(HOST).serialise()
    const extra = pageOf(COUNT)
    cache.learn(HOST, extra)
    cache.unlearn(HOST, new Set([extra.url]))
    expect(cache.version(HOST)).toBeUndefined()
    server.update(cache)
    expect(cache.get(HOST).serialise()).toBe(before)
  })
})
