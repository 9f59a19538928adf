/** The parts at the library's door: what plain JavaScript may pass, and what it is told when it may not. */
import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import {
  createFrontier,
  createHostLimiter,
  createHostRegistry,
  createNearDuplicateIndex,
  createVirtualClock,
  decodeBody,
  extractLinks,
  hammingDistance,
  hostKey,
  isPublicAddress,
  normalizeUrl,
  originOf,
  parseRobots,
  parseSitemap,
  simhash,
  urlKey,
  type Clock,
  type SitemapReading,
} from '../../src/index.ts'
import { sharedRedis } from '../support/redis/shared.ts'

const PAGE = 'https://docs.example/a/'
const ROBOTS = 'User-agent: *\nDisallow: /private'
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
/** A value of any type, past the compiler. */
const wrong = (value: unknown): never => value as never

async function locs(reading: SitemapReading): Promise<string[]> {
  const found: string[] = []
  for await (const { loc } of reading) found.push(loc)
  return found
}

describe('what can only mean one thing is taken', () => {
  it('robots.txt as text or bytes, URLs as text or URL', () => {
    for (const body of [ROBOTS, bytes(ROBOTS), Buffer.from(ROBOTS), wrong(bytes(ROBOTS).buffer)]) {
      const robots = parseRobots(body)
      expect(robots.check('Teapot', wrong(new URL('/private', PAGE)))).toMatchObject({ allowed: false, line: 2 })
      expect(robots.crawlDelayMs('Teapot')).toBeUndefined()
      expect(robots.sitemaps).toEqual([])
    }
  })

  it('URLs as text or URL, and no base for none', () => {
    expect(normalizeUrl(new URL(PAGE))).toBe(PAGE)
    expect(normalizeUrl('../b', new URL(PAGE))).toBe('https://docs.example/b')
    expect(normalizeUrl(PAGE, null)).toBe(PAGE)
    expect(normalizeUrl('b', 'no base')).toBeUndefined()
    expect(urlKey(new URL('https://docs.example/%7ea'))).toBe('https://docs.example/~a')
    expect(hostKey(new URL('https://docs.example:8443/'))).toBe('docs.example')
    expect(originOf('http://docs.example:80/a')).toBe('http://docs.example')
  })

  it('a page as text or bytes', () => {
    const html = '<meta charset=utf-8><a href="é">'
    const expected = [{ url: 'https://docs.example/a/%C3%A9', rel: [], source: 'a', nofollow: false }]
    expect(extractLinks(html, PAGE)).toEqual(expected)
    expect(extractLinks(bytes(html), new URL(PAGE))).toEqual(expected)
  })

  it('a sitemap as text, bytes or a stream, whatever encoding the text says that it had', async () => {
    const xml = '<?xml version="1.0" encoding="iso-8859-1"?><urlset><url><loc>/é</loc></url></urlset>'
    const url = 'https://docs.example/sitemap.xml'
    const expected = ['https://docs.example/%C3%A9']
    expect(await locs(parseSitemap(xml, url))).toEqual(expected)
    expect(await locs(parseSitemap(Buffer.from(xml, 'latin1'), new URL(url)))).toEqual(expected)
    expect(await locs(parseSitemap(new Blob([Buffer.from(xml, 'latin1')]).stream(), url))).toEqual(expected)
  })

  it('a body without a content type', () => {
    expect(decodeBody(bytes('é'))).toEqual({ text: 'é', charset: 'utf-8' })
    expect(decodeBody(bytes('é'), null)).toEqual({ text: 'é', charset: 'utf-8' })
    expect(decodeBody(bytes('é'), undefined)).toEqual({ text: 'é', charset: 'utf-8' })
    expect(decodeBody(wrong(new DataView(bytes('é').buffer)))).toEqual({ text: 'é', charset: 'utf-8' })
  })

  it('options left out', async () => {
    const index = createNearDuplicateIndex()
    index.add(0n, 'a')
    expect(index.find(0b111n)).toEqual([{ id: 'a', distance: 3 }])
    expect(index.find(0b1111n)).toEqual([])
    expect(createHostLimiter().size).toBe(0)
    expect(createHostLimiter({ clock: undefined }).size).toBe(0)
    const registry = createHostRegistry({ productToken: 'Teapot' })
    expect(registry.policyOf(hostKey(PAGE))).toEqual({ delayMs: 1_000, concurrency: 1 })
    expect(await registry.verdict(wrong(PAGE))).toBeUndefined()
    const frontier = createFrontier()
    expect((await frontier.stats()).discovered).toBe(0)
    await frontier.close()
  })

  it('anything at all is no public address unless it is one', () => {
    expect(isPublicAddress('1.1.1.1')).toBe(true)
    for (const value of ['', 'docs.example', '1.1.1', undefined, null, 1, {}])
      expect(isPublicAddress(wrong(value))).toBe(false)
  })
})

