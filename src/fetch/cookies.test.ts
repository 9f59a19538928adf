import type { IncomingMessage } from 'node:http'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createVirtualClock } from '../base/index.ts'
import { cookieDateMs } from './cookie-date.ts'
import { createCookieJar } from './cookies.ts'
import { parseSetCookie } from './set-cookie.ts'
import { targetOf } from './target.ts'
import { asUrl, serveHttp, serveHttp2, testFetcher, textOf } from './test-support/loopback.ts'

const NOW = Date.UTC(2030, 0, 1)
const DAY_MS = 86_400_000
const source = { secure: true, path: '/docs/page', now: NOW }

const target = (url: string) => targetOf(asUrl(url)) ?? expect.fail('it is no web URL')

describe('a cookie', () => {
  test.each([
    ['a=b', { name: 'a', value: 'b', path: '/docs', expiresAt: Infinity }],
    ['  a  =  b c  ; Path=/ ', { name: 'a', value: 'b c', path: '/' }],
    ['a=b=c', { name: 'a', value: 'b=c' }],
    ['a="b"', { name: 'a', value: '"b"' }],
    ['a=', { name: 'a', value: '' }],
    ['=b', { name: '', value: 'b' }],
    ['b', { name: '', value: 'b' }],
    ['a=b; Path=/x; Path=docs', { path: '/docs' }],
    ['a=b; path=/x', { path: '/x' }],
    ['a=b; Path', { path: '/docs' }],
    ['a=b; Domain=example.com; HttpOnly; SameSite=None; Unknown=1;;', { name: 'a', value: 'b' }],
    ['a=b; Max-Age=60', { expiresAt: NOW + 60_000 }],
    ['a=b; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT', { expiresAt: NOW + 60_000 }],
    ['a=b; Max-Age=0', { expiresAt: -Infinity }],
    ['a=b; Max-Age=-5', { expiresAt: -Infinity }],
    ['a=b; Max-Age=1e3', { expiresAt: Infinity }],
    ['a=b; Max-Age=99999999999999999999', { expiresAt: NOW + 400 * DAY_MS }],
    ['a=b; Expires=Wed, 02 Jan 2030 00:00:00 GMT', { expiresAt: NOW + DAY_MS }],
    ['a=b; Expires=Wed, 02 Jan 2090 00:00:00 GMT', { expiresAt: NOW + 400 * DAY_MS }],
    ['a=b; Expires=tomorrow', { expiresAt: Infinity }],
    ['__Host-a=b; Secure; Path=/', { name: '__Host-a' }],
    ['__Secure-a=b; Secure', { name: '__Secure-a' }],
    ['a\tb=c\td', { name: 'a\tb', value: 'c\td' }],
    [`a=${'x'.repeat(4095)}`, { name: 'a' }],
    [`a=b; Path=/${'x'.repeat(1024)}`, { path: '/docs' }],
  ])('%j is read', (text, expected) => {
    expect(parseSetCookie(text, source)).toMatchObject(expected)
  })

  test.each([
    '',
    '=',
    ' ; Path=/',
    'a=b\0',
    'a=b\r\nc=d',
    'a=b; Path=/\x07',
    `a=${'x'.repeat(4096)}`,
    '__Host-a=b; Secure',
    '__Host-a=b; Path=/',
    '__Host-a=b; Secure; Path=/; Domain=example.com',
    '__SECURE-a=b',
    '__secure-a',
    '=__Host-a=b; Secure; Path=/',
  ])('%j is not kept', (text) => {
    expect(parseSetCookie(text, source)).toBeUndefined()
  })

  test('that is for secure connections cannot be set over another', () => {
    expect(parseSetCookie('a=b; Secure', { ...source, secure: false })).toBeUndefined()
    expect(parseSetCookie('a=b', { ...source, secure: false })).toBeDefined()
  })

  test.each([
    ['/', '/'],
    ['/page', '/'],
    ['/docs/', '/docs'],
    ['/docs/a/b', '/docs/a'],
  ])('without a path, set at %s, is for %s', (path, expected) => {
    expect(parseSetCookie('a=b', { ...source, path })?.path).toBe(expected)
  })

  test('of any text is read or not, and never larger than it may be', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        const cookie = parseSetCookie(text, source)
        if (cookie !== undefined) expect(cookie.name.length + cookie.value.length).toBeLessThanOrEqual(text.length)
      }),
    )
  })
})

