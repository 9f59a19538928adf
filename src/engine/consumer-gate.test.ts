import { expect, test } from 'vitest'
import { createConsumerGate } from './consumer-gate.ts'

/** A consumer that says when it is ready, and how often it was asked. */
function slowConsumer() {
  let ready = Promise.withResolvers<void>()
  let asked = 0
  return {
    readyForMore() {
      asked += 1
      ready = Promise.withResolvers<void>()
      return ready.promise
    },
    sayReady: () => ready.resolve(),
    refuse: (error: Error) => ready.reject(error),
    get asked() {
      return asked
    },
  }
}

test('nobody waits where there is no consumer', () => {
  expect(createConsumerGate(undefined).pass()).toBeUndefined()
})

test('all who wait at once wait for one answer, and the next one asks anew', async () => {
  const consumer = slowConsumer()
  const gate = createConsumerGate(consumer.readyForMore)
  const waiting = [gate.pass(), gate.pass(), gate.pass()]
  expect(consumer.asked).toBe(1)
  consumer.sayReady()
  for (const each of waiting) await each
  const next = gate.pass()
  expect(consumer.asked).toBe(2)
  consumer.sayReady()
  await next
})

test('once it is opened nobody waits, neither who is there nor who comes', async () => {
  const consumer = slowConsumer()
  const gate = createConsumerGate(consumer.readyForMore)
  const waiting = gate.pass()
  gate.open()
  await waiting
  expect(gate.pass()).toBeUndefined()
  expect(consumer.asked).toBe(1)
})

test('what a consumer fails with is told to all who wait', async () => {
  const consumer = slowConsumer()
  const gate = createConsumerGate(consumer.readyForMore)
  const waiting = [gate.pass(), gate.pass()]
  consumer.refuse(new Error('gone'))
  for (const each of waiting) await expect(each).rejects.toThrow('gone')
})
