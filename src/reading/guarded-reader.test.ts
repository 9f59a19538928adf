import { expect, test } from 'vitest'
import { createVirtualClock } from '../base/index.ts'
import type { NormalizedUrl } from '../model/index.ts'
import type { DocumentInput, DocumentReading, PageInput } from './document.ts'
import { createGuardedReader } from './guarded-reader.ts'
import { createReader, readDocument, type Reader } from './index.ts'

const page = (path: string, bytes = 100, content = true): PageInput => ({
  kind: 'page',
  url: `https://a.test${path}` as NormalizedUrl,
  body: Buffer.from(`<title>${path}</title>`.padEnd(bytes)),
  headers: { 'content-type': ['text/html'] },
  productToken: 'Tiptoe',
  followNofollow: false,
  wants: { content, markdown: false, sample: false, outlinks: false },
})

/** Hangs at one page, and fails at another. */
function read(input: DocumentInput): DocumentReading {
  if (input.url.endsWith('/hang')) for (;;);
  if (input.url.endsWith('/fail')) throw new Error('no')
  return readDocument(input) as DocumentReading
}

function setUp(heapBytes = 2 * 1024 ** 3) {
  const inThreads: string[] = []
  const threads: Reader = {
    async read(input) {
      inThreads.push(new URL(input.url).pathname)
      return { kind: 'broke', detail: 'in a thread' }
    },
    close: async () => {},
  }
  const clock = { time: 0, now: () => clock.time }
  const slowly: typeof readDocument = (input) => {
    if (input.url.endsWith('/slow')) clock.time += 800
    return read(input)
  }
  return { inThreads, reader: createGuardedReader(threads, { clock, read: slowly, deadlineMs: 200, heapBytes }) }
}

test('small pages are read where they are, and larger ones for their links; others in threads', async () => {
  const { reader, inThreads } = setUp()
  const large = 5_000_000
  const pages = [page('/1'), page('/2', large), page('/3', large, false)]
  const results = await Promise.all(pages.map((each) => reader.read(each)))
  const titles = results.map((result) => (result.kind === 'read' ? result.reading.title : result.kind))
  expect(titles).toEqual(['/1', 'broke', '/3'])
  expect(inThreads).toEqual(['/2'])
})

test('a page of middle size is read where it is if it has few tags', async () => {
  const { reader, inThreads } = setUp()
  const middle = page('/few', 1_200_000)
  const tags = { ...page('/many'), body: Buffer.from('<b>'.repeat(400_000)) }
  const results = await Promise.all([reader.read(middle), reader.read(tags)])
  expect(results.map(({ kind }) => kind)).toEqual(['read', 'broke'])
  expect(inThreads).toEqual(['/many'])
})

test('once such a page has taken long, the next ones are read in threads', async () => {
  const { reader, inThreads } = setUp()
  for (const path of ['/middle/1', '/slow', '/middle/2']) await reader.read(page(path, 1_200_000))
  await reader.read(page('/small'))
  expect(inThreads).toEqual(['/middle/2'])
})

test('where the heap may not grow so far, such a page is read in a thread', async () => {
  const { reader, inThreads } = setUp(512 * 1024 ** 2 - 1)
  await Promise.all([reader.read(page('/small')), reader.read(page('/middle', 1_200_000))])
  expect(inThreads).toEqual(['/middle'])
})

test('a feed is read in a thread when it is larger than a small page, whatever is wanted of it', async () => {
  const { reader, inThreads } = setUp()
  const headers = { 'content-type': ['application/feed+json'] }
  await reader.read({ ...page('/1', 1_200_000, false), headers })
  await reader.read({ ...page('/2', 1_000_000, false), headers })
  expect(inThreads).toEqual(['/1'])
})

test('pages that are large together are read in several turns', async () => {
  const { reader } = setUp()
  const order: string[] = []
  const reads = ['/1', '/2', '/3'].map(async (path) => {
    await reader.read(page(path, 1_900_000, false))
    order.push(path)
  })
  await new Promise((resolve) => setImmediate(resolve))
  await new Promise((resolve) => queueMicrotask(() => resolve(undefined)))
  expect(order).toEqual(['/1', '/2'])
  await Promise.all(reads)
  expect(order).toEqual(['/1', '/2', '/3'])
})

test('a page that fails its parser is told so, and no other', async () => {
  const { reader } = setUp()
  const results = await Promise.all([reader.read(page('/1')), reader.read(page('/fail')), reader.read(page('/2'))])
  expect(results.map(({ kind }) => kind)).toEqual(['read', 'broke', 'read'])
})

test('a page that hangs is broken off and left to a thread, as is all that comes after it', async () => {
  const { reader, inThreads } = setUp()
  const first = await Promise.all([reader.read(page('/1')), reader.read(page('/hang')), reader.read(page('/2'))])
  expect(first.map(({ kind }) => kind)).toEqual(['read', 'broke', 'broke'])
  await reader.read(page('/3'))
  expect(inThreads).toEqual(['/hang', '/2', '/3'])
})

test('so is a larger page of which only links are wanted', async () => {
  const { reader, inThreads } = setUp()
  const results = await Promise.all(
    [page('/1', 100, false), page('/hang', 1_200_000, false)].map((each) => reader.read(each)),
  )
  expect(results.map(({ kind }) => kind)).toEqual(['read', 'broke'])
  expect(inThreads).toEqual(['/hang'])
})

test('reads what a thread reads, with numbers that a thread keeps to itself', async () => {
  const threads = createReader({ threads: 1 }, { clock: createVirtualClock() })
  const reader = createGuardedReader(threads, { clock: createVirtualClock() })
  const inline = await reader.read(page('/1'))
  if (inline.kind !== 'read') throw new Error(`it was not read: ${inline.kind}`)
  expect(inline.reading.numbering).toBeDefined()
  expect(await threads.read(page('/1'))).toEqual({ kind: 'read', reading: { ...inline.reading, numbering: undefined } })
  await reader.close()
  expect(await reader.read(page('/2'))).toEqual({ kind: 'aborted' })
})
