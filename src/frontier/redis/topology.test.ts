import { describe, expect, test } from 'vitest'
import { createVirtualClock } from '../../base/index.ts'
import { connectionFailure, replyFailure } from './failure.ts'
import { firstAnswer } from './first-answer.ts'
import { createSlotTable, readAddress, readSlots } from './topology.ts'

const asked = { host: 'asked', port: 7000 }

describe('the slots of a cluster', () => {
  test('are read as a node tells them, with its own address where it leaves one out', () => {
    const table = createSlotTable()
    table.fill(
      readSlots(
        [
          [0, 99, ['10.0.0.1', 1, 'id', []], ['10.0.0.2', 2, 'id', []]],
          [100, 16_383, ['', 3, 'id'], [null, 4, 'id']],
        ],
        asked,
      ),
    )
    expect(table.covered).toBe(16_384)
    expect(table.primaryOf(99)).toEqual({ host: '10.0.0.1', port: 1 })
    expect(table.primaryOf(100)).toEqual({ host: 'asked', port: 3 })
    expect(table.nodes()).toHaveLength(4)
    table.move(99, { host: 'new', port: 5 })
    expect(table.primaryOf(99)).toEqual({ host: 'new', port: 5 })
    expect(table.primaryOf(98)).toEqual({ host: '10.0.0.1', port: 1 })
  })

  test.each([null, 'x', [[]], [[0, 99_999, ['a', 1]]], [[0, 1, ['a', 'x']]], [[-1, 1, ['a', 1]]]])(
    'that make no sense (%j) are passed over',
    (reply) => expect(readSlots(reply, asked)).toEqual([]),
  )

  test.each([
    ['10.0.0.1:7001', { host: '10.0.0.1', port: 7001 }],
    [':7001', { host: 'asked', port: 7001 }],
    ['?:7001', { host: 'asked', port: 7001 }],
    ['::1:7001', { host: '::1', port: 7001 }],
    ['nowhere', undefined],
    ['host:0', undefined],
  ])('may move to %s', (text, address) => {
    expect(readAddress(text, asked)).toEqual(address)
  })
})

test.each([
  ['MOVED 3999 127.0.0.1:6381', { kind: 'moved', address: '127.0.0.1:6381' }],
  ['ASK 3999 127.0.0.1:6381', { kind: 'ask' }],
  ['TRYAGAIN Multiple keys request during rehashing of slot', { kind: 'wait', elsewhere: false }],
  ['CLUSTERDOWN Hash slot not served', { kind: 'wait', elsewhere: true }],
  ["READONLY You can't write against a read only replica.", { kind: 'wait', elsewhere: true }],
  ['LOADING Redis is loading the dataset in memory', { kind: 'wait', elsewhere: false }],
  ["OOM command not allowed when used memory > 'maxmemory'.", { kind: 'wait', detail: 'out of memory' }],
  ['ERR max number of clients reached', { kind: 'wait' }],
  ['WRONGPASS invalid username-password pair or user is disabled.', { kind: 'fatal' }],
  ['NOAUTH Authentication required.', { kind: 'fatal' }],
  ["CROSSSLOT Keys in request don't hash to the same slot", { kind: 'fatal' }],
])('the answer "%s" is taken for what it is', (text, failure) => {
  expect(replyFailure(text, 'a:1')).toMatchObject(failure)
})

test('of broken connections only what concerns trust is beyond mending', () => {
  const coded = (code: string): Error => Object.assign(new Error('x'), { code })
  expect(connectionFailure(coded('ECONNRESET'), 'a:1')).toMatchObject({ kind: 'wait', elsewhere: true })
  expect(connectionFailure(coded('ENOTFOUND'), 'a:1')).toMatchObject({ kind: 'wait' })
  expect(connectionFailure(coded('CERT_HAS_EXPIRED'), 'a:1')).toMatchObject({ kind: 'fatal' })
})

describe('of several that may answer', () => {
  test('the next is asked when one fails at once, and when one keeps silent', async () => {
    const clock = createVirtualClock()
    const order: string[] = []
    const answer = firstAnswer(['dead', 'mute', 'well', 'spare'], 300, clock, (name) => {
      order.push(name)
      if (name === 'dead') return Promise.reject(new Error(name))
      return name === 'mute' ? new Promise<string>(() => {}) : Promise.resolve(name)
    })
    await clock.advance(299)
    expect(order).toEqual(['dead', 'mute'])
    await clock.advance(1)
    expect(await answer).toBe('well')
    expect(order).toEqual(['dead', 'mute', 'well'])
    expect(clock.nextTimer()).toBeUndefined()
  })

  test('the last failure is told when all fail', async () => {
    const ask = (name: string): Promise<never> => Promise.reject(new Error(name))
    await expect(firstAnswer(['a', 'b', 'c'], 300, createVirtualClock(), ask)).rejects.toThrow('c')
  })
})
