import { describe, expect, test } from 'vitest'
import type { Fetcher, FetchOutcome, FetchRequest, FetchResponse } from '../../fetch/index.ts'
import type { Task } from '../../model/index.ts'
import type { OutputRecord } from '../../sink/index.ts'
import { createArchivingFetcher } from './archiving.ts'
import type { TaskResult } from './context.ts'

const task = { kind: 'page', url: 'https://a.test/x', via: 'link', depth: 1 } as Task
const body = Buffer.from('Hello')
const done: TaskResult = { outcome: { kind: 'done' } }
const page = (more: object = {}): TaskResult => ({
  ...done,
  record: { kind: 'page', record: { charset: 'utf-8' }, markdown: null, ...more } as OutputRecord,
})

/** What a task comes to whose request was answered so. */
async function archived(result: TaskResult, answer: Partial<FetchResponse> = {}) {
  const response = {
    kind: 'response',
    status: 200,
    body,
    wire: { requestHead: 'GET /x HTTP/1.1\r\n\r\n', responseHead: 'HTTP/1.1 200 OK\r\n\r\n', body },
    release: () => {},
    ...answer,
  } as FetchResponse
  const requests: FetchRequest[] = []
  const fetcher = {
    async fetch(request: FetchRequest): Promise<FetchOutcome> {
      requests.push(request)
      return response
    },
  } as Fetcher
  const archiving = createArchivingFetcher(fetcher)
  await archiving.fetch({ url: task.url })
  return { requests, exchange: archiving.archived(task, result).record?.exchange, release: response.release }
}

describe('an exchange that is archived', () => {
  test('is asked for with all that goes over the wire, and goes with the record of its task', async () => {
    const { requests, exchange } = await archived(page())
    expect(requests).toMatchObject([{ url: task.url, keepWire: true }])
    expect(exchange).toMatchObject({
      url: task.url,
      status: 200,
      via: 'link',
      depth: 1,
      charset: 'utf-8',
      wire: { body },
    })
  })

  test('is not archived when the task is given back', async () => {
    expect((await archived({ outcome: { kind: 'returned' } })).exchange).toBeUndefined()
  })

  test('has the memory of its body to give back when that was a page', async () => {
    const { exchange, release } = await archived(page())
    expect(exchange?.release).toBe(release)
  })

  test('leaves the body to others where a file is made of it, or where it was no page', async () => {
    expect((await archived(page({ html: body }))).exchange?.release).toBeUndefined()
    const { exchange } = await archived(done)
    expect(exchange?.wire.body).toBe(body)
    expect(exchange?.release).toBeUndefined()
  })

  test('can go to another thread, where there is nothing to give back', async () => {
    const { exchange } = await archived(page())
    const copy = structuredClone(exchange)
    expect(copy).toMatchObject({ url: task.url, status: 200 })
    expect(copy?.release).toBeUndefined()
  })
})