describe('the date of a cookie', () => {
  const moment = Date.UTC(1994, 10, 6, 8, 49, 37)
  test.each([
    'Sun, 06 Nov 1994 08:49:37 GMT',
    'Sunday, 06-Nov-94 08:49:37 GMT',
    'Sun Nov  6 08:49:37 1994',
    '06 nov 1994 8:49:37',
    'November 1994 06 08:49:37 +0200',
    '08:49:37 1994/6/Nov',
    '6th Nov 08:49:37Z 94',
  ])('%s', (text) => {
    expect(cookieDateMs(text)).toBe(moment)
  })

  test.each([
    '',
    'GMT',
    '06 Nov 1994',
    '06 Nov 08:49:37',
    '32 Nov 1994 08:49:37',
    '31 Feb 1994 08:49:37',
    '00 Nov 1994 08:49:37',
    '06 Nov 1994 24:00:00',
    '06 Nov 1994 08:60:00',
    '06 Nov 1600 08:49:37',
    '06 Nov 19940 08:49:37',
    '06 Nov 1994 08:49',
  ])('%j is none', (text) => {
    expect(cookieDateMs(text)).toBeUndefined()
  })

  test('two digits of a year are 1970 to 2069', () => {
    expect(cookieDateMs('01 Jan 70 00:00:00')).toBe(0)
    expect(cookieDateMs('01 Jan 69 00:00:00')).toBe(Date.UTC(2069, 0, 1))
  })
})

describe('the jar', () => {
  test('gives a cookie back below its path, the most special path first', () => {
    const jar = createCookieJar(createVirtualClock())
    jar.store(target('https://a.test/docs/x?q=/'), [
      'one=1',
      'two=2; Path=/',
      'three=3; Path=/docs/deep',
      'four=4; Path=/',
    ])
    expect(jar.headerFor(target('https://a.test/docs/deep/y'))).toBe('three=3; one=1; two=2; four=4')
    expect(jar.headerFor(target('https://a.test/docs?x'))).toBe('one=1; two=2; four=4')
    expect(jar.headerFor(target('https://a.test/docsy'))).toBe('two=2; four=4')
    expect(jar.headerFor(target('https://a.test/'))).toBe('two=2; four=4')
  })

  test('keeps each cookie to its very origin, whatever Domain says', () => {
    const jar = createCookieJar(createVirtualClock())
    jar.store(target('https://a.test/'), ['id=1; Domain=test', 'id2=2; Domain=.a.test'])
    expect(jar.headerFor(target('https://a.test/'))).toBe('id=1; id2=2')
    for (const url of [
      'http://a.test/',
      'https://a.test:8443/',
      'https://b.a.test/',
      'https://test/',
      'https://a.test./',
    ]) {
      expect(jar.headerFor(target(url))).toBeUndefined()
    }
  })

  test('replaces, ends and forgets cookies in their time', async () => {
    const clock = createVirtualClock()
    const jar = createCookieJar(clock)
    const home = target('https://a.test/')
    jar.store(home, ['a=1; Max-Age=10', 'b=2'])
    jar.store(home, ['a=3; Max-Age=20', 'b=; Max-Age=0', 'c=4; Expires=Thu, 01 Jan 1970 00:00:00 GMT'])
    await clock.advance(19_999)
    expect(jar.headerFor(home)).toBe('a=3')
    await clock.advance(1)
    expect(jar.headerFor(home)).toBeUndefined()
  })

  test('keeps the newest fifty cookies and eight kilobytes of an origin, and ten thousand origins', () => {
    const jar = createCookieJar(createVirtualClock())
    const home = target('https://a.test/')
    jar.store(
      home,
      Array.from({ length: 60 }, (_, index) => `c${index}=x`),
    )
    const kept = jar.headerFor(home)?.split('; ') ?? []
    expect([kept.length, kept[0], kept.at(-1)]).toEqual([50, 'c10=x', 'c59=x'])
    jar.store(
      home,
      ['p', 'q', 'r'].map((name) => `${name}=${'y'.repeat(4000)}`),
    )
    expect(
      jar
        .headerFor(home)
        ?.split('; ')
        .map((pair) => pair[0]),
    ).toEqual(['q', 'r'])
    for (let index = 0; index < 10_000; index++) jar.store(target(`https://h${index}.test/`), ['a=b'])
    expect(jar.headerFor(home)).toBeUndefined()
    expect(jar.headerFor(target('https://h0.test/'))).toBe('a=b')
  })
})

