import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addVotes, beginVote, createBallot, majority } from './votes.ts'

const words = fc.array(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), { maxLength: 200 })

/** Bit by bit. */
function majorityOf(votes: readonly number[]): number {
  let word = 0
  for (let bit = 0; bit < 32; bit++) {
    const ones = votes.filter((vote) => ((vote >>> bit) & 1) === 1).length
    if (ones * 2 > votes.length) word |= 1 << bit
  }
  return word
}

test('a bit is set where more than half of the words set it, however they are added', () => {
  const ballot = createBallot()
  fc.assert(
    fc.property(fc.array(words, { maxLength: 5 }), (batches) => {
      beginVote(ballot)
      for (const batch of batches) {
        const padded = new Int32Array(208).fill(-1)
        padded.set(batch)
        addVotes(ballot, padded, batch.length)
      }
      expect(majority(ballot)).toBe(majorityOf(batches.flat()))
    }),
  )
})

test('counts go beyond any group of words', () => {
  const ballot = createBallot()
  const ones = new Int32Array(1024)
  for (let round = 0; round < 100; round++) addVotes(ballot, ones.fill(5), 1000)
  for (let round = 0; round < 99; round++) addVotes(ballot, ones.fill(2), 1000)
  expect(majority(ballot)).toBe(5)
})
