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

function setUp() {
  const inThreads: string[] = []
  const threads: Reader = {
    async read(input) {
      inThreads.push(new URL(input.url).pathname)
      return { kind: 'broke', detail: 'in a thread' }
    },
    close: async () => {},
  }
  return { inThreads, reader: createGuardedReader(threads, { read, deadlineMs: 200 }) }
}

test('small pages are read where they are, and larger ones for their links; others in threads', async () => {
  const { reader, inThreads } = setUp()
  const large = 1_200_000
  const pages = [page('/1'), page('/2', large), page('/3', large, false)]
  const results = await Promise.all(pages.map((each) => reader.read(each)))
  const titles = results.map((result) => (result.kind === 'read' ? result.reading.title : result.kind))
  expect(titles).toEqual(['/1', 'broke', '/3'])
  expect(inThreads).toEqual(['/2'])
})

test('a feed is read in a thread when it is larger than a small page, whatever is wanted of it', async () => {
  const { reader, inThreads } = setUp()
  const headers = { 'content-type': ['application/feed+json'] }
  await reader.read({ ...page('/1', 1_200_000, false), headers })
  await reader.read({ ...page('/2', 1_000_000, false), headers })
  expect(inThreads).toEqual(['/1'])
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

test('reads what a thread reads', async () => {
  const threads = createReader({ threads: 1 }, { clock: createVirtualClock() })
  const reader = createGuardedReader(threads)
  expect(await reader.read(page('/1'))).toEqual(await threads.read(page('/1')))
  await reader.close()
  expect(await reader.read(page('/2'))).toEqual({ kind: 'aborted' })
})
