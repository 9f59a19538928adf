import { describe, expect, test } from 'vitest'
import { createRng } from '../../src/base/index.ts'
import { STORE_COSTS } from '../../src/sim/fleet-costs.ts'
import { createMaster } from '../../src/sim/fleet-master.ts'
import { FLEET_DEFAULTS, runFleetScale, type FleetScaleReport, type FleetShape } from '../../src/sim/index.ts'

const SMALL: FleetShape = {
  ...FLEET_DEFAULTS,
  workers: 200,
  hosts: 20_000,
  pagesPerHost: 1,
  partitions: 64,
  nodes: 8,
  delayMs: 1_000,
}
const run = (change: Partial<FleetShape>, requestsPerSample = 1_500): Promise<FleetScaleReport> =>
  runFleetScale({ shape: { ...SMALL, ...change }, samples: 1, seed: 7, requestsPerSample })

describe('a fleet on a cluster', () => {
  test('is the same every time from one seed', async () => {
    const [first, again] = [await run({}), await run({})]
    expect(again).toEqual(first)
  })

  test('keeps every law in a sample that has all the hosts of its partition, with workers killed on the way', async () => {
    const { samples } = await runFleetScale({
      shape: SMALL,
      samples: 2,
      seed: 3,
      killed: 0.5,
      requestsPerSample: 1_300,
    })
    expect(samples.map(({ isWhole, hosts }) => [isWhole, hosts])).toEqual([
      [true, 313],
      [true, 313],
    ])
  })

  test('is bound by the pace of its hosts when there are few of them', async () => {
    const few = { workers: 64, nodes: 64, hosts: 640, pagesPerHost: 50 }
    const { bound, requestsPerS } = await run(few)
    expect(bound).toBe('hosts')
    // As if hosts took no time to answer.
    expect(requestsPerS).toBeLessThan((few.hosts * 1_000) / SMALL.delayMs)
  })

  test('is bound by its slots when masters and hosts have time to spare', async () => {
    const { bound, busy } = await run({ workers: 16, slots: 4 })
    expect(bound).toBe('slots')
    expect(Math.max(...busy)).toBeLessThan(0.9)
  })

  test('is bound by its masters when many workers share few of them, and by them less when there are more', async () => {
    const few = await run({ nodes: 1 })
    const more = await run({ nodes: 4 })
    expect(few.bound).toBe('masters')
    expect(few.requestsPerS * few.storeMsPerRequest).toBeLessThanOrEqual(1_050)
    expect(more.requestsPerS).toBeGreaterThan(2 * few.requestsPerS)
  })

  test('places every partition on a master, the fullest first', async () => {
    const { masters } = await run({})
    expect(masters.reduce((sum, count) => sum + count, 0)).toBe(SMALL.partitions)
    expect(masters).toEqual(masters.toSorted((a, b) => b - a))
  })

  test('says between which values what bounds it changes', { timeout: 120_000 }, async () => {
    const { sweeps } = await runFleetScale({
      shape: { ...SMALL, nodes: 6 },
      samples: 1,
      seed: 7,
      sweeps: true,
      requestsPerSample: 500,
      requestsPerPoint: 200,
    })
    expect(sweeps.map(({ dimension }) => dimension)).toEqual([
      'workers',
      'slots',
      'hosts',
      'nodes',
      'partitions',
      'pages',
    ])
    for (const { points, bend } of sweeps) {
      expect(points.length).toBeGreaterThan(1)
      if (bend !== null) expect(bend.from.bound).not.toBe(bend.to.bound)
    }
    expect(sweeps.find(({ dimension }) => dimension === 'workers')?.bend).not.toBeNull()
  })
})

describe('a master', () => {
  test('runs one script after another, and those of partitions that are not simulated between them', () => {
    const alone = createMaster({ partitions: 1, simulated: 1 }, 0, createRng(1))
    expect([alone.enter(10, 2), alone.enter(11, 2), alone.enter(20, 2)]).toEqual([0, 1, 0])
    expect(alone.workMs).toBe(6)
    const crowded = createMaster({ partitions: 50, simulated: 1 }, 0, createRng(1))
    let waited = 0
    for (let at = 0; at < 10_000; at += 100) waited += crowded.enter(at, 1.8)
    // Nine tenths of its time are taken by calls that come at random.
    expect(crowded.workMs / 10_000).toBeCloseTo(0.9)
    expect(waited).toBeGreaterThan(0)
  })

  test('never forgets work, however long nothing is heard of it', () => {
    const master = createMaster({ partitions: 3, simulated: 1 }, 0, createRng(1))
    master.enter(0, 1_000)
    expect(master.backlog(256)).toBeCloseTo(3_000 - 256)
    expect(master.backlog(1_000_000)).toBe(0)
  })
})

test('no verb is free', () => {
  for (const { callUs, itemUs } of Object.values(STORE_COSTS)) expect(callUs + itemUs).toBeGreaterThan(0)
})
