import { MessageChannel } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import { TiptoeError } from '../../model/index.ts'
import { openLine, type Handlers, type Line } from './line.ts'

function connect(there: Handlers): Line {
  const { port1, port2 } = new MessageChannel()
  onTestFinished(() => port1.close())
  openLine(port2, there)
  return openLine(port1, {})
}

test('calls are answered, be it later, and notes are heard in their order', async () => {
  const heard: number[] = []
  const line = connect({
    note: (number: number) => heard.push(number),
    double: (number: number) => 2 * number,
    later: async (number: number) => 3 * number,
  })
  line.tell('note', 1)
  const answers = [line.call('later', 1), line.call('double', 1)]
  line.tell('note', 2)
  expect(await Promise.all(answers)).toEqual([3, 2])
  expect(heard).toEqual([1, 2])
})

test('an error comes back as what it was', async () => {
  const line = connect({
    now() {
      throw new TiptoeError('store', 'the disk is gone', { hint: 'look for it' })
    },
    later: async () => {
      throw new RangeError('too much')
    },
  })
  await expect(line.call('now')).rejects.toMatchObject({ name: 'TiptoeError', code: 'store', hint: 'look for it' })
  await expect(line.call('later')).rejects.toThrow('too much')
})

test('whoever waits on a line that is cut hears of it', async () => {
  const line = connect({ never: () => new Promise(() => {}) })
  const waiting = line.call('never')
  line.cut(new Error('gone'))
  await expect(waiting).rejects.toThrow('gone')
  await expect(line.call('never')).rejects.toThrow('the line is cut')
})
