import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { NormalizedUrl } from '../model/index.ts'
import { normalizeUrl } from '../url/index.ts'
import { contentPath, MAX_NAME_BYTES, MAX_PATH_BYTES } from './content-path.ts'

const pathOfUrl = (text: string, extension = 'md'): string => contentPath(normalizeUrl(text)!, extension)

/** What a careless file system sees. */
const fold = (path: string): string => path.normalize('NFC').toLowerCase().normalize('NFC')

const HOSTS =
  `a.test a.test. a.test_http a.test_8080 a_b.test con aux.test -a.test xn--bcher-kva.example [::1] 127.0.0.1
  ipv6---1 a*b.test ${'x'.repeat(60)}.${'y'.repeat(60)}.test`.split(/\s+/)
const COMMON = '/ / / a A b index index.md md .md . .. _ ~ -'.split(' ')
const RARE =
  `a.html .HTML con NUL.txt com1 lpt9. COM%C2%B9 %20 %2e %2F %00 %E2%80%AE %C3%A9 e%CC%81 %CC%81 %EF%BC%8E %E2%84%AA
  ? q=1 & * : | é 日本 ~0123456789ab a/b/c/d/e/f ${'x'.repeat(95)} ${'y'.repeat(120)} ${'日'.repeat(40)} ${'/'.repeat(30)}`.split(
    /\s+/,
  )

const nastyUrl: fc.Arbitrary<NormalizedUrl> = fc
  .tuple(
    fc.constantFrom('http', 'https'),
    fc.constantFrom(...HOSTS),
    fc.constantFrom('', ':80', ':443', ':8080'),
    fc.array(fc.oneof(fc.constantFrom(...COMMON), fc.constantFrom(...RARE)), { maxLength: 7 }),
  )
  .map(([scheme, host, port, parts]) => normalizeUrl(`${scheme}://${host}${port}/${parts.join('')}`))
  .filter((url) => url !== undefined)

describe('contentPath', () => {
  it.each([
    ['https://example.com/', 'example.com/index.md'],
    ['https://example.com/docs/', 'example.com/docs/index.md'],
    ['https://example.com/docs/intro', 'example.com/docs/intro.md'],
    ['https://example.com/docs/intro.html', 'example.com/docs/intro.html.md'],
    ['https://example.com/v1.2/@scope/a_b-c', 'example.com/v1.2/@scope/a_b-c.md'],
    ['http://example.com/docs/', 'example.com_http/docs/index.md'],
    ['http://127.0.0.1:8080/x', '127.0.0.1_8080/x.md'],
    ['https://example.com:8443/x', 'example.com_8443_https/x.md'],
  ])('%s is at %s', (url, path) => expect(pathOfUrl(url)).toBe(path))

  it.each([
    ['https://example.com/docs/index', /^example\.com\/docs\/index~[0-9a-v]{12}\.md$/],
    ['https://example.com/search?q=a b&c=1', /^example\.com\/search_q=a_b_c=1~[0-9a-v]{12}\.md$/],
    ['https://example.com/?q=1', /^example\.com\/index_q=1~[0-9a-v]{12}\.md$/],
    ['https://example.com/en-US/Docs', /^example\.com\/en-US\/Docs~[0-9a-v]{12}\.md$/],
    ['https://example.com/日本/東京', /^example\.com\/日本\/東京~[0-9a-v]{12}\.md$/],
    ['https://example.com/node.js/x', /^example\.com\/node\.js_\/x~[0-9a-v]{12}\.md$/],
    ['https://example.com/a//b', /^example\.com\/a\/_\/b~[0-9a-v]{12}\.md$/],
    ['https://aux.example.com/', /^_aux\.example\.com\/index~[0-9a-v]{12}\.md$/],
    ['http://[::1]/', /^ipv6---1_http\/index~[0-9a-v]{12}\.md$/],
    ['https://example.com/..%2f..%2fetc/passwd', /^example\.com\/_\._\._etc\/passwd~[0-9a-v]{12}\.md$/],
  ])('%s is at %s', (url, pattern) => expect(pathOfUrl(url)).toMatch(pattern))

  it('has one stem for all formats of a page', () => {
    const [url, long] = ['https://example.com/A', `https://example.com/${'x'.repeat(300)}`]
    for (const text of [url, long]) {
      expect(pathOfUrl(text, 'mhtml').replace(/\.mhtml$/, '')).toBe(pathOfUrl(text, 'md').replace(/\.md$/, ''))
    }
  })

  it('refuses an extension that a folder could have', () => {
    for (const extension of ['', 'm', 'MD', '.md', 'tar.gz', '7z', 'x/../y', 'muchtoolong']) {
      expect(() => pathOfUrl('https://example.com/', extension)).toThrow(RangeError)
    }
  })

  it('is a safe path on every system', () => {
    fc.assert(
      fc.property(nastyUrl, fc.constantFrom('md', 'mhtml'), (url, extension) => {
        const path = contentPath(url, extension)
        expect(contentPath(url, extension)).toBe(path)
        expect(Buffer.byteLength(path)).toBeLessThanOrEqual(MAX_PATH_BYTES)
        expect(path.endsWith(`.${extension}`)).toBe(true)
        const names = path.split('/')
        expect(names.length).toBeGreaterThanOrEqual(2)
        for (const name of names) {
          expect(Buffer.byteLength(name)).toBeLessThanOrEqual(MAX_NAME_BYTES)
          expect(name).toMatch(/^[\p{L}\p{N}_+,=@][\p{L}\p{M}\p{N}._+,=@~-]*$/u)
          expect(name).not.toMatch(/\.$|\.\.|^(con|prn|aux|nul|(com|lpt)[0-9¹²³])(\.|$)/i)
        }
      }),
      { numRuns: 2000 },
    )
  })

  it('never gives two URLs one file, nor one a file where the other needs a folder', () => {
    fc.assert(
      fc.property(fc.array(nastyUrl, { minLength: 50, maxLength: 100 }), (urls) => {
        const files = new Map<string, string>()
        const folders = new Set<string>()
        for (const url of urls) {
          for (const extension of ['md', 'html']) {
            const path = fold(contentPath(url, extension))
            const owner = `${url} ${extension}`
            if ((files.get(path) ?? owner) !== owner) expect.fail(`${owner} and ${files.get(path)} share ${path}`)
            files.set(path, owner)
            for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1)) {
              folders.add(path.slice(0, slash))
            }
          }
        }
        expect([...folders].filter((folder) => files.has(folder))).toEqual([])
      }),
      { numRuns: 100 },
    )
  })

  it('tells near neighbours apart', () => {
    const paths =
      `/a /A /a/ /a// /a/b /a.md /a.md/b /a.md_/b /a? /a?b /a%3Fb /a_b /index / /? // /index.md /INDEX /caf%C3%A9
      /cafe%CC%81 /caf%c3%a9 /~a /a~ /%61 /a. /a.. /.a /-a /_a /con /_con`.split(/\s+/)
    const origins = ['https://a.test', 'http://a.test', 'http://a.test:443', 'https://a.test:80', 'https://a.test.']
    const urls = origins.flatMap((origin) => paths.map((path) => origin + path))
    const distinct = new Set(urls.map((url) => normalizeUrl(url)!))
    expect(new Set([...distinct].map((url) => fold(contentPath(url, 'md')))).size).toBe(distinct.size)
  })
})
