import { expect, test } from 'vitest'
import { createSystemClock } from '../base/index.ts'
import { TiptoeError, type NormalizedUrl } from '../model/index.ts'
import {
  createInlineReader,
  createReader,
  createRelievedReader,
  type ContentInput,
  type DocumentInput,
  type PageInput,
  type Reader,
} from './index.ts'

const PROSE = 'Boil fresh water, and let it stand for a while before it is poured over the leaves. '

function page(path: string, body: string | Uint8Array, contentType = 'text/html', content = true): PageInput {
  return {
    kind: 'page',
    url: `https://a.test${path}` as NormalizedUrl,
    body: Buffer.from(body),
    headers: { 'content-type': [contentType] },
    productToken: 'Tiptoe',
    followNofollow: false,
    wants: { content, markdown: true, sample: content, outlinks: true },
  }
}

/** Readers that say who was asked for what; the helper answers when it is let. */
function setUp(answer: (input: ContentInput) => Promise<void> = async () => {}) {
  const inline = createInlineReader()
  const asked: { own: string[]; helper: string[] } = { own: [], helper: [] }
  const watched = (name: 'own' | 'helper', before: (input: DocumentInput) => Promise<void>): Reader => ({
    async read(input, signal) {
      asked[name].push(input.url)
      await before(input)
      return inline.read(input, signal)
    },
    close: inline.close,
  })
  const own = watched('own', async () => {})
  const helper = watched('helper', (input) => answer(input as ContentInput))
  return { asked, reader: createRelievedReader(own, helper) }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('until it is relieved, all is read by its own reader', async () => {
  const { reader, asked } = setUp()
  await reader.read(page('/1', '<p>one'))
  expect(reader.relieve()).toBe(true)
  expect(reader.relieve()).toBe(false)
  await reader.read(page('/2', '<p>two'))
  expect(asked).toEqual({ own: ['https://a.test/1'], helper: ['https://a.test/2'] })
})

test('what is large, or not wanted for what it says, is for its own reader', async () => {
  const { reader, asked } = setUp()
  reader.relieve()
  await reader.read(page('/long', `<p>${' '.repeat(2 ** 21)}`))
  await reader.read(page('/longer', `<p>${' '.repeat(2 ** 22)}`))
  await reader.read(page('/tags', '<p>words '.repeat(2 ** 18 + 1)))
  await reader.read(page('/lines', ' '.repeat(2 ** 21), 'text/plain'))
  await reader.read(page('/links', '<a href=/x>', 'text/html', false))
  const own = ['/longer', '/tags', '/lines', '/links'].map((path) => `https://a.test${path}`)
  expect(asked).toEqual({ own, helper: ['https://a.test/long'] })
})

test('pages are the same, whoever reads which part of them', async () => {
  const clock = createSystemClock()
  const inline = createInlineReader()
  const thread = createReader({ threads: 1 }, { clock })
  const away: Promise<unknown>[] = []
  const helper: Reader = {
    ...thread,
    read(input, signal) {
      const read = thread.read(input, signal)
      away.push(read)
      return read
    },
  }
  const reader = createRelievedReader(inline, helper)
  const html = `<html lang=en><title>Tea</title><meta name=description content="How to">
    <main><h1>Tea</h1><p>${PROSE}<a href="/a">a</a> <a href="/b" rel=nofollow>b</a></main>`
  const pages = [
    page('/tea', html),
    page('/mark', Buffer.from(`\ufeff${html}`)),
    page('/wide', Buffer.from(`\ufeff${html}`, 'utf16le')),
    page('/western', Buffer.from(`<title>caf\xe9</title><p>${PROSE}`, 'latin1'), 'text/html; charset=windows-1252'),
    page('/plain', PROSE, 'text/plain'),
    page('/feed', '<rss><channel><item><link>https://a.test/x</link></item></channel></rss>', 'application/rss+xml'),
    page('/image', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), 'image/png'),
    page('/nothing', ''),
    ...['x', 'y', 'z'].map((name) =>
      page(`/${name}`, `<title>${name}</title><a href=/${name}1>a</a> <a href=${name}2>b</a>`),
    ),
  ]
  reader.relieve()
  // All of them are under way at once: nothing that one has begun with may be another's.
  const read = await Promise.all(pages.map((each) => reader.read(each)))
  for (const [index, each] of pages.entries()) expect(read[index]).toEqual(await inline.read(each))
  // The feed and the image have nothing to say.
  expect(away).toHaveLength(pages.length - 2)
  await reader.close()
})

test('while the helper has more than enough to do, pages are read by its own reader', async () => {
  const waiting: (() => void)[] = []
  const { reader, asked } = setUp(() => new Promise((resolve) => waiting.push(resolve)))
  reader.relieve()
  const reading = Array.from({ length: 400 }, (_, n) => reader.read(page(`/${n}`, '<p>words')))
  await turn()
  const away = waiting.length
  expect(away).toBeGreaterThan(1)
  expect(away).toBeLessThan(400)
  expect(asked.own).toHaveLength(400 - away)
  for (const go of waiting) go()
  expect((await Promise.all(reading)).every(({ kind }) => kind === 'read')).toBe(true)
})

test('it tells how much the helper has to do, by pages and by bytes', async () => {
  const waiting: (() => void)[] = []
  const { reader } = setUp(() => new Promise((resolve) => waiting.push(resolve)))
  expect(reader.backlog).toBeUndefined()
  reader.relieve()
  const reading: Promise<unknown>[] = []
  const give = (count: number, body: string): void => {
    for (let given = 0; given < count; given++) reading.push(reader.read(page('/', body)))
  }
  const takeAll = async (): Promise<void> => {
    await turn()
    for (const go of waiting.splice(0)) go()
    await Promise.all(reading.splice(0))
  }
  expect(reader.backlog).toBe('short')
  give(100, '<p>words')
  expect(reader.backlog).toBe('fair')
  give(100, '<p>words')
  expect(reader.backlog).toBe('long')
  await takeAll()
  expect(reader.backlog).toBe('short')
  give(9, `<p>${' '.repeat(2 ** 20 - 16)}`)
  expect(reader.backlog).toBe('long')
  await takeAll()
})

test('a helper that cannot be had is done without', async () => {
  const { reader, asked } = setUp(async () => {
    throw new TiptoeError('threads', 'none')
  })
  reader.relieve()
  expect(await reader.read(page('/1', '<title>one'))).toMatchObject({ kind: 'read', reading: { title: 'one' } })
  await reader.read(page('/2', '<p>two'))
  expect(asked).toEqual({ own: ['https://a.test/1', 'https://a.test/2'], helper: ['https://a.test/1'] })
})

test('what is aborted is not read', async () => {
  const { reader, asked } = setUp()
  reader.relieve()
  expect(await reader.read(page('/1', '<p>one'), AbortSignal.abort())).toEqual({ kind: 'aborted' })
  expect(asked.helper).toEqual([])
})
