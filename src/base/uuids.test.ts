import { expect, test } from 'vitest'
import { createUuids } from './index.ts'

test('uuids are random ones by their form, and no two are the same', () => {
  const next = createUuids()
  const drawn = Array.from({ length: 10_000 }, next)
  for (const uuid of drawn) expect(uuid).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
  expect(new Set(drawn).size).toBe(drawn.length)
  // Each digit that is left to chance takes all its values.
  const values = (place: number): number => new Set(drawn.map((uuid) => uuid[place])).size
  const counts = Array.from({ length: 36 }, (_, place) => values(place))
  const fixed = new Map([8, 13, 14, 18, 23].map((place) => [place, 1]))
  expect(counts).toEqual(counts.map((_, place) => fixed.get(place) ?? (place === 19 ? 4 : 16)))
})
