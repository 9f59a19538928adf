import { afterEach, describe, expect, test } from 'vitest'
import { createSystemClock, createVirtualClock, type Clock } from '../base/index.ts'
import { TiptoeError, type NormalizedUrl } from '../model/index.ts'
import { createInlineReader, createReader, type PageInput, type Reader, type ReaderOptions } from './index.ts'

const READING = new URL('./read-document.ts', import.meta.url)
const TRICKS = new URL('./test-support/reading-tricks.ts', import.meta.url)
const ABORTED = { kind: 'aborted' }
const opened: Reader[] = []

function open(options: Partial<ReaderOptions> = {}, clock: Clock = createSystemClock()): Reader {
  const reader = createReader({ threads: 1, memoryMb: 128, module: TRICKS, ...options }, { clock })
  opened.push(reader)
  return reader
}
afterEach(async () => {
  await Promise.all(opened.splice(0).map((reader) => reader.close()))
})

function page(path: string, html = `<title>${path}</title><a href=/next>next</a>`): PageInput {
  return {
    kind: 'page',
    url: `https://a.test${path}` as NormalizedUrl,
    body: Buffer.from(html),
    headers: { 'content-type': ['text/html'] },
    productToken: 'Tiptoe',
    followNofollow: false,
    wants: { content: true, markdown: true, sample: true, outlinks: true },
  }
}

/** Whether it has come to something by now. */
function watched<T>(promise: Promise<T>): { readonly isSettled: boolean } {
  const state = { isSettled: false }
  const settle = (): void => void (state.isSettled = true)
  promise.then(settle, settle)
  return state
}

const titleOf = async (reader: Reader, path: string): Promise<unknown> => {
  const result = await reader.read(page(path))
  return result.kind === 'read' ? result.reading.title : result
}

describe('a reader with threads', () => {
  test('reads what a reader without threads reads, and leaves the bytes as they are', async () => {
    const html = `<html lang=en><title>Tea</title><meta name=description content="How to">
      <h1>Tea</h1><p>Boil the water. Łódź 茶 🍵 <a href="/a">a</a> <a href="/b" rel=nofollow>b</a></p>`
    const input = page('/tea', html)
    const threaded = await open({ module: READING }).read(input)
    const inline = await createInlineReader().read(input)
    const reading = inline.kind === 'read' ? { ...inline.reading, numbering: undefined } : undefined
    expect(threaded).toEqual({ kind: 'read', reading })
    expect(threaded).toMatchObject({
      reading: {
        title: 'Tea',
        links: ['https://a.test/a'],
        outlinks: ['https://a.test/a', 'https://a.test/b'],
      },
    })
    expect(input.body.toString()).toBe(html)
  })

  test('reads part of a larger buffer as that part alone', async () => {
    const whole = Buffer.from('<title>before</title><title>part</title><title>after</title>')
    const body = whole.subarray(21, 40)
    expect(await open({ module: READING }).read({ ...page('/x'), body })).toMatchObject({
      kind: 'read',
      reading: { title: 'part' },
    })
  })

  test('reads a sitemap', async () => {
    const xml = `<sitemapindex><sitemap><loc>https://a.test/more.xml</loc></sitemap>
      <sitemap><loc>/dated.xml</loc><lastmod>2026-02-01</lastmod></sitemap></sitemapindex>`
    const input = {
      kind: 'sitemap',
      url: 'https://a.test/sitemap.xml' as NormalizedUrl,
      body: Buffer.from(xml),
      headers: {},
      knownHash: null,
    } as const
    const reader = open({ module: READING })
    const result = await reader.read(input)
    expect(result).toMatchObject({
      kind: 'read',
      reading: {
        urls: ['https://a.test/more.xml', 'https://a.test/dated.xml'],
        isSitemap: Uint8Array.of(1, 1),
        modifiedAt: Float64Array.of(NaN, Date.UTC(2026, 1, 1)),
      },
    })
    const knownHash = result.kind === 'read' ? result.reading.contentHash : null
    expect(await reader.read({ ...input, knownHash })).toMatchObject({ reading: { contentHash: knownHash, urls: [] } })
  })

  test('reads fifty documents at once, each as itself', async () => {
    const reader = open({ threads: 2 })
    const paths = Array.from({ length: 50 }, (_, index) => `/${index}`)
    expect(await Promise.all(paths.map((path) => titleOf(reader, path)))).toEqual(paths)
  })
})

