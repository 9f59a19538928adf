import { createHash } from 'node:crypto'
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { NormalizedUrl } from '../../model/index.ts'
import { openOutputFolder, writeWorkerFolder, type ArchivedExchange } from '../../sink/index.ts'
import { archiveOptions, exchange } from '../../sink/warc/test-support/exchanges.ts'
import { exportCrawl, exportSource, openExportSource, type ExportSource } from '../index.ts'
import { pageRecord } from '../test-support/hand-made-crawl.ts'
import { readZip } from '../test-support/zip-reader.ts'

let root: string
let folder: string
let count = 0
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'tiptoe-wacz-test-'))
})
afterAll(() => rmSync(root, { recursive: true }))
beforeEach(() => {
  folder = join(root, `crawl-${++count}`)
})

const clock = { now: () => Date.UTC(2026, 0, 3, 4, 5, 6, 789) }
const site = 'https://www.example.com'

/** A crawl with so many pages in its archive, a robots.txt beside them, and one page that is in no archive. */
async function crawl(
  pages: number,
  maxFileBytes = 1024 ** 3,
  others: readonly ArchivedExchange[] = [],
): Promise<ExportSource> {
  const output = openOutputFolder(folder, {}, { archive: archiveOptions({ maxFileBytes }) })
  const items: Parameters<typeof output.append>[0][number][] = [
    { kind: 'exchange', exchange: exchange(`${site}/robots.txt`, { body: 'User-agent: *\n' }) },
  ]
  for (let index = 0; index < pages; index++) {
    const url = `${site}/${index === 0 ? '' : `page/${index}`}`
    items.push({
      kind: 'page',
      record: pageRecord({ url, title: `Page ${index}` }),
      markdown: null,
      // Every second page has the same body, so that there are records that refer to others.
      exchange: exchange(url, { body: index % 2 === 0 ? 'the same' : `<p>${index}</p>` }),
    })
  }
  items.push({ kind: 'page', record: pageRecord({ url: `${site}/unarchived` }), markdown: null })
  items.push(...others.map((other) => ({ kind: 'exchange', exchange: other }) as const))
  const position = output.append(items)
  output.close()
  return exportSource({ folders: [{ path: folder, output: position }], seeds: [`${site}/` as NormalizedUrl] })
}

const outputOf = ({ folders }: ExportSource): Readonly<Record<string, number>> => folders[0]?.output ?? {}

interface Wacz {
  readonly names: string[]
  bytes(name: string): Buffer
  json(name: string): Record<string, never>
}

async function wacz(source: ExportSource): Promise<Wacz & { path: string; pages: number }> {
  const path = `${folder}.wacz`
  const { pages } = await exportCrawl(source, { format: 'wacz', target: { path }, replace: true }, { clock })
  const files = readZip(path)
  const bytes = (name: string): Buffer => files.get(name) ?? Buffer.alloc(0)
  return { path, pages, names: [...files.keys()], bytes, json: (name) => JSON.parse(bytes(name).toString()) as never }
}

interface CdxLine {
  readonly key: string
  readonly url: string
  readonly mime: string
  readonly offset: string
  readonly length: string
  readonly filename: string
}

/** The index as a reader finds it: by the list of blocks. */
function indexOf(file: Wacz): CdxLine[] {
  const [meta, ...blocks] = file.bytes('indexes/index.idx').toString().trimEnd().split('\n')
  expect(meta).toBe('!meta 0 {"format":"cdxj-gzip-1.0","filename":"index.cdx.gz"}')
  return blocks.flatMap((entry) => {
    const { offset, length, filename } = JSON.parse(entry.slice(entry.indexOf(' {'))) as {
      offset: number
      length: number
      filename: string
    }
    const block = file.bytes(`indexes/${filename}`).subarray(offset, offset + length)
    const lines = gunzipSync(block).toString().trimEnd().split('\n')
    expect(lines[0]?.startsWith(entry.slice(0, entry.indexOf(' {')))).toBe(true)
    return lines.map((line) => ({
      key: line.slice(0, line.indexOf(' {')),
      ...(JSON.parse(line.slice(line.indexOf(' {'))) as Omit<CdxLine, 'key'>),
    }))
  })
}

