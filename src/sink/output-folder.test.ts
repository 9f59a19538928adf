import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  mkdirSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { RECORD_SCHEMA, type PageRecord, type SkipRecord } from '../model/index.ts'
import { createContentFiles, openOutputFolder, type OutputRecord } from './index.ts'

const root = mkdtempSync(join(tmpdir(), 'tiptoe-sink-'))
let serial = 0
const folder = (): string => join(root, String(serial++))
afterAll(() => rmSync(root, { recursive: true }))

type PageOutput = Extract<OutputRecord, { kind: 'page' }>

const page = (url: string, more: Partial<PageRecord> = {}, markdown: string | null = '# Title\n'): PageOutput => ({
  kind: 'page',
  record: {
    schema: RECORD_SCHEMA,
    url,
    change: 'new',
    visit: 1,
    status: 200,
    depth: 0,
    referrer: null,
    via: 'seed',
    tier: 'medium',
    fetchedAt: '2026-01-01T00:00:00.000Z',
    answerMs: 1,
    durationMs: 2,
    bytes: 3,
    contentType: 'text/html',
    charset: 'utf-8',
    title: 'A "title"\n---\nevil: true',
    description: null,
    lang: 'en',
    canonical: null,
    headings: [],
    robots: { index: true, follow: true },
    contentHash: 'sha256:00',
    simhash: null,
    tokens: 1,
    links: 0,
    attempts: 1,
    render: 'http',
    ...more,
  },
  markdown,
})
const skip = (url: string): OutputRecord => ({
  kind: 'skip',
  record: {
    schema: RECORD_SCHEMA,
    url,
    reason: 'robots',
    detail: null,
    depth: 0,
    referrer: null,
    via: 'link',
    at: '',
  } satisfies SkipRecord,
})
const revisit = (url: string): OutputRecord => ({
  kind: 'revisit',
  record: { schema: RECORD_SCHEMA, url, change: 'unchanged', visit: 2, depth: 0, tier: 'medium', checkedAt: '' },
})
const lines = (path: string): string[] => readFileSync(path, 'utf8').split('\n').filter(Boolean)

