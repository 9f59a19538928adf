import { expect, test } from 'vitest'
import { resolveSettings, type Settings } from '../../config/index.ts'
import type { NormalizedUrl } from '../../model/index.ts'
import {
  assumeWeb,
  boundOf,
  canBeBusy,
  enoughSlots,
  longestChains,
  longestGroup,
  resliced,
  runPlan,
  USUAL_COSTS,
  type Assumptions,
  type MachineCosts,
  type Plan,
  type PlannedWeb,
} from './index.ts'

/** A machine that costs nothing, so that times are the web's alone. */
const FREE: MachineCosts = {
  requestMs: 0,
  pageMs: 0,
  coldPages: 0,
  commitMs: 0,
  timerLagMs: 0,
  startMs: 0,
  from: 'usual',
}

const settingsOf = (flags: Record<string, unknown> = {}): Settings =>
  resolveSettings({ version: '0.0.0', flags: { sitemaps: false, latencyFactor: 0, ...flags } }).settings

const webOf = (assumed: Partial<Assumptions> = {}): PlannedWeb =>
  assumeWeb({
    seeds: ['https://a.test/' as NormalizedUrl],
    hosts: 1,
    pagesPerHost: 30,
    latencyMs: 100,
    bytesPerPage: 30_000,
    oneDomain: false,
    ...assumed,
  })

const planOf = (
  web: PlannedWeb,
  flags: Record<string, unknown> = {},
  { slots = 20, costs = FREE }: { slots?: number; costs?: MachineCosts } = {},
): Promise<Plan> => runPlan({ settings: settingsOf(flags), web, costs, slots })

test('one host takes as long as its requests and the delays between them', async () => {
  const plan = await planOf(webOf())
  expect(plan).toMatchObject({ end: 'finished', pages: 30, requests: 31, failed: 0, bytes: 900_000 })
  expect(plan.hosts.get('a.test')?.endMs).toBe(31 * 100 + 30 * 1_000)
  // With nothing else under way the last page is settled at once.
  expect(plan.durationMs).toBe(31 * 100 + 30 * 1_000)
})

test('hosts side by side take as long as one of them while there are slots for all', async () => {
  const [one, twenty] = [await planOf(webOf()), await planOf(webOf({ hosts: 20 }), {}, { slots: 30 })]
  expect(twenty.pages).toBe(20 * one.pages)
  expect(twenty.durationMs).toBe(one.durationMs)
})

test('without a delay a crawl takes its waiting, divided by its slots, and the slots bound it', async () => {
  const web = webOf({ hosts: 40, pagesPerHost: 24 })
  const [four, eight] = [
    await planOf(web, { delay: '0' }, { slots: 4 }),
    await planOf(web, { delay: '0' }, { slots: 8 }),
  ]
  expect(four.durationMs).toBeGreaterThanOrEqual((40 * 25 * 100) / 4)
  expect(four.slotUse).toBeGreaterThan(0.9)
  expect(four.durationMs).toBeGreaterThan(1.8 * eight.durationMs)
  expect(boundOf(four, longestChains(web, four, settingsOf({ delay: '0' }), 1)[0])).toBe('slots')
})

test('a page costs the machine its time, and a crawl that nothing else bounds takes as long as that', async () => {
  const web = webOf({ hosts: 20, pagesPerHost: 50, latencyMs: 1 })
  const plan = await planOf(web, { delay: '0' }, { costs: { ...FREE, pageMs: 5 } })
  expect(plan.durationMs).toBeGreaterThanOrEqual(20 * 50 * 5)
  expect(plan.machineUse).toBeGreaterThan(0.9)
  expect(boundOf(plan, longestChains(web, plan, settingsOf({ delay: '0' }), 1)[0])).toBe('machine')
})

test('the same plan is the same to the millisecond', async () => {
  const plan = (): Promise<Plan> => planOf(webOf({ hosts: 7 }), {}, { slots: 3, costs: USUAL_COSTS })
  expect(await plan()).toEqual(await plan())
})

test('a page limit ends the plan as it would end the crawl', async () => {
  const web = webOf()
  const plan = await planOf(web, { maxPages: 12 })
  expect(plan).toMatchObject({ end: 'limit', pages: 12 })
  expect(boundOf(plan, longestChains(web, plan, settingsOf(), 1)[0])).toBe('limit')
})