describe('a WACZ file', () => {
  it('has the archive as it was committed, with its digests, its pages and its index', async () => {
    const source = await crawl(7)
    const current = Object.keys(outputOf(source)).find((name) => name.endsWith('.warc.gz')) ?? ''
    const committed = readFileSync(join(folder, current))
    // What a crawl that is running has written since.
    appendFileSync(join(folder, current), 'not committed')
    appendFileSync(join(folder, 'archive/index.cdxj'), 'not committed')
    const file = await wacz(source)

    expect(file.names).toEqual([
      current,
      'indexes/index.cdx.gz',
      'indexes/index.idx',
      'pages/pages.jsonl',
      'datapackage.json',
      'datapackage-digest.json',
    ])
    expect(file.bytes(current).equals(committed)).toBe(true)
    const manifest = file.json('datapackage.json') as Record<string, unknown>
    expect(manifest).toMatchObject({
      profile: 'data-package',
      wacz_version: '1.1.1',
      title: 'Page 0',
      mainPageUrl: `${site}/`,
      mainPageDate: '2026-01-02T03:04:05.678Z',
      created: '2026-01-03T04:05:06Z',
      software: expect.stringMatching(/^tiptoe \d/),
    })
    expect(manifest['resources']).toEqual(
      file.names.slice(0, -2).map((path) => ({
        name: path.split('/').at(-1),
        path,
        hash: `sha256:${createHash('sha256').update(file.bytes(path)).digest('hex')}`,
        bytes: file.bytes(path).length,
      })),
    )
    const digest = createHash('sha256').update(file.bytes('datapackage.json')).digest('hex')
    expect(file.json('datapackage-digest.json')).toEqual({ path: 'datapackage.json', hash: `sha256:${digest}` })

    const [header, ...pages] = file.bytes('pages/pages.jsonl').toString().trimEnd().split('\n')
    expect(JSON.parse(header ?? '')).toEqual({ format: 'json-pages-1.0', id: 'pages', title: 'All Pages' })
    expect(pages).toHaveLength(7)
    expect(file.pages).toBe(7)
    expect(JSON.parse(pages[1] ?? '')).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f]{20}$/),
      url: `${site}/page/1`,
      title: 'Page 1',
      ts: '2026-01-02T03:04:05.678Z',
    })
  })

  it('leads from each URL to its record', async () => {
    const file = await wacz(await crawl(7, 1))
    const lines = indexOf(file)
    expect(lines.map(({ key }) => key)).toEqual(lines.map(({ key }) => key).toSorted())
    expect(lines[0]?.key).toMatch(/^com,example\)\/ 2026010203040\d$/)
    expect(new Set(lines.map(({ filename }) => filename)).size).toBeGreaterThan(1)
    expect(new Set(lines.map(({ mime }) => mime))).toContain('warc/revisit')
    expect(lines.map(({ url }) => url)).toContain(`${site}/robots.txt`)
    for (const { url, offset, length, filename } of lines) {
      const archive = file.bytes(`archive/${filename}`)
      const record = gunzipSync(archive.subarray(Number(offset), Number(offset) + Number(length))).toString()
      expect(record).toContain(`\r\nWARC-Target-URI: ${url}\r\n`)
    }
  })

  it('has an index in blocks when it is long', async () => {
    const file = await wacz(await crawl(3_500))
    expect(file.bytes('indexes/index.idx').toString().trimEnd().split('\n')).toHaveLength(3)
    const keys = indexOf(file).map(({ key }) => key)
    expect(keys).toHaveLength(3_501)
    expect(keys).toEqual(keys.toSorted())
  })

  it('of several workers has the archives of all, though their files have the same names', async () => {
    const parent = folder
    const sources: ExportSource[] = []
    for (const [name, pages] of [
      ['a', 5],
      ['b', 9],
    ] as const) {
      folder = join(parent, name)
      sources.push(await crawl(pages))
    }
    folder = parent
    const file = await wacz(exportSource({ folders: sources.flatMap(({ folders }) => folders), seeds: [] }))
    const current = Object.keys(outputOf(sources[0]!)).find((name) => name.endsWith('.warc.gz')) ?? ''
    const named = (number: number): string => current.replace('archive/', `archive/0000${number}-`)
    expect(file.names.slice(0, 2)).toEqual([named(1), named(2)])
    expect(file.bytes(named(2)).equals(readFileSync(join(parent, 'b', current)))).toBe(true)
    // A robots.txt each; the pages of the first are pages of the second too, and listed once.
    const lines = indexOf(file)
    expect(lines).toHaveLength(5 + 9 + 2)
    expect(lines.map(({ key }) => key)).toEqual(lines.map(({ key }) => key).toSorted())
    for (const { url, offset, length, filename } of lines) {
      const archive = file.bytes(`archive/${filename}`)
      const record = gunzipSync(archive.subarray(Number(offset), Number(offset) + Number(length))).toString()
      expect(record).toContain(`\r\nWARC-Target-URI: ${url}\r\n`)
    }
    expect(file.pages).toBe(9)
  })

  it('of a worker that did not say how much was committed has its whole records', async () => {
    const source = await crawl(3)
    const current = Object.keys(outputOf(source)).find((name) => name.endsWith('.warc.gz')) ?? ''
    const committed = readFileSync(join(folder, current))
    const before = indexOf(await wacz(source))
    await writeWorkerFolder(folder, { crawl: 'news', worker: 'w1', store: 'redis://127.0.0.1' })
    appendFileSync(join(folder, current), committed.subarray(0, 40))
    appendFileSync(join(folder, 'archive/index.cdxj'), 'half a line')
    const file = await wacz(await openExportSource([folder], { version: '0' }))
    expect(file.bytes(current).equals(committed)).toBe(true)
    expect(indexOf(file)).toEqual(before)
  })

  it('is the same every time', async () => {
    const source = await crawl(3)
    const first = readFileSync((await wacz(source)).path)
    expect(readFileSync((await wacz(source)).path).equals(first)).toBe(true)
  })

  it.each(['missing', 'short'])('has its index made anew when that is %s', async (how) => {
    const source = await crawl(7, 1, [
      exchange(`${site}/empty`, { body: '' }),
      exchange(`${site}/cut`, { body: 'half of', truncated: 'length' }),
      exchange(`${site}/same`, { status: 304, body: '', responseHead: 'HTTP/1.1 304 Not Modified\r\n\r\n' }),
      exchange(`${site}/none`, { status: 404, responseHead: 'HTTP/1.1 404 No\r\nContent-Type: ;\r\nX: \xff\r\n\r\n' }),
      exchange(`${site}/odd`, { responseHead: 'nonsense\r\nContent-Type: ;\r\ncontent-type: Text/X;a\r\n\r\n' }),
    ])
    const before = (await wacz(source)).bytes('indexes/index.cdx.gz')
    expect(gunzipSync(before).toString()).not.toContain(`"${site}/same"`)
    if (how === 'missing') rmSync(join(folder, 'archive/index.cdxj'))
    else truncateSync(join(folder, 'archive/index.cdxj'), 10)
    expect((await wacz(source)).bytes('indexes/index.cdx.gz').equals(before)).toBe(true)
  })

  it('is not made of a damaged archive', async () => {
    const source = await crawl(3)
    const current = Object.keys(outputOf(source)).find((name) => name.endsWith('.warc.gz')) ?? ''
    rmSync(join(folder, 'archive/index.cdxj'))
    writeFileSync(join(folder, current), Buffer.alloc(outputOf(source)[current] ?? 0))
    await expect(wacz(source)).rejects.toMatchObject({ code: 'output', message: expect.stringContaining('damaged') })
    truncateSync(join(folder, current), 5)
    await expect(wacz(source)).rejects.toMatchObject({ code: 'output', message: expect.stringContaining('committed') })
  })

  it('is not made of a crawl without an archive', async () => {
    mkdirSync(folder)
    const source = exportSource({ folders: [{ path: folder, output: {} }], seeds: [] })
    await expect(wacz(source)).rejects.toMatchObject({ code: 'usage', message: expect.stringContaining('no archive') })
  })
})
