import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exportCrawl, type ExportReport, type ExportRequest, type ExportSource } from './index.ts'
import { makeCrawl } from './test-support/hand-made-crawl.ts'

let root: string
let count = 0
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'tiptoe-export-test-'))
})
afterAll(() => rmSync(root, { recursive: true }))

const clock = { now: () => Date.UTC(2026, 0, 2) }
const place = (): string => join(root, String(++count))
const site = 'https://example.com'

const folderOf = ({ folders }: ExportSource): string => folders[0]?.path ?? ''

/** What an export prints to a stream. */
async function streamed(
  source: ExportSource,
  request: Omit<ExportRequest, 'target'>,
): Promise<{ text: string; report: ExportReport }> {
  let text = ''
  const write = async (piece: string): Promise<void> => {
    text += piece
  }
  const report = await exportCrawl(source, { ...request, target: { write } }, { clock })
  return { text, report }
}

/** The URLs of an export of records. */
async function urlsOf(source: ExportSource, request: Omit<ExportRequest, 'target' | 'format'> = {}): Promise<string[]> {
  const { text } = await streamed(source, { ...request, format: 'jsonl' })
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => (JSON.parse(line) as { url: string }).url)
}

describe('which pages an export has', () => {
  it('the last record of a URL, and only what was committed', async () => {
    const source = makeCrawl(
      place(),
      [
        { url: `${site}/a`, title: 'old', markdown: 'old\n' },
        { url: `${site}/b`, title: 'b', markdown: 'b\n' },
        { url: `${site}/a`, title: 'new', markdown: 'new\n', change: 'changed', visit: 2 },
      ],
      { beyond: '{"url":"https://example.com/uncommitted","title":"x"}\n{"url":"https' },
    )
    const { text, report } = await streamed(source, { format: 'csv', fields: ['url', 'title', 'visit'] })
    expect(text).toBe(`url,title,visit\r\n${site}/b,b,1\r\n${site}/a,new,2\r\n`)
    expect(report).toMatchObject({ pages: 2, files: 1, path: null, leftOut: {} })
  })

  it('none twice, though a URL is spelled in two ways', async () => {
    const source = makeCrawl(place(), [
      { url: `${site}/~a`, markdown: 'a\n' },
      { url: `${site}/%7Ea`, markdown: 'a\n' },
    ])
    expect(await urlsOf(source)).toEqual([`${site}/%7Ea`])
  })

  it('those that patterns choose', async () => {
    const source = makeCrawl(
      place(),
      ['/docs/a', '/docs/b', '/blog/c'].map((path) => ({ url: site + path, markdown: 'x\n' })),
    )
    expect(await urlsOf(source, { include: ['/docs'], exclude: ['b'] })).toEqual([`${site}/docs/a`])
  })

  it('no page that repeats another, unless that is not in the export', async () => {
    const source = makeCrawl(place(), [
      { url: `${site}/a`, markdown: 'a\n', duplicateOf: `${site}/b`, duplicateBy: 'near' },
      { url: `${site}/b`, markdown: 'b\n', duplicateOf: `${site}/c`, duplicateBy: 'near' },
      { url: `${site}/c`, markdown: 'c\n' },
      { url: `${site}/d`, markdown: 'd\n', duplicateOf: 'https://elsewhere.test/', duplicateBy: 'canonical' },
      { url: `${site}/e`, markdown: 'e\n', duplicateOf: `${site}/f`, duplicateBy: 'canonical' },
      { url: `${site}/f`, markdown: 'f\n', duplicateOf: `${site}/e`, duplicateBy: 'canonical' },
      { url: `${site}/g`, markdown: 'g\n', duplicateOf: `${site}/hidden`, duplicateBy: 'same' },
      { url: `${site}/hidden`, markdown: 'h\n' },
    ])
    const rest = [`${site}/c`, `${site}/d`, `${site}/e`, `${site}/f`, `${site}/g`]
    expect(await urlsOf(source, { exclude: ['hidden'] })).toEqual(rest)
    expect(await urlsOf(source, { duplicates: true })).toHaveLength(8)
    const { report } = await streamed(source, { format: 'jsonl' })
    expect(report).toMatchObject({ pages: 5, leftOut: { duplicate: 3 } })
  })

  it('no page that is gone, unless it came back', async () => {
    const source = makeCrawl(
      place(),
      [
        { url: `${site}/gone`, markdown: 'a\n' },
        { url: `${site}/back`, markdown: 'b\n', visit: 3, change: 'changed' },
        { url: `${site}/missed`, markdown: 'c\n' },
      ],
      {
        revisits: [
          { url: `${site}/gone`, change: 'gone', visit: 2, retired: true },
          { url: `${site}/back`, change: 'gone', visit: 2, retired: true },
          { url: `${site}/missed`, change: 'missed', visit: 2 },
        ],
      },
    )
    expect(await urlsOf(source)).toEqual([`${site}/back`, `${site}/missed`])
  })

  it('only pages whose site does not forbid the use', async () => {
    const source = makeCrawl(place(), [
      { url: `${site}/silent`, markdown: 'x\n' },
      {
        url: `${site}/signals`,
        markdown: 'x\n',
        contentSignals: { search: true, 'ai-input': true, 'ai-train': false },
      },
      { url: `${site}/tdm`, markdown: 'x\n', tdm: { reserved: true } },
      { url: `${site}/noindex`, markdown: 'x\n', robots: { index: false, follow: true } },
    ])
    const paths = async (use: 'search' | 'ai-input' | 'ai-train'): Promise<string[]> =>
      (await urlsOf(source, { permitted: use })).map((url) => url.slice(site.length))
    expect(await paths('search')).toEqual(['/silent', '/signals', '/tdm'])
    expect(await paths('ai-input')).toEqual(['/silent', '/signals', '/noindex'])
    expect(await paths('ai-train')).toEqual(['/silent', '/noindex'])
  })

  it('nothing of a file that has lost committed records', async () => {
    const source = makeCrawl(place(), [{ url: `${site}/a`, markdown: 'a\n' }])
    writeFileSync(join(folderOf(source), 'pages.jsonl'), '{')
    await expect(streamed(source, { format: 'csv' })).rejects.toMatchObject({ code: 'output' })
  })
})