test('a crawl of a million pages is planned with fewer, and takes as long as all of them', async () => {
  const web = webOf({ hosts: 10, pagesPerHost: 100_000 })
  expect(web.shrink).toBe(50)
  const plan = await planOf(web)
  expect(plan.pages).toBe(1_000_000)
  const chainMs = 100_001 * 1_100
  expect(Math.abs(plan.durationMs / chainMs - 1)).toBeLessThan(0.001)
})

test('the longest chain has the delay in force and says where it comes from', async () => {
  const web = webOf({ hosts: 2, latencyMs: 400 })
  const settings = settingsOf({ latencyFactor: 5, latencyMaxDelay: '10s', sites: undefined })
  const plan = await runPlan({ settings, web, costs: FREE, slots: 20 })
  const [chain] = longestChains(web, plan, settings, 5)
  expect(chain).toMatchObject({ pages: 30, requests: 31, latencyMs: 400, delayMs: 2_000, from: 'latency' })
  expect(chain?.chainMs).toBe(31 * 400 + 30 * 2_000)
  expect(boundOf(plan, chain)).toBe('host')
})

test.each([
  [{ delay: '1s', perHost: 3 }, 100],
  [{ delay: '400ms', perHost: 3 }, 1_500],
  [{ delay: '400ms', perHost: 2 }, 3_000],
  [{ delay: '1s', perHost: 8 }, 2_500],
])(
  'with several in flight (%j) a host that answers after %d ms takes by itself what it takes',
  async (flags, latencyMs) => {
    const web = webOf({ latencyMs, pagesPerHost: 200 })
    const plan = await planOf(web, flags)
    const [chain] = longestChains(web, plan, settingsOf(flags), 1)
    expect(chain?.chainMs).toBeLessThanOrEqual(plan.durationMs)
    expect(chain?.chainMs).toBeGreaterThan(0.9 * plan.durationMs)
    expect(boundOf(plan, chain)).toBe('host')
  },
)

test('several in flight make a host quicker only where it answers more slowly than its delay', async () => {
  const takes = async (perHost: number, latencyMs: number): Promise<number> => {
    const web = webOf({ latencyMs })
    const settings = settingsOf({ perHost })
    const [chain] = longestChains(web, await planOf(web, { perHost }), settings, 1)
    return chain?.chainMs ?? 0
  }
  expect(await takes(3, 100)).toBe(await takes(1, 100))
  expect(await takes(3, 2_500)).toBeLessThan(0.7 * (await takes(1, 2_500)))
})

test('hosts of one domain are bounded by the delay that they share', async () => {
  const web = webOf({ hosts: 5, pagesPerHost: 10, oneDomain: true })
  const flags = { perDomainDelay: '2s', perHost: 3 }
  const plan = await planOf(web, flags)
  const [chain] = longestChains(web, plan, settingsOf(flags), 1)
  expect(chain).toMatchObject({ delayMs: 2_000, from: 'domain', chainMs: 11 * 100 + 10 * 2_000 })
  const group = longestGroup(web, plan, settingsOf(flags))
  expect(group).toMatchObject({ by: 'domain', name: 'a.test', hosts: 5, chainMs: 55 * 100 + 54 * 2_000 })
  expect(boundOf(plan, chain, group)).toBe('domain')
})

test('slots are enough from where the next ones save no fiftieth', () => {
  const plan = (slots: number, durationMs: number): Plan => ({ slots, durationMs }) as Plan
  expect(enoughSlots([plan(1, 1_000), plan(2, 510), plan(5, 402), plan(10, 400)])).toBe(5)
})

test('the machine is worth measuring only where hosts can be asked fast enough to keep it busy', () => {
  const slow = webOf({ hosts: 20 })
  const fast = webOf({ hosts: 1_000 })
  expect(canBeBusy(slow.hosts(), 20, settingsOf())).toBe(false)
  expect(canBeBusy(fast.hosts(), 20, settingsOf())).toBe(true)
  expect(canBeBusy(fast.hosts(), 1, settingsOf())).toBe(false)
  expect(canBeBusy(slow.hosts(), 20, settingsOf({ delay: '0', perHost: 20 }))).toBe(true)
})

test('every page is in exactly one slice, however the slices are cut', async () => {
  const plan = await planOf(webOf({ hosts: 5 }))
  for (const columns of [1, 7, 60]) {
    const { counts, widthMs } = resliced(plan.slices, columns)
    expect(counts.reduce((sum, count) => sum + count)).toBe(150)
    expect(widthMs * counts.length).toBeGreaterThanOrEqual(plan.durationMs)
  }
})
