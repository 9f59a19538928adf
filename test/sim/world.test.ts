import { describe, expect, test } from 'vitest'
import { createRng } from '../../src/base/index.ts'
import { createSimDisk, createWorld, type SimProcess, type World } from '../../src/sim/index.ts'

const idle = { done: () => false, untilMs: 1_000_000, maxEvents: 10_000 }

/** When a process wakes from its sleeps, by the world's clock and by its own. */
function diary(world: World, process: SimProcess, sleeps: readonly number[]): { world: number; own: number }[] {
  const entries: { world: number; own: number }[] = []
  const start = { world: world.now(), own: process.clock.now() }
  void (async () => {
    for (const ms of sleeps) {
      await process.clock.sleepUntil(process.clock.now() + ms)
      entries.push({ world: world.now() - start.world, own: process.clock.now() - start.own })
    }
  })()
  return entries
}

describe('a process of the world', () => {
  test('wakes at its time by a clock of its own', async () => {
    const world = createWorld()
    const process = world.process('a', { wallOffsetMs: 5_000 })
    expect(process.clock.now() - world.now()).toBe(5_000)
    const entries = diary(world, process, [10, 0.5, 100])
    await world.run(idle)
    expect(entries.map(({ own }) => own)).toEqual(entries.map(({ world }) => world))
    expect(entries.at(-1)?.world).toBe(111)
  })

  test('that is frozen runs nothing, and its clocks go on', async () => {
    const world = createWorld()
    const process = world.process('a')
    const entries = diary(world, process, [10, 10])
    world.at(world.now() + 5, () => process.freeze(1_000))
    await world.run(idle)
    expect(entries).toEqual([
      { world: 1_005, own: 1_005 },
      { world: 1_015, own: 1_015 },
    ])
  })

  test('that sleeps has a monotonic clock and timers that stand still, and a wall clock that does not', async () => {
    const world = createWorld()
    const process = world.process('a')
    const entries = diary(world, process, [10, 10])
    world.at(world.now() + 5, () => process.suspend(1_000))
    await world.run(idle)
    expect(entries).toEqual([
      { world: 1_010, own: 10 },
      { world: 1_020, own: 20 },
    ])
    expect(process.clock.wall() - process.clock.now()).toBe(1_000)
  })

  test('whose wall clock is set does not notice by its monotonic clock', async () => {
    const world = createWorld()
    const process = world.process('a')
    process.stepWall(-3_600_000)
    expect(process.clock.wall() - process.clock.now()).toBe(-3_600_000)
    const entries = diary(world, process, [10])
    await world.run(idle)
    expect(entries).toEqual([{ world: 10, own: 10 }])
  })

  test('that is killed never runs again', async () => {
    const world = createWorld()
    const process = world.process('a')
    const entries = diary(world, process, [10, 10])
    world.at(world.now() + 15, () => process.kill())
    expect(await world.run(idle)).toBe('idle')
    expect(entries).toHaveLength(1)
  })
})

test('what a checker throws ends the run', async () => {
  const world = createWorld()
  let count = 0
  const tick = (): void => {
    count += 1
    world.at(world.now() + 1, tick)
  }
  tick()
  world.afterEach(() => {
    if (count > 10) throw new Error('enough')
  })
  await expect(world.run(idle)).rejects.toThrow('enough')
  expect(count).toBe(11)
})

describe('the simulated disk', () => {
  const write = (file: { write(bytes: Uint8Array, from: number): number }, text: string): void => {
    const bytes = Buffer.from(text)
    for (let written = 0; written < bytes.length;) written += file.write(bytes, written)
  }

  test('keeps everything over a kill, and only what was synced for sure over a power cut', () => {
    const lengths = new Set<number>()
    for (let seed = 0; seed < 50; seed++) {
      const disk = createSimDisk()
      const file = disk.of(createWorld().process('a'), () => {}).openGrowing('/f')
      write(file, 'synced\n')
      file.sync()
      write(file, 'not synced\n')
      expect(disk.sizeOf('/f')).toBe(18)
      disk.cutPower(createRng(seed))
      expect(disk.read('/f', 0, 7).toString()).toBe('synced\n')
      lengths.add(disk.sizeOf('/f') ?? 0)
    }
    expect(lengths.size).toBeGreaterThan(5)
  })

  test('that is full takes nothing, and says so as a file system does', () => {
    const disk = createSimDisk()
    const file = disk.of(createWorld().process('a'), () => {}).openGrowing('/f')
    disk.setFull(true)
    expect(() => write(file, 'x')).toThrow(expect.objectContaining({ code: 'ENOSPC' }))
    disk.setFull(false)
    write(file, 'x')
    expect(disk.sizeOf('/f')).toBe(1)
  })
})
