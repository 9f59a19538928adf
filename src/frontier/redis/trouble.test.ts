import { expect, test } from 'vitest'
import { createVirtualClock } from '../../base/index.ts'
import type { LinkTrouble } from './link.ts'
import { createTroubleWatch } from './trouble.ts'

function watched() {
  const clock = createVirtualClock()
  const silence = { node: 'a:1', silentMs: 0 }
  const watch = createTroubleWatch(clock, () => silence)
  const told: LinkTrouble['kind'][] = []
  watch.onTrouble(({ kind }) => told.push(kind))
  return { clock, silence, watch, told }
}

test('a request that fails for less than a second is nobody’s business', async () => {
  const { clock, watch, told } = watched()
  const request = watch.begin()
  watch.failed(request, 'gone')
  await clock.advance(700)
  watch.end(request, true)
  await clock.advance(5_000)
  expect(told).toEqual([])
  expect(clock.nextTimer()).toBeUndefined()
})

test('trouble is over only when no request is in it any more, whoever else got an answer', async () => {
  const { clock, watch, told } = watched()
  const stuck = [watch.begin(), watch.begin()]
  for (const request of stuck) watch.failed(request, 'gone')
  await clock.advance(1_500)
  expect(told).toEqual(['lost'])
  watch.end(watch.begin(), true)
  watch.end(stuck[0] as (typeof stuck)[0], true)
  await clock.advance(5_000)
  expect(told).toEqual(['lost'])
  watch.end(stuck[1] as (typeof stuck)[0], true)
  expect(told).toEqual(['lost', 'back'])
})

test('a request that was given up is no sign of life', async () => {
  const { clock, watch, told } = watched()
  const request = watch.begin()
  watch.failed(request, 'gone')
  await clock.advance(1_500)
  watch.end(request, false)
  expect(told).toEqual(['lost'])
  watch.end(watch.begin(), true)
  expect(told).toEqual(['lost', 'back'])
})

test('a node that is silent while requests wait is trouble before any of them failed', async () => {
  const { clock, silence, watch, told } = watched()
  const request = watch.begin()
  silence.silentMs = 900
  await clock.advance(500)
  expect(told).toEqual([])
  silence.silentMs = 1_100
  await clock.advance(500)
  expect(told).toEqual(['lost'])
  silence.silentMs = 0
  watch.end(request, true)
  expect(told).toEqual(['lost', 'back'])
})

test('each later trouble is told again', async () => {
  const { clock, watch, told } = watched()
  for (let time = 0; time < 2; time++) {
    const request = watch.begin()
    watch.failed(request, 'gone')
    await clock.advance(1_500)
    watch.end(request, true)
  }
  expect(told).toEqual(['lost', 'back', 'lost', 'back'])
})
