import { beforeAll } from 'vitest'
import { describeFrontier } from '../../../test/conformance/frontier.ts'
import { sharedRedis } from '../../../test/support/redis/shared.ts'
import { createTestFrontiers, type TestFrontiers } from './test-support/test-frontiers.ts'

let frontiers: TestFrontiers
beforeAll(async () => {
  frontiers = createTestFrontiers(await sharedRedis())
  return () => frontiers.close()
})

describeFrontier('redis', (options, clock) => frontiers.open(options, clock))
