import { describe, expect, test } from 'vitest'
import { runFleet, runSeed } from '../../src/sim/index.ts'
import { KEPT_SEEDS } from './kept-seeds.ts'
import { brokenSeeds } from './seeds.ts'

describe('a seed', () => {
  test('gives the same run every time, event by event', async () => {
    const digests = new Set<string>()
    for (let seed = 1; seed <= 25; seed++) {
      const [first, second] = [await runSeed(seed), await runSeed(seed)]
      expect(second).toEqual(first)
      digests.add(first.digest)
    }
    expect(digests.size).toBe(25)
  })

  test('that once failed does not fail again', { timeout: 600_000 }, async () => {
    expect(await brokenSeeds(KEPT_SEEDS.map(({ seed }) => seed))).toEqual([])
  })
})

test('a fleet of 200 workers keeps every law over 5,000 hosts', { timeout: 300_000 }, async () => {
  const report = await runFleet({ workers: 200, hosts: 5_000, pagesPerHost: 3, seed: 7 })
  expect(report.pages).toBe(15_000)
  expect(await runFleet({ workers: 200, hosts: 5_000, pagesPerHost: 3, seed: 7 })).toEqual(report)
})
