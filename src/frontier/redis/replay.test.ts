import { expect, test } from 'vitest'
import { createVirtualClock } from '../../base/index.ts'
import type { HostKey, NormalizedUrl, Origin, Task } from '../../model/index.ts'
import { createReplay, type Settled } from './replay.ts'
import type { Partition } from './store.ts'

const [first, second] = [{ index: 0 }, { index: 1 }] as [Partition, Partition]
const settled = (path: string, links = 0): Settled => {
  const url = `https://a.test/${path}` as NormalizedUrl
  const [host, origin] = ['a.test' as HostKey, 'https://a.test' as Origin]
  const found = Array.from({ length: links }, () => ({ url, kind: 'page', depth: 1, via: 'link' }) as const)
  const task: Task = {
    id: 1,
    kind: 'page',
    url,
    host,
    origin,
    depth: 0,
    via: 'seed',
    tier: 'medium',
    attempts: 0,
    redirects: 0,
    nesting: 0,
  }
  return {
    settlement: { lease: { host, fence: 1 }, task, outcome: { kind: 'done' }, found, record: { large: true } },
    held: { name: path, host, origin, tier: 'medium' },
    plan: undefined,
  }
}
const paths = (all: readonly Settled[]): string[] => all.map(({ held }) => held.name)

test('each partition is told its own, oldest first, and the end of the output by then', () => {
  const replay = createReplay(createVirtualClock(), false)
  replay.keep(first, [settled('1')], { 'pages.jsonl': 10 })
  replay.keep(second, [settled('2')], undefined)
  replay.keep(first, [settled('3'), settled('4')], { 'pages.jsonl': 30 })
  expect(paths(replay.of(first).settled)).toEqual(['1', '3', '4'])
  expect(replay.of(first).position).toEqual({ 'pages.jsonl': 30 })
  expect(paths(replay.of(second).settled)).toEqual(['2'])
  expect(replay.of(second).position).toBeUndefined()
})

test('what is older than any failover is forgotten', async () => {
  const clock = createVirtualClock()
  const replay = createReplay(clock, false)
  replay.keep(first, [settled('old')], undefined)
  await clock.advance(29_000)
  replay.keep(first, [settled('new')], undefined)
  expect(paths(replay.of(first).settled)).toEqual(['old', 'new'])
  await clock.advance(1_000)
  expect(paths(replay.of(first).settled)).toEqual(['new'])
})

test('memory is bounded by the settlements and by their links, the youngest are kept', () => {
  const replay = createReplay(createVirtualClock(), false)
  for (let number = 0; number < 9_000; number++) replay.keep(first, [settled(`${number}`)], undefined)
  expect(replay.of(first).settled).toHaveLength(8_192)
  expect(replay.of(first).settled.at(-1)?.held.name).toBe('8999')
  for (let number = 0; number < 30; number++) replay.keep(second, [settled(`${number}`, 10_000)], undefined)
  expect(paths(replay.of(second).settled)).toEqual(Array.from({ length: 20 }, (_, number) => `${number + 10}`))
  expect(replay.of(first).settled).toEqual([])
})

test('records are kept only where they go to the servers', () => {
  for (const isStreamed of [false, true]) {
    const replay = createReplay(createVirtualClock(), isStreamed)
    replay.keep(first, [settled('1')], undefined)
    expect(replay.of(first).settled[0]?.settlement.record).toEqual(isStreamed ? { large: true } : undefined)
  }
})
