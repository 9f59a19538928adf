import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createResolver, MAX_REFERENCE_LENGTH, MAX_URL_LENGTH, normalizeUrl } from './index.ts'

/** The definition, without any short cut. */
function reference(raw: string, base?: string): string | undefined {
  const url = URL.parse(raw, base)
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return undefined
  url.hash = ''
  url.username = ''
  url.password = ''
  return url.href.length > MAX_URL_LENGTH ? undefined : url.href
}

/** Chosen from urltestdata.json of web-platform-tests: input, base, what is fetched. */
const VECTORS: readonly (readonly [string, string | undefined, string | undefined])[] = [
  ['http://example\t.\norg', 'http://example.org/foo/bar', 'http://example.org/'],
  ['http://user:pass@foo:21/bar;par?b#c', 'http://example.org/foo/bar', 'http://foo:21/bar;par?b'],
  ['https://test:@test', undefined, 'https://test/'],
  ['https:foo.com', 'http://example.org/foo/bar', 'https://foo.com/'],
  ['http:foo.com', 'http://example.org/foo/bar', 'http://example.org/foo/foo.com'],
  ['\t   :foo.com   \n', 'http://example.org/foo/bar', 'http://example.org/foo/:foo.com'],
  [' foo.com  ', 'http://example.org/foo/bar', 'http://example.org/foo/foo.com'],
  ['a:\t foo.com', 'http://example.org/foo/bar', undefined],
  ['http://f:21/ b ? d # e ', 'http://example.org/foo/bar', 'http://f:21/%20b%20?%20d%20'],
  ['http://f:c/b', 'http://example.org/foo/bar', undefined],
  ['http://f: /c', 'http://example.org/foo/bar', undefined],
  ['http://f:00000000000000/c', 'http://example.org/foo/bar', 'http://f:0/c'],
  ['http://f:00000000000000000000080/c', 'http://example.org/foo/bar', 'http://f/c'],
  ['http://f:65536/c', 'http://example.org/foo/bar', undefined],
  ['', 'http://example.org/foo/bar', 'http://example.org/foo/bar'],
  ['  \t', 'http://example.org/foo/bar', 'http://example.org/foo/bar'],
  [':foo.com/', 'http://example.org/foo/bar', 'http://example.org/foo/:foo.com/'],
  ['\\x', 'http://example.org/foo/bar', 'http://example.org/x'],
  ['#', 'http://example.org/foo/bar', 'http://example.org/foo/bar'],
  ['#;?', 'http://example.org/foo/bar', 'http://example.org/foo/bar'],
  ['?', 'http://example.org/foo/bar', 'http://example.org/foo/bar?'],
  ['/', 'http://example.org/foo/bar', 'http://example.org/'],
  ['\\\\foo/bar', 'http://example.org/foo/bar', 'http://foo/bar'],
  ['//foo/bar', 'http://example.org/foo/bar', 'http://foo/bar'],
  ['///foo', 'http://example.org/foo/bar', 'http://foo/'],
  ['::23', 'http://example.org/foo/bar', 'http://example.org/foo/::23'],
  ['http://', 'http://example.org/foo/bar', undefined],
  ['http://[::127.0.0.1]', 'http://example.org/foo/bar', 'http://[::7f00:1]/'],
  ['http://[1::2]:3:4', 'http://example.org/foo/bar', undefined],
  ['http://example.com/././foo', undefined, 'http://example.com/foo'],
  ['http://example.com/./.foo', undefined, 'http://example.com/.foo'],
  ['http://example.com/foo/bar/../ton/../../a', undefined, 'http://example.com/a'],
  ['http://example.com/foo/../../../ton', undefined, 'http://example.com/ton'],
  ['http://example.com/foo/%2e%2', undefined, 'http://example.com/foo/%2e%2'],
  ['http://example.com/foo/%2e./%2e%2e/.%2e/%2e.bar', undefined, 'http://example.com/%2e.bar'],
  ['http://example.com////../..', undefined, 'http://example.com//'],
  ['http://example.com/%7Ffp3%3Eju%3Dduvgw%3Dd', undefined, 'http://example.com/%7Ffp3%3Eju%3Dduvgw%3Dd'],
  ['http://example.com/你好你好', undefined, 'http://example.com/%E4%BD%A0%E5%A5%BD%E4%BD%A0%E5%A5%BD'],
  ['http://www.google.com/foo?bar=baz# \u00bb', undefined, 'http://www.google.com/foo?bar=baz'],
  ['http://ExAmPlE.CoM', 'http://other.com/', 'http://example.com/'],
  ['http://GOO\u200b\u2060\ufeffgoo.com', 'http://other.com/', 'http://googoo.com/'],
  ['http://%zz%66%a.com', 'http://other.com/', undefined],
  ['http://%30%78%63%30%2e%30%32%35%30.01', 'http://other.com/', 'http://192.168.0.1/'],
  ['http://256.256.256.256', 'http://other.com/', undefined],
  ['http://0x7f.1/test', undefined, 'http://127.0.0.1/test'],
  ['http://foo.0x', undefined, undefined],
  ['http://a_b.test', undefined, 'http://a_b.test/'],
  ['http://faß.ExAmPlE/', undefined, 'http://xn--fa-hia.example/'],
  ['http://a b/', undefined, undefined],
  ["http://host/?'", undefined, 'http://host/?%27'],
  ['file:///etc/passwd', undefined, undefined],
  ['javascript:alert(1)', 'http://example.org/foo/bar', undefined],
  ['mailto:x@y.com', 'http://example.org/foo/bar', undefined],
  ['data:text/html,test', 'http://example.org/foo/bar', undefined],
  ['blob:https://example.com:443/', undefined, undefined],
  ['test', 'about:blank', undefined],
  ['http://example.com/', 'about:blank', 'http://example.com/'],
  ['http://example.com/', 'nonsense', undefined],
]

