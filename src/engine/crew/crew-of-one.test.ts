import { expect, test } from 'vitest'
import { createRng, createVirtualClock } from '../../base/index.ts'
import { settingsFromLibrary } from '../../config/index.ts'
import { createFrontier } from '../../frontier/index.ts'
import type { NormalizedUrl } from '../../model/index.ts'
import { frontierOptionsOf } from '../frontier-options.ts'
import { createManners } from '../manners.ts'
import { createSeedScope } from '../seed-scope.ts'
import { seedFound } from '../crawl.ts'
import type { EngineAmongOthers } from '../engine.ts'
import { createCrew, type CrewOptions, type OwnPart } from './crew.ts'

const SEED = 'http://a.test/' as NormalizedUrl
const IDLE: Omit<EngineAmongOthers, 'run' | 'stop'> = {
  abort: () => {},
  fail: () => {},
  storeLost: () => {},
  storeBack: () => {},
  look: () => {},
  pause: () => {},
  resize: () => {},
  inFlight: 0,
  drainUntil: undefined,
}

/** A crew in which only the thread of the frontier works, as told: `work` is given what a stop resolves. */
function setUp(work: (part: OwnPart, stopped: Promise<void>) => Promise<unknown>, more: Partial<CrewOptions> = {}) {
  const clock = createVirtualClock()
  const settings = settingsFromLibrary({ drain: '1s', delay: 0 }, '0.0.0')
  const manners = createManners(settings, { clock, loadHost: (host) => frontier.host(host), onViolation: () => {} })
  const { policyOf } = manners.registry
  const frontier = createFrontier({
    ...frontierOptionsOf(settings, { policyOf, isFleet: false, once: false }),
    store: 'memory',
    clock,
  })
  const own = (part: OwnPart): EngineAmongOthers => {
    const { promise: stopped, resolve: stop } = Promise.withResolvers<void>()
    return { ...IDLE, stop: () => stop(), run: () => work(part, stopped).then(() => 'stopped' as const) }
  }
  const crew = createCrew({
    ...manners,
    threads: 1,
    own,
    slots: 1,
    worker: 'here',
    settings,
    seedScope: createSeedScope(settings, [SEED]),
    frontier,
    settler: { settle: async () => 'settled', flush: async () => {}, hurry: () => {} },
    repetitions: { judge: () => ({}) },
    thread: { wantsMarkdown: false, isArchiving: false, clockOrigin: 0 },
    clock,
    rng: createRng(1),
    ...more,
  })
  const run = () => crew.run(async () => void (await frontier.add([seedFound(SEED, () => undefined)])))
  return { crew, clock, run }
}

const ask = (part: OwnPart) => part.frontier.lease({ worker: 'here', want: 1, unproven: 1, request: '0' })

test('a stop gives up a store that stays out of reach, and says so', async () => {
  const never = new Promise<never>(() => {})
  const { crew, clock, run } = setUp(
    async (part, stopped) => {
      const [lease] = (await ask(part)).leases
      const [task] = lease?.tasks ?? []
      if (lease !== undefined && task !== undefined)
        void part.settler.settle({ lease, task, outcome: { kind: 'returned' } }, 0)
      await stopped
    },
    { settler: { settle: () => never, flush: async () => {}, hurry: () => {} } },
  )
  const over = run().catch((error: unknown) => error)
  await clock.advance(10)
  crew.storeLost()
  crew.stop()
  await clock.advance(10_000)
  expect(await over).toMatchObject({ code: 'store' })
})

test('whoever asks for leases after a stop does not wait for a consumer that reads no more', async () => {
  const { crew, clock, run } = setUp(
    async (part, stopped) => {
      await stopped
      expect((await ask(part)).leases).toEqual([])
    },
    { readyForMore: () => new Promise(() => {}) },
  )
  const over = run()
  await clock.advance(10)
  crew.stop()
  await clock.advance(10)
  expect(await over).toBe('stopped')
})
