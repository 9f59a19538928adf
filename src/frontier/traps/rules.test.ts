import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { NormalizedUrl } from '../../model/index.ts'
import { shapeOf } from '../../url/index.ts'
import { isWithinRules, ruleAgainst } from './rules.ts'

const segment = fc.constantFrom('a', 'a', 'b', 'a;s=1', 'long-name', '17', '', 'x'.repeat(700))
const query = fc.constantFrom('', '?', '?a=1', '?a=1&a=1', `?${'p=1&q=2&'.repeat(20)}`)

test('a URL of which it can be told at once is within all rules', () => {
  let told = 0
  fc.assert(
    fc.property(fc.array(segment, { maxLength: 45 }), query, (segments, asked) => {
      const url = `https://a.test/${segments.join('/')}${asked}` as NormalizedUrl
      if (!isWithinRules(url)) return
      told++
      expect(ruleAgainst(url.length, shapeOf(url))).toBeUndefined()
    }),
    { numRuns: 3_000 },
  )
  expect(told).toBeGreaterThan(10)
})

test('that can be told of usual URLs', () => {
  for (const path of ['', 'a', 'doc/manual/html/page-1.html', '2026/11/16/words-of-the-day']) {
    expect(isWithinRules(`https://a.test/${path}` as NormalizedUrl)).toBe(path !== '')
  }
})
