import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createLinkResolver, isIndependentOfPage, MAX_URL_LENGTH, normalizeUrl, NOWHERE } from '../../url/index.ts'
import { BASES, links } from '../../url/test-support/made-up-references.ts'
import { knownReferencesIn, SELF, UNKNOWN, UNREADABLE } from './known-references.ts'

/** The URL that a piece of a page leads to, by what is known where something is; 'unreadable' where nothing can be. */
function resolvePiece(base: string, reference: string): string | undefined {
  const resolver = createLinkResolver(base)
  const bytes = Buffer.from(`<a href="${reference}">`)
  const known = knownReferencesIn(bytes, resolver.bases)
  const found = known?.find(9, bytes.length - 2) ?? UNREADABLE
  if (found === UNREADABLE) return 'unreadable'
  const text = (reference.split('#', 1)[0] as string).trim()
  const id = found >= 0 ? found : resolver.resolve(found === SELF ? '' : text)
  if (found === UNKNOWN && isIndependentOfPage(text)) {
    known?.remember(id)
    expect(known?.find(9, bytes.length - 2)).toBe(id)
  }
  return id === NOWHERE ? undefined : resolver.urlOf(id)
}

describe('known references', () => {
  it('lead to what normalizeUrl says, whatever was met before', () => {
    fc.assert(
      fc.property(links, (some) => {
        for (const [base, text] of some) {
          const found = resolvePiece(base, text)
          if (found !== 'unreadable') expect([base, text, found]).toEqual([base, text, normalizeUrl(text, base)])
        }
      }),
      { numRuns: 5_000 },
    )
  })

  it('are all but those that must be decoded, depend on the very page or are very long', () => {
    const unreadable = ['a b', 'a&b', 'é', '\u007f', 'a\tb', ' a', 'a ', '?x', 'x'.repeat(129), `${'../'.repeat(32)}x`]
    for (const text of unreadable) expect(resolvePiece(BASES[0], text)).toBe('unreadable')
    const readable = ['', '#a b', 'a#é', '/x', 'x', '../x', './a:b', '../?x', '..//x', '../', '..', 'http:x']
    const long = [`${'../'.repeat(31)}x`, 'x'.repeat(128), 'http://b.test', 'mailto:x']
    for (const text of [...readable, ...long]) {
      for (const base of BASES.slice(0, 4)) expect(resolvePiece(base, text)).toBe(normalizeUrl(text, base))
    }
  })

  it('are told apart by folders, origins and schemes where they share a spelling', () => {
    const answers = (): (string | undefined)[][] =>
      BASES.slice(0, 8).map((base) => ['x', '/x', '//b.test/x', './x', ''].map((text) => resolvePiece(base, text)))
    const found = answers()
    expect(answers()).toEqual(found)
    expect(found[1]).toEqual([
      'https://a.test/x/y/x',
      'https://a.test/x',
      'https://b.test/x',
      'https://a.test/x/y/x',
      'https://a.test/x/y/page.html?q=1',
    ])
    expect(found[5]).toEqual([
      'http://a.test/x/y/x',
      'http://a.test/x',
      'http://b.test/x',
      'http://a.test/x/y/x',
      'http://a.test/x/y/page.html',
    ])
  })

  it('are right when there were more than can be remembered', () => {
    const names = Array.from({ length: 2_000 }, (_, at) => `page-${at}.html`)
    for (let host = 0; host < 40; host++) {
      const base = `https://h${host}.test/`
      for (const name of names) if (resolvePiece(base, name) !== base + name) expect.fail(`${base}${name}`)
    }
  })

  it('are none in a page that is very large', () => {
    expect(knownReferencesIn(Buffer.alloc(5_000_000), createLinkResolver(BASES[0]).bases)).toBeUndefined()
  })

  it('are none where the URL would be longer than the maximum', () => {
    const base = `https://a.test/${'f'.repeat(MAX_URL_LENGTH - 20)}/`
    expect(resolvePiece(base, 'xxxx')).toHaveLength(MAX_URL_LENGTH)
    expect(resolvePiece(base, 'xxxxx')).toBeUndefined()
    expect(resolvePiece(base, 'xxxxx')).toBeUndefined()
  })
})
