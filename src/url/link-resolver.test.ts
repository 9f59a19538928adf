import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createLinkResolver, isIndependentOfPage, MAX_URL_LENGTH, normalizeUrl, NOWHERE } from './index.ts'
import { links } from './test-support/made-up-references.ts'

function resolve(base: string, reference: string): string | undefined {
  const resolver = createLinkResolver(base)
  const id = resolver.resolve(reference)
  return id === NOWHERE ? undefined : resolver.urlOf(id)
}

describe('a link resolver', () => {
  it('equals normalizeUrl, whatever was resolved before', () => {
    fc.assert(
      fc.property(links, (some) => {
        for (const [base, text] of some) {
          expect([base, text, resolve(base, text)]).toEqual([base, text, normalizeUrl(text, base)])
        }
      }),
      { numRuns: 5_000 },
    )
  })

  it('has one number for each URL, however it is spelled', () => {
    const resolver = createLinkResolver('https://a.test/x/')
    const ids = ['y', './y', '/x/y', 'https://a.test/x/y', '../x/y#f'].map((text) => resolver.resolve(text))
    expect(new Set(ids).size).toBe(1)
    expect(resolver.resolve('z')).not.toBe(ids[0])
  })

  it('gives numbers anew after very many URLs, and says so', () => {
    const first = createLinkResolver('https://a.test/').bases
    expect(createLinkResolver('https://a.test/page?x').bases).toBe(first)
    for (let host = 0; host < 40; host++) {
      const resolver = createLinkResolver(`https://h${host}.test/`)
      for (let at = 0; at < 1_000; at++) {
        expect(resolver.urlOf(resolver.resolve(`page-${at}.html`))).toBe(`https://h${host}.test/page-${at}.html`)
      }
    }
    const later = createLinkResolver('https://a.test/').bases
    expect(later?.era).not.toBe(first?.era)
    expect(later?.ids[1]).toBeGreaterThan(first?.ids[1] ?? 0)
  })

  it('numbers what references depend on: an origin, a folder, and the folders above', () => {
    const idsOf = (base: string): number[] => [...(createLinkResolver(base).bases?.ids ?? [])]
    const [origin, folder, here, parent, root, aboveRoot] = idsOf('https://a.test/x/y/p')
    expect(new Set([0, 1, origin, folder, here, parent, root]).size).toBe(7)
    expect(aboveRoot).toBe(root)
    expect(idsOf('https://a.test/x/q').slice(0, 4)).toEqual([origin, (parent ?? 0) - 1, parent, root])
    expect(idsOf('http://a.test/x/y/p')[0]).not.toBe(origin)
    expect(createLinkResolver('data:text/html,x').bases).toBeUndefined()
  })

  it('knows which references depend on the very page', () => {
    for (const text of ['?x', 'http:x', 'https:', 'HTTP://b.test/']) expect(isIndependentOfPage(text)).toBe(false)
    for (const text of ['x', '/x', '//x', '../?x', 'mailto:x', 'https://b.test/']) {
      expect(isIndependentOfPage(text)).toBe(true)
    }
  })

  it('does not mistake a climb that is too long for a short one', () => {
    expect(resolve('https://a.test/b/', '../x')).toBe('https://a.test/x')
    expect(resolve('https://a.test/b/', `${'../'.repeat(30_000)}x`)).toBeUndefined()
  })

  it('refuses a URL that is longer than the maximum', () => {
    expect(resolve('https://a.test/', 'x'.repeat(MAX_URL_LENGTH - 15))).toHaveLength(MAX_URL_LENGTH)
    expect(resolve('https://a.test/', 'x'.repeat(MAX_URL_LENGTH - 14))).toBeUndefined()
  })
})
