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
      const admit = createAdmission(given, generation)
      for (const path of paths) {
        const link = `https://a.test${path}` as NormalizedUrl
        const url = given.strip(link)
        const isIn = given.scope.check(url).inScope
        expect(admit(link)).toEqual(isIn ? { url, tier: given.tierOf(url) } : undefined)
      }
    }),
  )
})

test('goes by the scope as it is now', () => {
  const given = rules(scopeOf('https://a.test/a/'))
  const admit = createAdmission(given)
  const link = 'https://b.test/x' as NormalizedUrl
  expect(admit(link)).toBeUndefined()
  given.scope = scopeOf('https://a.test/a/', 'https://b.test/')
  expect(admit(link)).toEqual({ url: link, tier: undefined })
})