describe('a fetcher', () => {
  const echo = (request: IncomingMessage): string =>
    JSON.stringify({ cookie: request.headers.cookie, authorization: request.headers.authorization })

  test('keeps no cookie unless it is told to', async () => {
    const port = await serveHttp((request, response) => response.setHeader('set-cookie', 'a=b').end(echo(request)))
    for (const [cookies, expected] of [
      [false, '{}'],
      [true, '{"cookie":"a=b"}'],
    ] as const) {
      const fetcher = testFetcher({ cookies })
      expect(textOf(await fetcher.get(`http://127.0.0.1:${port}/`))).toBe('{}')
      expect(textOf(await fetcher.get(`http://127.0.0.1:${port}/`))).toBe(expected)
    }
  })

  test('sends cookies and header fields to their own origin, also where a redirect leads elsewhere', async () => {
    const other = await serveHttp((request, response) => response.end(echo(request)))
    const port = await serveHttp((request, response) => {
      response.setHeader('set-cookie', ['sid=1; Path=/', 'old=; Max-Age=0'])
      if (request.url === '/moved') response.writeHead(302, { location: `http://127.0.0.1:${other}/` }).end()
      else response.end(echo(request))
    })
    const origin = `http://127.0.0.1:${port}`
    const headers = [
      { origin, name: 'Authorization', value: 'Bearer s3cret' },
      { origin, name: 'Cookie', value: 'own=2' },
    ]
    const fetcher = testFetcher({ cookies: true, headers, resolve: [`alias.test:${port}:127.0.0.1`] })
    expect(textOf(await fetcher.get(`${origin}/`))).toBe('{"cookie":"own=2","authorization":"Bearer s3cret"}')
    expect(textOf(await fetcher.get(`${origin}/`))).toBe('{"cookie":"own=2; sid=1","authorization":"Bearer s3cret"}')
    const moved = await fetcher.get(`${origin}/moved`)
    expect(moved).toMatchObject({ kind: 'response', status: 302 })
    expect(textOf(await fetcher.get(`http://127.0.0.1:${other}/`))).toBe('{}')
    expect(textOf(await fetcher.get(`http://alias.test:${port}/`))).toBe('{}')
  })

  test('does the same over HTTP/2', async () => {
    const seen: unknown[] = []
    const port = await serveHttp2((stream, head) => {
      seen.push([head.cookie, head['x-api-key']])
      stream.respond({ ':status': 200, 'set-cookie': ['a=1', 'b=2; Secure'] }, { endStream: true })
    })
    const headers = [{ origin: `https://a.test:${port}`, name: 'X-Api-Key', value: 's3cret' }]
    const resolve = ['a', 'b'].map((name) => `${name}.test:${port}:127.0.0.1`)
    const fetcher = testFetcher({ cookies: true, headers, resolve, rejectUnauthorized: false })
    for (const name of ['a', 'a', 'b']) await fetcher.get(`https://${name}.test:${port}/`)
    expect(seen).toEqual([
      [undefined, 's3cret'],
      ['a=1; b=2', 's3cret'],
      [undefined, undefined],
    ])
  })

  test('keeps secrets out of what it says of the exchange', async () => {
    const port = await serveHttp((request, response) => response.setHeader('set-cookie', 'sid=1').end(echo(request)))
    const origin = `http://127.0.0.1:${port}`
    const headers = [{ origin, name: 'X-Api-Key', value: 's3cret' }]
    const fetcher = testFetcher({ cookies: true, headers })
    await fetcher.get(`${origin}/`, { keepWire: true })
    const outcome = await fetcher.get(`${origin}/`, { keepWire: true })
    if (outcome.kind !== 'response' || outcome.wire === undefined) throw new Error('there is no exchange')
    expect(textOf(outcome)).toContain('sid=1')
    expect(outcome.wire.requestHead).toMatch(/^GET \/ HTTP\/1\.1\r\n/)
    expect(outcome.wire.requestHead).not.toMatch(/s3cret|sid=1|cookie|x-api-key/i)
  })

  test.each([
    [{ origin: 'https://a.test/', name: 'a', value: 'b' }, 'expected an origin'],
    [{ origin: 'a.test', name: 'a', value: 'b' }, 'expected an origin'],
    [{ origin: 'https://a.test', name: 'a b', value: 'b' }, 'expected the name'],
    [{ origin: 'https://a.test', name: 'Host', value: 'b' }, 'cannot be set'],
    [{ origin: 'https://a.test', name: 'a', value: 'b\r\nc: d' }, 'cannot carry'],
  ])('refuses the header field %j', (header, words) => {
    expect(() => testFetcher({ headers: [header] })).toThrow(words)
  })
})
