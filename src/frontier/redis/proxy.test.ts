import { beforeAll, expect, test } from 'vitest'
import { describeFrontier } from '../../../test/conformance/frontier.ts'
import { createFaultyProxy, type FaultyProxy } from '../../../test/support/redis/faulty-proxy.ts'
import { sharedRedis } from '../../../test/support/redis/shared.ts'
import { createTestFrontiers, type TestFrontiers } from './test-support/test-frontiers.ts'

/** Of each piece of data, in either direction, to be the last of its connection. */
const CUT_CHANCE = 0.002
/** Of each to be late, by more than many others take. */
const DELAY_CHANCE = 0.02
const DELAY_MS = 20

let proxy: FaultyProxy
let frontiers: TestFrontiers
beforeAll(async () => {
  proxy = await createFaultyProxy(Number(new URL(await sharedRedis()).port))
  proxy.set({ cutChance: CUT_CHANCE, delayMs: DELAY_MS, delayChance: DELAY_CHANCE, double: true })
  frontiers = createTestFrontiers(proxy.url)
  return async () => {
    await frontiers.close()
    await proxy.close()
  }
})

describeFrontier(
  'redis (through a proxy that delays, cuts and doubles)',
  (options, clock) => frontiers.open(options, clock),
  0.3,
)

test('connections were cut on the way', () => expect(proxy.cuts).toBeGreaterThan(10))
