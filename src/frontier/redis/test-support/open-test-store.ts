/** A crawl of its own on a test server, on a virtual clock, with what takes URLs in. */
import { createHash, randomUUID } from 'node:crypto'
import { createRng, createSystemClock, createVirtualClock, type VirtualClock } from '../../../base/index.ts'
import { connectRedis, type RedisConnection } from '../connection.ts'
import { createIntake, type Intake } from '../intake.ts'
import type { RedisLink } from '../link.ts'
import type { ScriptSettings } from '../options.ts'
import { createOutbox, type Outbox } from '../outbox.ts'
import { openStore, type Store } from '../store.ts'
import { PLAIN_FRONTIER } from '../../../../test/support/plain-frontier.ts'

export interface TestStore {
  readonly clock: VirtualClock
  readonly link: RedisConnection
  readonly store: Store
  readonly intake: Intake
  readonly outbox: Outbox
  /** Another process on the same crawl. */
  another(): Promise<TestStore>
}

export interface TestStoreOptions extends Partial<ScriptSettings> {
  readonly partitions?: number
  readonly crawl?: string
  /** How often each script is sent, as if every reply but the last had been lost. */
  readonly sends?: number
}

export async function openTestStore(
  url: string,
  options: TestStoreOptions = {},
  clock = createVirtualClock(),
): Promise<TestStore> {
  const { partitions = 4, crawl = `test-${randomUUID()}`, sends = 1, ...settings } = options
  const link = connectRedis(url, { clock: createSystemClock(), rng: createRng(1) })
  const run: RedisLink['run'] = async (...request) => {
    for (let lost = 1; lost < sends; lost++) await link.run(...request)
    return link.run(...request)
  }
  const store = await openStore(
    {
      crawl,
      worker: 'w',
      partitions,
      isTimeTold: true,
      settings: {
        ...PLAIN_FRONTIER,
        policyOf: () => ({ delayMs: 1_000, concurrency: 1 }),
        stream: false,
        ...settings,
      },
    },
    { link: { ...link, run }, clock },
  )
  const outbox: Outbox = createOutbox({ store, intake: () => intake })
  const intake: Intake = createIntake({ store, deliver: outbox.deliver })
  return { clock, link, store, intake, outbox, another: () => openTestStore(url, { ...options, crawl }, clock) }
}

/** One plain command on one key, for looking at what is kept and for making things happen to it. */
export async function command(
  { link }: Pick<TestStore, 'link'>,
  name: string,
  key: string,
  ...args: readonly (string | number)[]
): Promise<unknown> {
  const text = `return redis.call('${name}', KEYS[1], unpack(ARGV))`
  return link.run({ name, text, sha: createHash('sha1').update(text).digest('hex') }, [key], args)
}

/** The sum of a counter over all partitions. */
export async function total(store: TestStore, name: string): Promise<number> {
  const all = await Promise.all(
    store.store.partitions.map(({ keys }) => command(store, 'HGET', keys.fixed[0] ?? '', name)),
  )
  return all.reduce<number>((sum, value) => sum + Number(value ?? 0), 0)
}
