import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { assignPartitions, type Assignment } from './assignment.ts'

const workers = fc.uniqueArray(fc.stringMatching(/^w[0-9]{1,2}$/), { maxLength: 40 })
const sizes = (assignment: Assignment): number[] => Object.values(assignment).map((share) => share.length)

/** How often a partition is with a worker that did not have it. */
function moves(before: Assignment, after: Assignment): number {
  let moved = 0
  for (const [worker, share] of Object.entries(after))
    for (const partition of share) if (!(before[worker] ?? []).includes(partition)) moved += 1
  return moved
}

describe('assigning partitions to workers', () => {
  test('gives each partition to one worker, in shares that differ by one at most', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 64 }), workers, workers, (partitions, first, second) => {
        fc.pre(second.length > 0 && second.length <= partitions)
        const after = assignPartitions(partitions, second, assignPartitions(partitions, first, {}))
        expect(
          Object.values(after)
            .flat()
            .sort((a, b) => a - b),
        ).toEqual(Array.from({ length: partitions }, (_, p) => p))
        expect(Math.max(...sizes(after)) - Math.min(...sizes(after))).toBeLessThanOrEqual(1)
      }),
    )
  })

  test('with more workers than partitions gives each worker one, and each partition about as many workers', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 16 }), workers, workers, (partitions, first, second) => {
        fc.pre(second.length > partitions)
        const after = assignPartitions(partitions, second, assignPartitions(partitions, first, {}))
        expect(new Set(sizes(after))).toEqual(new Set([1]))
        const counts = Array.from(
          { length: partitions },
          (_, p) =>
            Object.values(after)
              .flat()
              .filter((q) => q === p).length,
        )
        expect(Math.max(...counts)).toBeLessThanOrEqual(Math.ceil(second.length / partitions))
      }),
    )
  })

  test('changes nothing while the workers stay the same', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 64 }), workers, (partitions, live) => {
        const before = assignPartitions(partitions, live, {})
        expect(assignPartitions(partitions, [...live].reverse(), before)).toEqual(before)
      }),
    )
  })

  test('moves only what a worker that comes gets, and what one that goes leaves', () => {
    const three = assignPartitions(16, ['a', 'b', 'c'], {})
    const four = assignPartitions(16, ['a', 'b', 'c', 'd'], three)
    expect([sizes(four), moves(three, four)]).toEqual([[4, 4, 4, 4], 4])
    const back = assignPartitions(16, ['a', 'c', 'd'], four)
    expect(moves(four, back)).toBe(4)
  })

  test('of no workers is empty', () => {
    expect(assignPartitions(16, [], { a: [1] })).toEqual({})
  })
})