describe('the rest is refused with a TypeError that names the argument', () => {
  it.each<[string, () => unknown, string]>([
    ['parseRobots', () => parseRobots(wrong(undefined)), 'body must be a string or a Uint8Array, not undefined'],
    ['check', () => parseRobots('').check(wrong(null), '/'), 'productToken must be a string, not null'],
    ['check', () => parseRobots('').check('Teapot', wrong(7)), 'url must be a string or a URL, not number'],
    ['crawlDelayMs', () => parseRobots('').crawlDelayMs(wrong([])), 'productToken must be a string, not Array'],
    ['normalizeUrl', () => normalizeUrl(wrong(undefined)), 'raw must be a string or a URL, not undefined'],
    ['normalizeUrl', () => normalizeUrl('a', wrong(7)), 'base must be a string or a URL, not number'],
    ['urlKey', () => urlKey(wrong({})), 'url must be a string or a URL, not Object'],
    ['hostKey', () => hostKey('docs.example'), 'url must be an http or https URL, not "docs.example"'],
    ['originOf', () => originOf('file:///etc'), 'url must be an http or https URL, not "file:///etc"'],
    [
      'extractLinks',
      () => extractLinks(wrong(Object.create(null)), PAGE),
      'html must be a string or a Uint8Array, not an object',
    ],
    ['extractLinks', () => extractLinks('', wrong(undefined)), 'pageUrl must be a string or a URL, not undefined'],
    ['parseSitemap', () => parseSitemap(wrong(['a']), PAGE), 'sitemap must be a string or a Uint8Array, not Array'],
    ['parseSitemap', () => parseSitemap('', wrong(undefined)), 'url must be a string or a URL, not undefined'],
    ['decodeBody', () => decodeBody(wrong('text')), 'bytes must be a Uint8Array, not string'],
    ['decodeBody', () => decodeBody(bytes(''), wrong(7)), 'contentType must be a string, not number'],
    ['simhash', () => simhash(wrong(bytes('a'))), 'text must be a string, not Uint8Array'],
    ['hammingDistance', () => hammingDistance(1n, wrong(1)), 'b must be a bigint, not number'],
    [
      'find',
      () => createNearDuplicateIndex().find(wrong('00ff00ff00ff00ff')),
      'hash must be a bigint, not string; a record has it in hex: BigInt(`0x${page.simhash}`)',
    ],
    ['add', () => createNearDuplicateIndex().add(1n, wrong(7)), 'id must be a string, not number'],
    ['createHostRegistry', () => createHostRegistry(wrong({})), 'productToken must be a string, not undefined'],
    ['createHostRegistry', () => createHostRegistry(wrong(undefined)), 'options must be an object, not undefined'],
    ['createFrontier', () => createFrontier(wrong('memory')), 'options must be an object, not string'],
    ['createFrontier', () => createFrontier({ store: wrong(7) }), 'store must be a string, not number'],
  ])('%s: %#', (_name, call, message) => {
    expect(call).toThrow(new TypeError(message))
  })

  it('a promise is rejected where one is returned', async () => {
    const clock: Clock = createVirtualClock(0)
    const limiter = createHostLimiter({ clock })
    await expect(limiter.wait(wrong(undefined), 0)).rejects.toThrow(
      new TypeError('host must be a string, not undefined'),
    )
    await expect(limiter.wait('docs.example', wrong('1s'))).rejects.toMatchObject({ code: 'usage' })
    expect(limiter.size).toBe(0)
    const registry = createHostRegistry({ productToken: 'Teapot' })
    await expect(registry.verdict(wrong('docs.example'))).rejects.toThrow(TypeError)
  })

  it('a store that cannot be opened is a usage error that shows no password, and no folder of that name is made', () => {
    expect(() => createFrontier({ store: 'postgres://me:secret@localhost' })).toThrow(
      expect.objectContaining({ code: 'usage', message: expect.not.stringContaining('secret') }),
    )
  })

  it('a frontier on Redis is shared by all who open it', async () => {
    const options = { store: await sharedRedis(), crawl: `library-${randomUUID()}`, partitions: 1 }
    const [one, other] = [createFrontier(options), createFrontier(options)]
    await one.add([{ url: normalizeUrl('https://docs.example/')!, kind: 'page', depth: 0, via: 'seed' }])
    const { leases } = await one.lease({ worker: 'one', want: 1 })
    expect(leases.map(({ host }) => host)).toEqual(['docs.example'])
    expect((await other.lease({ worker: 'other', want: 1 })).leases).toEqual([])
    expect(await other.stats()).toMatchObject({ discovered: 1, queued: 1 })
    await one.close()
    await other.close()
  })
})
