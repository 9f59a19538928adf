/** Crawls of their own on a test server, each on its virtual clock; all of them share one connection. */
import { randomUUID } from 'node:crypto'
import { createRng, createSystemClock, type Clock } from '../../../base/index.ts'
import type { FrontierOptions } from '../../contract.ts'
import { connectRedis } from '../connection.ts'
import type { RedisLink } from '../link.ts'
import { createRedisFrontier, type FleetFrontier } from '../frontier.ts'

export interface TestFrontierOptions extends FrontierOptions {
  readonly crawl?: string
  readonly worker?: string
  readonly partitions?: number
  readonly stream?: boolean
  readonly hostsKept?: number
}

export interface TestFrontiers {
  readonly link: RedisLink
  open(options: TestFrontierOptions, clock: Clock): FleetFrontier
  close(): Promise<void>
}

/** `twice`: each script is sent twice, as if every first reply had been lost. */
export function createTestFrontiers(url: string, { twice = false } = {}): TestFrontiers {
  const link = connectRedis(url, { clock: createSystemClock(), rng: createRng(1) })
  const run: RedisLink['run'] = async (script, keys, args) => {
    if (twice) await link.run(script, keys, args)
    return link.run(script, keys, args)
  }
  // The connection outlives the frontiers.
  const shared = { ...link, run, close: async () => undefined }
  return {
    link,
    open({ hostsKept: _unused, ...options }, clock) {
      const { domainDelayMs, addressDelayMs } = options.groups
      const isGrouped = domainDelayMs > 0 || addressDelayMs > 0
      return createRedisFrontier(
        {
          crawl: `test-${randomUUID()}`,
          worker: 'w',
          partitions: isGrouped ? 1 : 16,
          stream: false,
          isTimeTold: true,
          ...options,
        },
        { link: shared, clock },
      )
    },
    close: () => link.close(),
  }
}
