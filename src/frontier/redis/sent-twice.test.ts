/** The link sends a script again when its reply was lost. Here every reply is lost once, and the contract holds all the same. */
import { beforeAll } from 'vitest'
import { describeFrontier } from '../../../test/conformance/frontier.ts'
import { sharedRedis } from '../../../test/support/redis/shared.ts'
import { createTestFrontiers, type TestFrontiers } from './test-support/test-frontiers.ts'

let frontiers: TestFrontiers
beforeAll(async () => {
  frontiers = createTestFrontiers(await sharedRedis(), { twice: true })
  return () => frontiers.close()
})

describeFrontier('redis (every script sent twice)', (options, clock) => frontiers.open(options, clock), 0.2)