describe('a document that', () => {
  test('goes on for ever is given up at its deadline, and those behind it are read', async () => {
    const clock = createVirtualClock()
    const reader = open({ deadlineMs: 10_000 }, clock)
    // A deadline counts from when the thread is ready.
    await titleOf(reader, '/first')
    const loop = reader.read(page('/loop'))
    const others = ['/1', '/2', '/3'].map((path) => titleOf(reader, path))
    const state = watched(loop)
    await clock.advance(9_999)
    expect(state.isSettled).toBe(false)
    await clock.advance(1)
    expect(await loop).toEqual({ kind: 'broke', detail: 'reading it takes longer than 10 s' })
    expect(await Promise.all(others)).toEqual(['/1', '/2', '/3'])
  })

  test('is being read while the process is stopped for hours has spent next to nothing of its time', async () => {
    const hour = 3_600_000
    const clock = createVirtualClock()
    const late = { ...clock, timer: (ms: number, callback: () => void) => clock.timer(ms + hour, callback) }
    const reader = open({ deadlineMs: 10_000 }, late)
    await titleOf(reader, '/first')
    const state = watched(reader.read(page('/loop')))
    await clock.advance(2 * hour)
    expect(state.isSettled).toBe(false)
  })

  test.each(['/heap', '/buffers', '/strings', '/one-array', '/one-string', '/one-buffer'])(
    'fills the memory (%s) is given up',
    async (path) => {
      const reader = open()
      const result = reader.read(page(path))
      const other = titleOf(reader, '/other')
      expect(await result).toEqual({ kind: 'broke', detail: 'reading it takes more than the 128 MB that it may have' })
      expect(await other).toBe('/other')
    },
  )

  test.each([
    ['/throw', 'TypeError: cannot read this'],
    ['/reject', 'Error: cannot read that'],
    ['/recursion', 'RangeError: Maximum call stack size exceeded'],
    ['/exit', 'the thread that read it ended'],
  ])('makes a parser fail (%s) is given up with the reason', async (path, detail) => {
    const reader = open()
    const result = reader.read(page(path))
    const other = titleOf(reader, '/other')
    expect(await result).toEqual({ kind: 'broke', detail })
    expect(await other).toBe('/other')
  })

  test('breaks its thread again and again never takes another with it', async () => {
    const reader = open({ threads: 2 })
    const paths = Array.from({ length: 24 }, (_, index) => (index % 3 === 0 ? '/throw' : `/${index}`))
    const broken = { kind: 'broke', detail: 'TypeError: cannot read this' }
    const expected = paths.map((path) => (path === '/throw' ? broken : path))
    expect(await Promise.all(paths.map((path) => titleOf(reader, path)))).toEqual(expected)
  })
})

describe('a reader', () => {
  const threads = (): number => process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length

  test('that is closed lets go of what is being read and of what waits', async () => {
    const reader = open()
    const results = [page('/loop'), page('/1'), page('/2'), page('/3')].map((input) => reader.read(input))
    await reader.close()
    expect(await Promise.all(results)).toEqual([ABORTED, ABORTED, ABORTED, ABORTED])
    expect(await reader.read(page('/late'))).toEqual(ABORTED)
  })

  test('does not keep waiting what is aborted, and reads the rest', async () => {
    const clock = createVirtualClock()
    const reader = open({}, clock)
    await titleOf(reader, '/first')
    const aborter = new AbortController()
    const gone = ['/loop', '/1', '/2', '/3'].map((path) => reader.read(page(path), aborter.signal))
    const kept = titleOf(reader, '/kept')
    aborter.abort()
    expect(await Promise.all(gone)).toEqual([ABORTED, ABORTED, ABORTED, ABORTED])
    expect(await reader.read(page('/never'), aborter.signal)).toEqual(ABORTED)
    await clock.advance(10_000)
    expect(await kept).toBe('/kept')
  })

  test('has no more threads than it may, and none after it was closed', async () => {
    const before = threads()
    const reader = open({ threads: 2 })
    for (let round = 0; round < 3; round++) {
      await Promise.all(['/throw', '/a', '/b', '/throw', '/c'].map((path) => reader.read(page(path))))
    }
    await reader.close()
    expect(threads()).toBe(before)
  })

  test('says when it cannot have a thread', async () => {
    const reader = open({ module: new URL('./test-support/missing.ts', import.meta.url) })
    const results = await Promise.allSettled(['/1', '/2', '/3'].map((path) => reader.read(page(path))))
    for (const result of results) {
      expect(result).toMatchObject({ status: 'rejected', reason: expect.any(TiptoeError) })
      expect(String(result.status === 'rejected' && result.reason)).toContain('no thread can be started to read pages')
    }
  })
})

describe('a reader without threads', () => {
  test('tells of a document that makes a parser fail, in the same words', async () => {
    const reader = createReader({ threads: 0 }, { clock: createVirtualClock() })
    const url = 'nonsense' as NormalizedUrl
    const body = null as unknown as Uint8Array
    expect(await reader.read({ ...page('/x'), url, body })).toMatchObject({ kind: 'broke', detail: /^TypeError: / })
    await reader.close()
  })
})
