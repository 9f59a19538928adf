import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { giveBack, memoryFor } from './member-memory.ts'

describe('the memory of members', () => {
  test('is nobody else’s until it is given back, whatever is taken and given back in between', () => {
    const steps = fc.array(fc.record({ bytes: fc.integer({ min: 1, max: 40_000 }), back: fc.nat({ max: 3 }) }), {
      maxLength: 200,
    })
    fc.assert(
      fc.property(steps, fc.integer(), (all, start) => {
        const held: { memory: Buffer; mark: number }[] = []
        for (const [index, { bytes, back }] of all.entries()) {
          const mark = (start + index) & 255
          held.push({ memory: memoryFor(bytes).fill(mark), mark })
          for (let left = back; left > 0 && held.length > 0; left--) {
            const [{ memory, mark: own }] = held.splice((index * 7 + left) % held.length, 1) as [(typeof held)[0]]
            expect(memory.every((byte) => byte === own)).toBe(true)
            giveBack(memory)
          }
        }
        for (const { memory, mark } of held) {
          expect(memory.every((byte) => byte === mark)).toBe(true)
          giveBack(memory)
        }
      }),
      { numRuns: 50 },
    )
  })

  test('is used again when it was given back', () => {
    const buffers = new Set<ArrayBufferLike>()
    for (let round = 0; round < 1_000; round++) {
      const members = Array.from({ length: 40 }, () => memoryFor(10_000))
      for (const { buffer } of members) buffers.add(buffer)
      members.forEach(giveBack)
    }
    expect(buffers.size).toBeLessThan(10)
  })
})
