import { beforeAll } from 'vitest'
import { describeFrontier } from '../../../test/conformance/frontier.ts'
import { sharedCluster } from '../../../test/support/redis/shared.ts'
import { createTestFrontiers, type TestFrontiers } from './test-support/test-frontiers.ts'

let frontiers: TestFrontiers
beforeAll(async () => {
  frontiers = createTestFrontiers(await sharedCluster())
  return () => frontiers.close()
})

describeFrontier('redis cluster', (options, clock) => frontiers.open(options, clock), 0.2)