describe('a table', () => {
  it('quotes what needs it, and takes the sting out of formulas', async () => {
    const source = makeCrawl(place(), [
      { url: `${site}/a`, title: '=HYPERLINK("x")', description: 'two\nlines, "quoted"', lang: '@x', depth: 1 },
      { url: `${site}/b`, title: '+1', description: ' spaces ', lang: '-', headings: [{ level: 1, text: 'a' }] },
    ])
    const { text } = await streamed(source, {
      format: 'csv',
      fields: ['title', 'description', 'lang', 'depth', 'headings'],
    })
    expect(text).toBe(
      'title,description,lang,depth,headings\r\n' +
        `"'=HYPERLINK(""x"")","two\nlines, ""quoted""",'@x,1,[]\r\n` +
        `'+1," spaces ",'-,0,"[{""level"":1,""text"":""a""}]"\r\n`,
    )
  })
})

describe('records with their text', () => {
  it('carry the Markdown without its front matter', async () => {
    const source = makeCrawl(place(), [{ url: `${site}/a`, title: 't', markdown: '# A\n\n---\n\nb\n' }])
    const { text } = await streamed(source, { format: 'jsonl' })
    expect(JSON.parse(text)).toMatchObject({ url: `${site}/a`, title: 't', markdown: '# A\n\n---\n\nb\n' })
    expect(text).not.toContain('markdownPath')
  })

  it('take no text from outside of the folder', async () => {
    const secret = join(root, 'secret.md')
    writeFileSync(secret, 'secret\n')
    const source = makeCrawl(place(), [
      { url: `${site}/linked`, markdown: 'x\n' },
      { url: 'https://other.test/folder', markdown: 'x\n' },
      { url: `${site}/wrong`, markdown: 'x\n', markdownPath: '../secret.md' },
    ])
    const linked = join(folderOf(source), 'content/example.com/linked.md')
    rmSync(linked)
    symlinkSync(secret, linked)
    rmSync(join(folderOf(source), 'content/other.test'), { recursive: true })
    mkdirSync(join(root, 'elsewhere'))
    writeFileSync(join(root, 'elsewhere/folder.md'), 'secret\n')
    symlinkSync(join(root, 'elsewhere'), join(folderOf(source), 'content/other.test'))
    const { text } = await streamed(source, { format: 'jsonl' })
    expect(text.split('\n').filter(Boolean)).toHaveLength(3)
    expect(text).not.toContain('secret\\n')
  })
})