describe('the output folder', () => {
  test('puts each record into its file and returns the length of each', () => {
    const at = folder()
    const output = openOutputFolder(at, {})
    const position = output.append([page('https://a.test/'), revisit('https://a.test/y'), skip('https://a.test/x')])
    expect(position).toEqual({
      'pages.jsonl': readFileSync(join(at, 'pages.jsonl')).length,
      'revisits.jsonl': readFileSync(join(at, 'revisits.jsonl')).length,
      'skipped.jsonl': readFileSync(join(at, 'skipped.jsonl')).length,
      'failed.jsonl': 0,
    })
    expect(JSON.parse(lines(join(at, 'pages.jsonl'))[0] as string)).toMatchObject({ url: 'https://a.test/' })
    expect(JSON.parse(lines(join(at, 'revisits.jsonl'))[0] as string)).toMatchObject({ url: 'https://a.test/y' })
    output.close()
  })

  test('opened again, is cut back to what was committed, torn lines and all', () => {
    const at = folder()
    const first = openOutputFolder(at, {})
    const committed = first.append([page('https://a.test/1')])
    first.append([page('https://a.test/2')])
    first.close()
    appendFileSync(join(at, 'pages.jsonl'), '{"url":"https://a.test/3","tit')
    const second = openOutputFolder(at, committed)
    second.append([page('https://a.test/4')])
    second.close()
    const urls = lines(join(at, 'pages.jsonl')).map((line) => (JSON.parse(line) as PageRecord).url)
    expect(urls).toEqual(['https://a.test/1', 'https://a.test/4'])
  })

  test('takes back what was appended beyond a position, and goes on from there', () => {
    const at = folder()
    const output = openOutputFolder(at, {})
    const kept = output.append([page('https://a.test/1')])
    output.append([page('https://a.test/2'), skip('https://a.test/3')])
    output.cut(kept)
    const end = output.append([page('https://a.test/4')])
    output.close()
    const urls = readFileSync(join(at, 'pages.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((text) => (JSON.parse(text) as PageRecord).url)
    expect(urls).toEqual(['https://a.test/1', 'https://a.test/4'])
    expect(end).toMatchObject({ 'skipped.jsonl': 0 })
    expect(readFileSync(join(at, 'skipped.jsonl'), 'utf8')).toBe('')
  })

  test('says so when committed records are missing, and touches nothing', () => {
    const at = folder()
    const output = openOutputFolder(at, {})
    const committed = output.append([page('https://a.test/1')])
    output.close()
    truncateSync(join(at, 'pages.jsonl'), 10)
    expect(() => openOutputFolder(at, committed)).toThrow(/were committed/)
    expect(readFileSync(join(at, 'pages.jsonl'))).toHaveLength(10)
  })

  test('writes Markdown whole, with front matter that a page cannot break out of', async () => {
    const at = folder()
    const content = createContentFiles(at)
    await content.write(page('https://a.test/', { markdownPath: 'content/a.test/index.md' }))
    const text = readFileSync(join(at, 'content', 'a.test', 'index.md'), 'utf8')
    expect(text.split('\n').filter((line) => line === '---')).toHaveLength(2)
    expect(text).toContain('title: "A \\"title\\"\\n---\\nevil: true"')
    expect(text.endsWith('---\n\n# Title\n')).toBe(true)
    expect(existsSync(join(at, 'content', 'a.test', 'index.md.part'))).toBe(false)
  })

  test('says in the front matter what is known of the page, and nothing else', async () => {
    const at = folder()
    const content = createContentFiles(at)
    const known = {
      published: '2026-01-02',
      modified: '2026-02',
      duplicateOf: 'https://a.test/y',
      duplicateBy: 'near',
    } as const
    await content.write(
      page('https://a.test/x', { ...known, tokens: 7, title: 'T', markdownPath: 'content/a.test/x.md' }),
    )
    await content.write(page('https://a.test/z', { lang: null, markdownPath: 'content/a.test/z.md' }))
    expect(readFileSync(join(at, 'content', 'a.test', 'x.md'), 'utf8')).toBe(
      [
        '---',
        'url: "https://a.test/x"',
        'title: "T"',
        'lang: "en"',
        'published: "2026-01-02"',
        'modified: "2026-02"',
        'duplicateOf: "https://a.test/y"',
        'tokens: 7',
        'fetched: "2026-01-01T00:00:00.000Z"',
        '---',
        '',
        '# Title',
        '',
      ].join('\n'),
    )
    expect(readFileSync(join(at, 'content', 'a.test', 'z.md'), 'utf8')).not.toMatch(
      /lang|published|modified|duplicateOf|canonical/,
    )
  })

  test('writes the body of a page as it was, byte for byte', async () => {
    const at = folder()
    const content = createContentFiles(at)
    const html = Uint8Array.from({ length: 256 }, (_, octet) => octet)
    await content.write({ ...page('https://a.test/', { htmlPath: 'content/a.test/index.html' }), html })
    expect(readFileSync(join(at, 'content', 'a.test', 'index.html'))).toEqual(Buffer.from(html))
    expect(existsSync(join(at, 'content', 'a.test', 'index.md'))).toBe(false)
  })

  test('keeps a record on one line whatever it holds', () => {
    const at = folder()
    const output = openOutputFolder(at, {})
    output.append([page('https://a.test/', { title: 'one\u2028two\u2029three\r\n\ud800' })])
    output.close()
    const text = readFileSync(join(at, 'pages.jsonl'), 'utf8')
    expect(text.trimEnd().split(/[\r\n\u2028\u2029]/)).toHaveLength(1)
    expect((JSON.parse(text) as PageRecord).title).toBe('one\u2028two\u2029three\r\n\ud800')
  })

  test('writes through no link that leads out of it', async () => {
    const at = folder()
    const outside = folder()
    mkdirSync(outside)
    mkdirSync(join(at, 'content'), { recursive: true })
    symlinkSync(outside, join(at, 'content', 'a.test'))
    const content = createContentFiles(at)
    const record = page('https://a.test/', { markdownPath: 'content/a.test/index.md' })
    await expect(content.write(record)).rejects.toThrow(/is a link/)
    expect(existsSync(join(outside, 'index.md'))).toBe(false)
  })

  test('a folder that cannot be made is an output error with a hint', () => {
    expect(() => openOutputFolder('/dev/null/x', {})).toThrow(expect.objectContaining({ code: 'output' }))
  })
})
