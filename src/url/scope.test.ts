import { describe, expect, it } from 'vitest'
import type { NormalizedUrl } from '../model/index.ts'
import { createScope, normalizeUrl, type Scope, type ScopeMode, type ScopeVerdict } from './index.ts'

const url = (text: string): NormalizedUrl => normalizeUrl(text)!

function scopeOf(mode: ScopeMode, seeds: string[], include: string[] = [], exclude: string[] = []): Scope {
  return createScope({ mode, seeds: seeds.map(url), include, exclude })
}
const check = (scope: Scope, text: string): ScopeVerdict => scope.check(url(text))

describe('scope prefix', () => {
  it.each([
    ['https://a.test/docs/', 'https://a.test/docs/x', true],
    ['https://a.test/docs/', 'https://a.test/docs/x/y?z', true],
    ['https://a.test/docs/', 'https://a.test/docs', false],
    ['https://a.test/docs/', 'https://a.test/docs-old/x', false],
    ['https://a.test/docs/', 'https://a.test/', false],
    ['https://a.test/docs/index.html', 'https://a.test/docs/x', true],
    ['https://a.test/docs/index.html', 'https://a.test/docs/', true],
    ['https://a.test/docs/intro.html?x', 'https://a.test/docs/other', true],
    ['https://a.test/docs', 'https://a.test/docs?page=2', true],
    ['https://a.test/docs', 'https://a.test/docs/x', true],
    ['https://a.test/docs', 'https://a.test/docs/', true],
    ['https://a.test/docs', 'https://a.test/docs-old', false],
    ['https://a.test/docs', 'https://a.test/docs-old/x', false],
    ['https://a.test/docs', 'https://a.test/', false],
    ['https://a.test/3.12', 'https://a.test/3.12/x', true],
    ['https://a.test/3.12', 'https://a.test/3.13/x', false],
    ['https://a.test/docs//x', 'https://a.test/docs//x/y', true],
    ['https://a.test/docs//x', 'https://a.test/docs/x/y', false],
    ['https://a.test', 'https://a.test/anything', true],
    ['https://a.test/~me/', 'https://a.test/%7Eme/x', true],
    ['https://a.test/docs/', 'http://a.test/docs/x', true],
    ['http://a.test/docs/', 'https://a.test/docs/x', true],
    ['https://a.test/docs/', 'https://a.test./docs/x', true],
    ['https://a.test/docs/', 'https://a.test:8443/docs/x', false],
    ['https://a.test:8443/docs/', 'https://a.test/docs/x', false],
    ['http://a.test:8080/docs/', 'http://a.test:8080/docs/x', true],
    ['https://a.test/docs/', 'https://b.test/docs/x', false],
    ['https://a.test/docs/', 'https://www.a.test/docs/x', false],
    ['https://a.test/docs/', 'https://a.test/DOCS/x', false],
  ])('of %s: %s is %s', (seed, text, expected) => expect(check(scopeOf('prefix', [seed]), text).inScope).toBe(expected))

  it('names the folder, or what is missing', () => {
    const scope = scopeOf('prefix', ['https://a.test/docs/', 'https://a.test/blog'])
    expect(check(scope, 'https://a.test/docs/x')).toEqual({
      inScope: true,
      rule: 'scope prefix: under https://a.test/docs/',
    })
    expect(check(scope, 'https://a.test/blog/x').rule).toBe('scope prefix: under https://a.test/blog')
    expect(check(scope, 'https://a.test/x').rule).toBe("scope prefix: in no seed's folder on a.test")
    expect(check(scope, 'https://b.test/x').rule).toBe('scope prefix: no seed on b.test')
    expect(check(scope, 'https://a.test/docs/')).toEqual({ inScope: true, rule: 'seed' })
  })

  it('holds a folder that several seeds share, at its widest', () => {
    const scope = scopeOf('prefix', ['https://a.test/a/b/c/', 'https://a.test/a/', 'https://a.test/a/b/x.html'])
    expect(check(scope, 'https://a.test/a/b/c/d').rule).toBe('scope prefix: under https://a.test/a/')
  })

  it('serves a hundred thousand seeds', () => {
    const seeds = Array.from({ length: 100_000 }, (_, index) => url(`https://h${index % 1000}.test/s${index}/`))
    const scope = createScope({ mode: 'prefix', seeds, include: [], exclude: [] })
    expect(seeds.every((seed) => scope.check(`${seed}x` as NormalizedUrl).inScope)).toBe(true)
    expect(check(scope, 'https://h1.test/s2/x').inScope).toBe(false)
  })
})

describe('the other modes', () => {
  it('host: any path on the same host, with the same rule for ports', () => {
    const scope = scopeOf('host', ['https://a.test/docs/', 'http://b.test:8080/'])
    expect(check(scope, 'http://a.test/x')).toEqual({ inScope: true, rule: 'scope host: on a.test' })
    expect(check(scope, 'http://b.test:8080/x').inScope).toBe(true)
    expect(check(scope, 'http://b.test/x')).toEqual({ inScope: false, rule: 'scope host: no seed on b.test' })
    expect(check(scope, 'http://www.a.test/x').inScope).toBe(false)
  })

  it('domain: every host and port under the registrable domain', () => {
    const scope = scopeOf('domain', ['https://docs.example.co.uk/x', 'https://me.github.io/', 'http://127.0.0.1:1/'])
    expect(check(scope, 'http://www.example.co.uk:8080/')).toEqual({
      inScope: true,
      rule: 'scope domain: in example.co.uk',
    })
    expect(check(scope, 'https://other.co.uk/').inScope).toBe(false)
    expect(check(scope, 'https://you.github.io/')).toEqual({
      inScope: false,
      rule: 'scope domain: no seed in you.github.io',
    })
    expect(check(scope, 'http://127.0.0.1:2/').inScope).toBe(true)
    expect(check(scope, 'http://127.0.0.2:1/').inScope).toBe(false)
  })

  it('any: everything', () => {
    expect(check(scopeOf('any', []), 'https://a.test/')).toEqual({ inScope: true, rule: 'scope any' })
  })
})

describe('include and exclude', () => {
  it('exclude wins over include, and the rule names the pattern', () => {
    const scope = scopeOf('host', ['https://a.test/'], ['/docs', '/blog/**'], ['*.pdf', '/docs/old'])
    expect(check(scope, 'https://a.test/docs/x')).toEqual({
      inScope: true,
      rule: 'scope host: on a.test, included by "/docs"',
    })
    expect(check(scope, 'https://a.test/docs/x.pdf')).toEqual({ inScope: false, rule: 'excluded by "*.pdf"' })
    expect(check(scope, 'https://a.test/docs/old/x').rule).toBe('excluded by "/docs/old"')
    expect(check(scope, 'https://a.test/x')).toEqual({ inScope: false, rule: 'matches no include pattern' })
  })

  it('do not widen the mode', () => {
    const scope = scopeOf('prefix', ['https://a.test/docs/'], ['/blog'])
    expect(check(scope, 'https://a.test/blog/x').inScope).toBe(false)
  })

  it('leave the seeds alone, however they are spelled', () => {
    const scope = scopeOf('prefix', ['https://a.test/~x.pdf'], ['/docs'], ['*.pdf'])
    expect(check(scope, 'https://a.test/%7Ex.pdf')).toEqual({ inScope: true, rule: 'seed' })
    expect(check(scope, 'https://a.test/~y.pdf').inScope).toBe(false)
  })

  it('a bad pattern is a usage error', () => {
    expect(() => scopeOf('any', [], ['re:('])).toThrow(/not closed/)
  })
})