describe('a folder of text', () => {
  it('has a file for each page, where its Markdown is', async () => {
    const source = makeCrawl(place(), [
      { url: `${site}/`, markdown: '# Home\n\nSee [a](https://example.com/a).\n' },
      { url: `${site}/a/b?q=1`, markdown: 'deep\n' },
      { url: `${site}/picture.png` },
    ])
    const path = place()
    const report = await exportCrawl(source, { format: 'text', target: { path } }, { clock })
    expect(report).toMatchObject({ files: 2, pages: 2, leftOut: { textless: 1 } })
    expect(readFileSync(join(path, 'example.com/index.txt'), 'utf8')).toBe('Home\n\nSee a.\n')
    expect(readdirSync(path).toSorted()).toEqual(['example.com', 'export.json'])
    expect(JSON.parse(readFileSync(join(path, 'export.json'), 'utf8'))).toMatchObject({ format: 'text', pages: 2 })
  })
})

describe('what is there already', () => {
  it('stays, unless it is to be replaced', async () => {
    const source = makeCrawl(place(), [{ url: `${site}/a`, markdown: 'a\n' }])
    const path = place()
    writeFileSync(path, 'mine')
    const request = { format: 'csv', target: { path } } as const
    await expect(exportCrawl(source, request, { clock })).rejects.toMatchObject({ code: 'usage' })
    expect(readFileSync(path, 'utf8')).toBe('mine')
    await exportCrawl(source, { ...request, replace: true }, { clock })
    expect(readFileSync(path, 'utf8')).toContain('url,title')
    expect(existsSync(`${path}.part`)).toBe(false)
  })

  it('stays for good when it is a folder that no export has made', async () => {
    const source = makeCrawl(place(), [{ url: `${site}/a`, markdown: 'a\n' }])
    const path = place()
    mkdirSync(path)
    writeFileSync(join(path, 'mine'), 'mine')
    const request = { format: 'text', target: { path }, replace: true } as const
    await expect(exportCrawl(source, request, { clock })).rejects.toMatchObject({ code: 'usage' })
    expect(readFileSync(join(path, 'mine'), 'utf8')).toBe('mine')
    const other = place()
    await exportCrawl(source, { ...request, target: { path: other } }, { clock })
    writeFileSync(join(other, 'stale.txt'), 'stale')
    await exportCrawl(source, { ...request, target: { path: other } }, { clock })
    expect(existsSync(join(other, 'stale.txt'))).toBe(false)
  })

  it('is not touched by an export that fails', async () => {
    const source = makeCrawl(place(), [{ url: `${site}/a`, markdown: 'a\n' }])
    const path = place()
    writeFileSync(path, 'mine')
    const request = { format: 'wacz', target: { path }, replace: true } as const
    await expect(exportCrawl(source, request, { clock })).rejects.toMatchObject({ code: 'usage' })
    expect(readFileSync(path, 'utf8')).toBe('mine')
    expect(existsSync(`${path}.part`)).toBe(false)
  })
})
