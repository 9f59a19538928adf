import { describe, expect, test } from 'vitest'
import type { NormalizedUrl } from '../model/index.ts'
import { readDocument, type PageInput, type PageReading, type TellingHeaders } from './index.ts'

const PAGE = 'https://a.test/x'
const HTML = { 'content-type': ['text/html; charset=utf-8'] }

function read(body: string | Uint8Array, headers: TellingHeaders = HTML, input: Partial<PageInput> = {}): PageReading {
  return readDocument({
    kind: 'page',
    url: PAGE as NormalizedUrl,
    body: Buffer.from(body),
    headers,
    productToken: 'Tiptoe',
    followNofollow: false,
    wants: { content: true, markdown: true, sample: true, outlinks: false },
    ...input,
  }) as PageReading
}

describe('an HTML page', () => {
  const html = `<!doctype html><html lang=en><head><title>Tea</title><link rel=canonical href=/tea>
    <meta property=article:published_time content=2026-02-01></head><body><main><h1>Tea</h1>
    <p>Boil fresh water, and let it stand for a while before it is poured over the leaves.</p>
    <h2>Time</h2><p><a href=/a>Three</a> minutes, <a href=/b rel=nofollow>not more</a>.</p></main></body></html>`

  test('says what it is, where it leads and what it holds', () => {
    expect(read(html)).toMatchObject({
      charset: 'utf-8',
      title: 'Tea',
      lang: 'en',
      canonical: 'https://a.test/tea',
      published: '2026-02-01',
      headings: [
        { level: 1, text: 'Tea' },
        { level: 2, text: 'Time' },
      ],
      robots: { index: true, follow: true },
      contentHash: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      simhash: expect.stringMatching(/^[0-9a-f]{16}$/),
      markdown: expect.stringContaining('# Tea'),
      sample: { hasDate: false },
      linkCount: 3,
      links: ['https://a.test/tea', 'https://a.test/a'],
      limits: [],
    })
  })

  test('leaves out what nobody wants', () => {
    const reading = read(html, HTML, { wants: { content: true, markdown: false, sample: false, outlinks: false } })
    const { markdown, sample, outlinks, modified, tdm, sniffedType } = reading
    expect([markdown, sample, outlinks, modified, tdm, sniffedType]).toEqual(Array(6).fill(undefined))
    expect(reading.contentHash).toBe(read(html).contentHash)
  })

  test('without content, says what the page says of itself and where it leads, and hashes its bytes', () => {
    const reading = read(html, HTML, { wants: { content: false, markdown: true, sample: true, outlinks: false } })
    const whole = read(html)
    expect(reading).toMatchObject({ tokens: 0, simhash: null, near: null, headings: [] })
    expect(reading).toMatchObject({ title: whole.title, links: whole.links, canonical: whole.canonical })
    expect(reading.markdown).toBeUndefined()
    expect(reading.sample).toEqual(whole.sample)
    expect(whole.contentHash).toMatch(/^sha256:[0-9a-f]{64}$/)
    expect(reading.contentHash).toMatch(/^xxh64:[0-9a-f]{16}$/)
    expect(
      read(`${html} `, HTML, { wants: { content: false, markdown: false, sample: false, outlinks: false } })
        .contentHash,
    ).not.toBe(reading.contentHash)
  })

  test('has links that are recorded and not followed', () => {
    const wants = { content: true, markdown: false, sample: false, outlinks: true }
    const all = ['https://a.test/tea', 'https://a.test/a', 'https://a.test/b']
    expect(read(html, HTML, { wants })).toMatchObject({ links: all.slice(0, 2), outlinks: all })
    expect(read(html, { ...HTML, 'x-robots-tag': ['nofollow'] }, { wants })).toMatchObject({ links: [], outlinks: all })
    expect(read(html, { ...HTML, 'x-robots-tag': ['none'] }, { followNofollow: true }).links).toEqual(all)
  })

  test('names the limits that it met', () => {
    const many = Array.from({ length: 20_001 }, (_, index) => `<a href=/${index}>x</a>`).join('')
    const reading = read(many)
    expect(reading.links).toHaveLength(20_000)
    expect(reading.limits).toContain('links')
  })
})

test('the headers of an answer speak for a document that has no words of its own', () => {
  const headers = {
    'content-type': ['application/pdf'],
    link: ['<https://a.test/paper>; rel=canonical'],
    'tdm-reservation': ['1'],
    'x-robots-tag': ['noindex'],
  }
  expect(read('%PDF-1.7', headers)).toMatchObject({
    charset: null,
    title: null,
    canonical: 'https://a.test/paper',
    tdm: { reserved: true },
    robots: { index: false, follow: true },
    simhash: null,
    tokens: 0,
    contentHash: expect.stringMatching(/^sha256:/),
  })
})

test('plain text is its own Markdown', () => {
  const reading = read('Nothing but words, and a few of them.\n', { 'content-type': ['text/plain; charset=utf-8'] })
  expect(reading).toMatchObject({ charset: 'utf-8', markdown: 'Nothing but words, and a few of them.\n', links: [] })
  expect(reading.tokens).toBeGreaterThan(0)
})

test('a body without a type is read as what it looks like, and that is said', () => {
  expect(read('<html><title>Tea</title>', {})).toMatchObject({ title: 'Tea', sniffedType: 'text/html' })
  expect(read('<html><title>Tea</title>').sniffedType).toBeUndefined()
  const nosniff = { 'x-content-type-options': ['nosniff'] }
  expect(read('<html><title>Tea</title>', nosniff)).toMatchObject({ title: null, sniffedType: 'text/plain' })
})

test('a feed leads to its entries and to what they name', () => {
  const rss = `<rss version="2.0"><channel><title>News</title>
    <item><link>https://a.test/1</link><description>&lt;a href="/in"&gt;in&lt;/a&gt;</description></item>
    <item><link>https://a.test/2</link></item></channel></rss>`
  expect(read(rss, { 'content-type': ['application/rss+xml'] })).toMatchObject({
    title: 'News',
    links: ['https://a.test/1', 'https://a.test/2', 'https://a.test/in'],
    simhash: null,
  })
})
