import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DEFAULT_SCORE } from './defaults.ts'
import { isMilestone, rankOf, scoreOf, scoreParts, type ScoreInputs } from './score.ts'

const NOW = 1_790_000_000_000
const DAY = 86_400_000
const url = fc.record({
  depth: fc.nat(200),
  referrers: fc.integer({ min: 1, max: 100_000 }),
  changeRate: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: undefined }),
  since: fc.integer({ min: NOW - 7 * DAY, max: NOW }),
})
const scored = (input: Omit<ScoreInputs, 'hostImportance'>, at: number): number =>
  scoreOf(scoreParts({ ...input, hostImportance: 0.5 }, at, DEFAULT_SCORE), DEFAULT_SCORE)

test('every part and every score is from 0 to 1', () => {
  fc.assert(
    fc.property(url, fc.double({ min: 0, max: 1, noNaN: true }), (input, hostImportance) => {
      const parts = scoreParts({ ...input, hostImportance }, NOW, DEFAULT_SCORE)
      for (const part of [...Object.values(parts), scoreOf(parts, DEFAULT_SCORE)]) {
        expect(part).toBeGreaterThanOrEqual(0)
        expect(part).toBeLessThanOrEqual(1)
      }
    }),
  )
})

test('ranks of one host are in the order of scores, now and at any later time within the age that counts', () => {
  fc.assert(
    fc.property(url, url, (a, b) => {
      const difference = scored(a, NOW) - scored(b, NOW)
      const ranks = rankOf(a, DEFAULT_SCORE) - rankOf(b, DEFAULT_SCORE)
      // A rank has a hundred thousand steps in a point of score.
      if (Math.abs(difference) > 3e-5) expect(Math.sign(ranks)).toBe(-Math.sign(difference))
    }),
  )
})

test('a rank is a whole number of 32 bits, whatever it is made from', () => {
  const weight = fc.double({ min: 0, max: 1, noNaN: true })
  fc.assert(
    fc.property(
      url,
      fc.record({ importance: weight, change: weight, age: weight, depth: weight }),
      fc.integer({ min: 1, max: 400 * DAY }),
      (input, weights, ageMs) => {
        const rank = rankOf(input, { ...DEFAULT_SCORE, weights, ageMs })
        expect(Number.isInteger(rank)).toBe(true)
        expect(rank).toBeGreaterThanOrEqual(0)
        expect(rank).toBeLessThan(2 ** 32)
      },
    ),
  )
})

test('the place changes at milestones of referrers and nowhere else', () => {
  const at = (referrers: number): number =>
    rankOf({ depth: 1, referrers, changeRate: undefined, since: NOW }, DEFAULT_SCORE)
  for (let count = 2; count < 5_000; count++) expect(at(count) !== at(count - 1)).toBe(isMilestone(count))
})