// Short cuts fail at borders, so the text is made of little else.
const MARKS = '/ // \\ . .. ./ ../ ? # : @ % %2e %2E %41 %7e * & = - _ ~ [ ] { | } ^ ` " \' <'
const WORDS =
  'a b A Z 0 1 9 é 日 😀 xn-- xn--a 0x7f 127.0.0.1 1.2.3 01 255 256. user:pw@ .com index.html data: mailto: x/y/z'
const STARTS =
  'http https http: https: http:// https:// https://a.test http://a.test/ a.test b.test:8080/ :80/ :443 :08 :65535/'
const nastyText = fc
  .array(fc.constantFrom(...`${MARKS} ${WORDS} ${STARTS}`.split(' '), ' ', '\t', '\n', '\0', '\u007f', '\ud800'), {
    maxLength: 9,
  })
  .map((parts) => parts.join(''))

const bases = [
  'https://a.test/',
  'https://a.test',
  'http://a.test:8080/docs/guide/page.html?q=1#top',
  'http://a.test/a//b///c',
  'https://user:pw@a.test/x/?',
  'HTTP://A.test/./x/../%7e/y z?é',
  'http://127.0.0.1:3000/x',
  'http://[::1]/deep/er/and/deeper',
  'http://a.test./?',
  'file:///a/b',
  'about:blank',
  'nonsense',
  '',
]

describe('normalizeUrl', () => {
  it.each(VECTORS)('fetches %j on %j as the URL standard says', (raw, base, expected) => {
    expect(normalizeUrl(raw, base)).toBe(expected)
    if (base !== undefined) expect(createResolver(base)(raw)).toBe(expected)
  })

  it('equals the parser of the URL standard on any text', () => {
    fc.assert(
      fc.property(nastyText, (raw) => {
        expect(normalizeUrl(raw)).toBe(reference(raw))
      }),
      { numRuns: 20_000 },
    )
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (raw) => {
        expect(normalizeUrl(raw)).toBe(reference(raw))
      }),
    )
  })

  it('equals the parser on every single ASCII character in host, port, path and query', () => {
    for (let code = 0; code < 128; code++) {
      const character = String.fromCharCode(code)
      for (const raw of [
        `https://a${character}b.test/`,
        `https://a.test:8${character}/`,
        `https://a.test/x${character}y`,
      ]) {
        expect(normalizeUrl(raw)).toBe(reference(raw))
      }
      const query = `https://a.test/?x${character}y`
      expect(normalizeUrl(query)).toBe(reference(query))
    }
  })

  it('leaves what it has made as it is', () => {
    fc.assert(
      fc.property(nastyText, fc.constantFrom(...bases), (raw, base) => {
        const url = normalizeUrl(raw, base)
        if (url !== undefined) expect(normalizeUrl(url)).toBe(url)
      }),
      { numRuns: 10_000 },
    )
  })

  it('refuses a URL that is longer than the maximum, counted after normalisation', () => {
    const longest = `https://a.test/${'x'.repeat(MAX_URL_LENGTH - 15)}`
    expect(normalizeUrl(longest)).toBe(longest)
    expect(normalizeUrl(`${longest}#fragment`)).toBe(longest)
    expect(normalizeUrl(`${longest}x`)).toBeUndefined()
    expect(normalizeUrl(`${longest.slice(0, -1)} x`)).toBeUndefined()
    expect(normalizeUrl(`https://a.test/${'é'.repeat(2000)}`)).toBeUndefined()
  })

  it('refuses text that is too long to be worth parsing', () => {
    expect(normalizeUrl(`https://a.test/#${'x'.repeat(MAX_REFERENCE_LENGTH)}`)).toBeUndefined()
    expect(normalizeUrl('/x', `https://a.test/${'x'.repeat(MAX_REFERENCE_LENGTH)}`)).toBeUndefined()
    expect(createResolver(`https://a.test/${'x'.repeat(MAX_REFERENCE_LENGTH)}`)('/x')).toBeUndefined()
  })
})

describe('createResolver', () => {
  it('equals normalizeUrl with the same base on any reference', () => {
    const resolvers = new Map(bases.map((base) => [base, createResolver(base)]))
    fc.assert(
      fc.property(nastyText, fc.constantFrom(...bases), (raw, base) => {
        const expected = reference(raw, base)
        expect(resolvers.get(base)!(raw)).toBe(expected)
        expect(normalizeUrl(raw, base)).toBe(expected)
      }),
      { numRuns: 40_000 },
    )
  })

  it('equals normalizeUrl on any base', () => {
    fc.assert(
      fc.property(nastyText, nastyText, (raw, tail) => {
        const base = `http://a.test/${tail}`
        expect(createResolver(base)(raw)).toBe(reference(raw, base))
      }),
      { numRuns: 10_000 },
    )
  })

  it('climbs no higher than the root', () => {
    const resolve = createResolver('https://a.test/a/b/c.html')
    expect(resolve('../x')).toBe('https://a.test/a/x')
    expect(resolve('../../x')).toBe('https://a.test/x')
    expect(resolve('../../../../x')).toBe('https://a.test/x')
    expect(resolve('.././../')).toBe('https://a.test/')
  })

  it('resolves a short reference on a base that is itself too long to fetch', () => {
    const resolve = createResolver(`https://a.test/${'x'.repeat(MAX_URL_LENGTH)}`)
    expect(resolve('')).toBeUndefined()
    expect(resolve('?a')).toBeUndefined()
    expect(resolve('y')).toBe('https://a.test/y')
  })
})
