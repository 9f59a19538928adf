/** Half of the seeds; the other half is in its own file, so that both run at once. */
import { expect, test } from 'vitest'
import { brokenSeeds, seedsOf } from './seeds.ts'

test('no law is broken by any odd seed', { timeout: 3_600_000 }, async () => {
  expect(await brokenSeeds(seedsOf(1))).toEqual([])
})
