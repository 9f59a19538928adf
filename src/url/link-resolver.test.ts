import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createLinkResolver, MAX_URL_LENGTH, normalizeUrl, NOWHERE, UNREADABLE } from './index.ts'

/** The URL that a piece of a page leads to; 'unreadable' where it must be decoded first. */
function resolvePiece(base: string, reference: string): string | undefined {
  const resolver = createLinkResolver(base)
  const bytes = Buffer.from(`<a href="${reference}">`)
  const id = resolver.resolvePiece(bytes, 9, bytes.length - 2)
  if (id === UNREADABLE) return 'unreadable'
  return id === NOWHERE ? undefined : resolver.urlOf(id)
}

const bases = [
  'https://a.test/',
  'https://a.test/x/y/page.html?q=1',
  'https://a.test/x/y/other.html',
  'https://a.test/x/y/',
  'https://a.test/x/page;v=1',
  'http://a.test/x/y/page.html',
  'https://a.test:8080/x/y/page.html',
  'https://user:pass@a.test/x/y/page.html#f',
  'https://a.test/x/../y/./page.html',
  'HTTPS://A.test/x/%2e/y',
  'ftp://a.test/x/y',
  'data:text/html,x',
  'nonsense',
]
const pieces =
  '/ // \\ . .. ./ ../ ? # : %2e % @ a b.html c ~ = | ^ http: https: HTTP: http:// https:// https:/ mailto: ' +
  'javascript: ht tp: a.test & é \u007f \u0001'
const piece = fc.constantFrom(' ', '\t', '\n', ...pieces.split(' '))
const reference = fc.array(piece, { maxLength: 5 }).map((pieces) => pieces.join(''))

describe('a link resolver', () => {
  it('equals normalizeUrl, whatever was resolved before', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom(...bases), reference), { maxLength: 20 }), (links) => {
        for (const [base, text] of links) {
          const found = resolvePiece(base, text)
          if (found !== 'unreadable') expect([base, text, found]).toEqual([base, text, normalizeUrl(text, base)])
          const resolver = createLinkResolver(base)
          const id = resolver.resolve(text)
          expect(id === NOWHERE ? undefined : resolver.urlOf(id)).toBe(normalizeUrl(text, base))
        }
      }),
      { numRuns: 5_000 },
    )
  })

  it('leaves to its caller only what must be decoded', () => {
    for (const text of ['a b', 'a&b', 'é', '\u007f', 'a\tb']) expect(resolvePiece(bases[0]!, text)).toBe('unreadable')
    for (const text of [
      '',
      '#a b',
      'a#é',
      '?',
      '/x',
      'x',
      '../x',
      './a:b',
      '../?x',
      '..//x',
      '../',
      '..',
      'http:x',
      'http://b.test',
    ]) {
      expect(resolvePiece(bases[1]!, text)).toBe(normalizeUrl(text, bases[1]))
    }
  })

  it('tells folders, origins and schemes apart that share a spelling', () => {
    const found = bases
      .slice(0, 8)
      .map((base) => ['x', '/x', '//b.test/x', '?x', ''].map((text) => resolvePiece(base, text)))
    const again = bases
      .slice(0, 8)
      .map((base) => ['x', '/x', '//b.test/x', '?x', ''].map((text) => resolvePiece(base, text)))
    expect(again).toEqual(found)
    expect(found[1]).toEqual([
      'https://a.test/x/y/x',
      'https://a.test/x',
      'https://b.test/x',
      'https://a.test/x/y/page.html?x',
      'https://a.test/x/y/page.html?q=1',
    ])
    expect(found[5]).toEqual([
      'http://a.test/x/y/x',
      'http://a.test/x',
      'http://b.test/x',
      'http://a.test/x/y/page.html?x',
      'http://a.test/x/y/page.html',
    ])
  })

  it('has one number for each URL, however it is spelled', () => {
    const resolver = createLinkResolver('https://a.test/x/')
    const ids = ['y', './y', '/x/y', 'https://a.test/x/y', '../x/y#f'].map((text) => resolver.resolve(text))
    expect(new Set(ids).size).toBe(1)
    expect(resolver.resolve('z')).not.toBe(ids[0])
  })

  it('stays right when it has met more than it can remember', () => {
    const hosts = Array.from({ length: 40 }, (_, host) => `https://h${host}.test/`)
    for (const base of hosts) {
      const resolver = createLinkResolver(base)
      const bytes = Buffer.from(Array.from({ length: 2_000 }, (_, at) => `page-${at}.html `).join(''))
      const latin1 = bytes.toString('latin1')
      let start = 0
      for (let at = 0; at < 2_000; at++) {
        const end = latin1.indexOf(' ', start)
        expect(resolver.urlOf(resolver.resolvePiece(bytes, start, end))).toBe(`${base}page-${at}.html`)
        start = end + 1
      }
    }
  })

  it('does not mistake a climb that is too long for a short one', () => {
    expect(resolvePiece('https://a.test/b/', '../x')).toBe('https://a.test/x')
    expect(resolvePiece('https://a.test/b/', `${'../'.repeat(30_000)}x`)).toBeUndefined()
  })

  it('refuses a URL that is longer than the maximum', () => {
    expect(resolvePiece('https://a.test/', 'x'.repeat(MAX_URL_LENGTH - 15))).toHaveLength(MAX_URL_LENGTH)
    expect(resolvePiece('https://a.test/', 'x'.repeat(MAX_URL_LENGTH - 14))).toBeUndefined()
  })
})
