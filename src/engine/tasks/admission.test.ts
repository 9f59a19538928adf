import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { NormalizedUrl, Tier } from '../../model/index.ts'
import { createScope, type Scope } from '../../url/index.ts'
import { createAdmission } from './admission.ts'

const scopeOf = (...seeds: string[]): Scope =>
  createScope({ mode: 'prefix', seeds: seeds as NormalizedUrl[], include: [], exclude: [] })

function rules(scope: Scope) {
  return {
    scope,
    strip: (url: NormalizedUrl) => url.replace(/\?.*/, '') as NormalizedUrl,
    tierOf: (url: NormalizedUrl): Tier | undefined => (url.endsWith('0') ? 'high' : undefined),
  }
}

test('answers what scope, stripping and rules give, however often it is asked and whatever it has forgotten', () => {
  const links = fc.array(fc.constantFrom('/a/0', '/a/1', '/a/0?x', '/b/0', '/a/2', '/a/3?y'))
  fc.assert(
    fc.property(links, fc.integer({ min: 1, max: 4 }), (paths, generation) => {
      const given = rules(scopeOf('https://a.test/a/'))
      const admission = createAdmission(given, generation)
      for (const path of paths) {
        const link = `https://a.test${path}` as NormalizedUrl
        const url = given.strip(link)
        const isIn = given.scope.check(url).inScope
        expect(admission.one(link)).toEqual(isIn ? { url, tier: given.tierOf(url) } : undefined)
      }
    }),
  )
})

test('takes links with numbers as it takes those without, in every era', () => {
  const paths = ['/a/0', '/a/1', '/a/0?x', '/b/0', '/a/2', '/a/3?y', '/a/3', '/a/4', '/c']
  const page = fc.record({ paths: fc.uniqueArray(fc.constantFrom(...paths)), era: fc.nat(2) })
  const isWhole = fc.boolean()
  fc.assert(
    fc.property(fc.array(page), isWhole, (pages, isStripped) => {
      const given = rules(scopeOf('https://a.test/a/'))
      if (!isStripped) given.strip = (url) => url
      const [byNumber, byText] = [createAdmission(given), createAdmission(given)]
      const eras = [{}, {}, {}]
      for (const { paths: some, era } of pages) {
        const links = some.map((path) => `https://a.test${path}` as NormalizedUrl)
        // Each era has numbers of its own.
        const numbers = some.map((path) => 1 + ((paths.indexOf(path) + 4 * era) % paths.length))
        const found = byNumber.all(links, { numbers, era: eras[era]! })
        const { links: taken, tiered } = byText.all(links)
        expect([found.links, found.tiered]).toEqual([taken, tiered])
        const numbering = found.numbering?.numbers.map((number) => links[numbers.indexOf(number)])
        expect(numbering ?? found.links).toEqual(found.links)
      }
    }),
  )
})

test('goes by the scope as it is now', () => {
  const given = rules(scopeOf('https://a.test/a/'))
  const admission = createAdmission(given)
  const link = 'https://b.test/x' as NormalizedUrl
  expect(admission.one(link)).toBeUndefined()
  given.scope = scopeOf('https://a.test/a/', 'https://b.test/')
  expect(admission.one(link)).toEqual({ url: link, tier: undefined })
})
