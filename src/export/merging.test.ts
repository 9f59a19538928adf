import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exportCrawl, openExportSource, type CommittedPositions, type ExportReport } from './index.ts'
import { makeWorker } from './test-support/hand-made-worker.ts'

let root: string
let count = 0
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'tiptoe-merging-test-'))
})
afterAll(() => rmSync(root, { recursive: true }))

const clock = { now: () => Date.UTC(2026, 0, 2) }
const place = (): string => join(root, String(++count))
const site = 'https://example.com'
const at = (second: number): string => new Date(Date.UTC(2026, 0, 2, 3, 0, second)).toISOString()

interface Line {
  readonly url: string
  readonly title: string | null
  readonly visit: number
  readonly fetchedAt: string
  readonly markdown: string
}

/** The records of an export of these folders. */
async function merged(
  paths: readonly string[],
  positions?: CommittedPositions,
): Promise<{ lines: Line[]; urls: string[]; report: ExportReport; warnings: readonly string[] }> {
  const source = await openExportSource(paths, { version: '0', ...(positions === undefined ? {} : { positions }) })
  let text = ''
  const write = async (piece: string): Promise<void> => {
    text += piece
  }
  const report = await exportCrawl(source, { format: 'jsonl', target: { write } }, { clock })
  const lines = text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line)
  return { lines, urls: lines.map(({ url }) => url), report, warnings: source.warnings }
}

describe('an export of the folders of several workers', () => {
  it('has the last visit of each page, with the content of the worker that made it', async () => {
    const [one, other] = [place(), place()]
    await makeWorker(one, {
      worker: 'w1',
      pages: [
        { url: `${site}/a`, title: 'old', markdown: 'as the first worker saw it\n' },
        { url: `${site}/b`, title: 'newer', visit: 2, change: 'changed', markdown: 'b, the second time\n' },
      ],
    })
    await makeWorker(other, {
      worker: 'w2',
      pages: [
        { url: `${site}/a`, title: 'new', visit: 2, change: 'changed', markdown: 'as the second worker saw it\n' },
        { url: `${site}/b`, title: 'older', markdown: 'b, the first time\n' },
        { url: `${site}/c`, title: 'c', markdown: 'c\n' },
      ],
    })
    const { lines, report, warnings } = await merged([one, other])
    expect(lines.map(({ url, title, markdown }) => [url, title, markdown])).toEqual([
      [`${site}/b`, 'newer', 'b, the second time\n'],
      [`${site}/a`, 'new', 'as the second worker saw it\n'],
      [`${site}/c`, 'c', 'c\n'],
    ])
    expect(report).toMatchObject({ pages: 3, doubled: 0 })
    expect(warnings).toEqual([])
  })

  it('has one record of each page and visit, that of the later fetch, however the records are spread', async () => {
    const record = fc.record({ page: fc.nat(4), visit: fc.integer({ min: 1, max: 3 }), second: fc.nat(3) })
    const workers = fc.array(fc.array(record, { maxLength: 6 }), { minLength: 1, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(workers, async (spread) => {
        const folder = place()
        for (const [index, records] of spread.entries()) {
          await makeWorker(join(folder, `w${index}`), {
            worker: `w${index}`,
            pages: records.map(({ page, visit, second }) => ({
              url: `${site}/${page}`,
              visit,
              fetchedAt: at(second),
              markdown: 'x\n',
            })),
          })
        }
        const all = spread.flat()
        const expected = [...new Set(all.map(({ page }) => page))].map((page) => {
          const records = all.filter((one) => one.page === page)
          const visit = Math.max(...records.map((one) => one.visit))
          const last = records.filter((one) => one.visit === visit)
          return { page, visit, second: Math.max(...last.map(({ second }) => second)), others: last.length - 1 }
        })
        const { lines, report } = await merged([folder])
        expect(lines.map(({ url, visit, fetchedAt }) => [url, visit, fetchedAt]).toSorted(byFirst)).toEqual(
          expected.map(({ page, visit, second }) => [`${site}/${page}`, visit, at(second)]).toSorted(byFirst),
        )
        expect(report.doubled).toBe(expected.reduce((sum, { others }) => sum + others, 0))
      }),
      { numRuns: 40 },
    )
  })

  it('leaves out what another worker found gone, and what repeats a page of another', async () => {
    const [one, other] = [place(), place()]
    await makeWorker(one, {
      worker: 'w1',
      pages: [
        { url: `${site}/gone`, markdown: 'x\n' },
        { url: `${site}/copy`, markdown: 'x\n', duplicateOf: `${site}/first`, duplicateBy: 'canonical' },
      ],
    })
    await makeWorker(other, {
      worker: 'w2',
      pages: [{ url: `${site}/first`, markdown: 'x\n' }],
      revisits: [{ url: `${site}/gone`, change: 'gone', visit: 2, retired: true }],
    })
    const { urls, report } = await merged([one, other])
    expect(urls).toEqual([`${site}/first`])
    expect(report.leftOut).toEqual({ gone: 1, duplicate: 1 })
  })

  it('is one document, with links from the pages of one worker to those of another', async () => {
    const folder = place()
    await makeWorker(join(folder, 'a'), {
      worker: 'w1',
      pages: [{ url: `${site}/a`, title: 'A', markdown: `# A\n\n[on](${site}/b)\n` }],
    })
    await makeWorker(join(folder, 'b'), {
      worker: 'w2',
      pages: [{ url: `${site}/b`, title: 'B', markdown: '# B\n\nthe end\n' }],
    })
    let text = ''
    const write = async (piece: string): Promise<void> => {
      text += piece
    }
    const source = await openExportSource([folder], { version: '0' })
    await exportCrawl(source, { format: 'markdown', target: { write } }, { clock })
    expect(text).toMatch(/\[on\]\(#p\d+-b\)/)
    expect(text).toContain('the end')
  })
})

const byFirst = (one: readonly unknown[], other: readonly unknown[]): number =>
  String(one[0]) < String(other[0]) ? -1 : 1

describe('how much of a worker’s folder counts', () => {
  const pages = ['/a', '/b'].map((path) => ({ url: site + path, markdown: 'x\n' }))
  const third = `${JSON.stringify({ url: `${site}/c`, visit: 1, fetchedAt: at(0), markdownPath: 'content/c.md', robots: { index: true } })}\n`

  it('is what the worker wrote down as committed', async () => {
    const folder = place()
    await makeWorker(folder, { worker: 'w1', pages, beyond: third })
    expect((await merged([folder])).urls).toEqual([`${site}/a`, `${site}/b`])
  })

  it('is what the store says, where it is asked', async () => {
    const [one, other] = [place(), place()]
    const output = await makeWorker(one, { worker: 'w1', pages })
    await makeWorker(other, { worker: 'w2', pages: [{ url: `${site}/lost`, markdown: 'x\n' }] })
    const half = (output['pages.jsonl'] ?? 0) / 2
    const asked: string[] = []
    const positions: CommittedPositions = {
      crawl: 'news',
      async positionOf(worker) {
        asked.push(worker)
        return worker === 'w1' ? { 'pages.jsonl': half } : {}
      },
    }
    const { urls } = await merged([one, other], positions)
    expect(urls).toEqual([`${site}/a`])
    expect(asked).toEqual(['w1', 'w2'])
    await expect(merged([one], { ...positions, crawl: 'other' })).rejects.toMatchObject({ code: 'usage' })
  })

  it.each([
    ['half a line', '{"url":"https://example.com/half', 2],
    ['a whole line and half of one', `${third}{"url`, 3],
    ['a line longer than a block', `${third}${'x'.repeat(200_000)}`, 3],
    ['nothing', '', 2],
  ])('is what is whole, and a warning, where nobody knows: behind the records is %s', async (_what, beyond, whole) => {
    const folder = place()
    await makeWorker(folder, { worker: 'w1', pages, beyond, uncommitted: true })
    const { urls, warnings } = await merged([folder])
    expect(urls).toHaveLength(whole)
    expect(warnings).toEqual([expect.stringContaining(`${folder} does not say how much of it was committed`)])
  })

  it('is an error when less is there than was committed', async () => {
    const folder = place()
    await makeWorker(folder, { worker: 'w1', pages })
    truncateSync(join(folder, 'pages.jsonl'), 10)
    await expect(merged([folder])).rejects.toMatchObject({ code: 'output' })
  })
})

describe('which folders are one crawl', () => {
  const page = { url: `${site}/a`, markdown: 'x\n' }

  it('those of workers below the folder that is named, and nothing else there', async () => {
    const folder = place()
    for (const worker of ['w1', 'w2']) {
      await makeWorker(join(folder, worker), { worker, pages: [{ url: `${site}/${worker}`, markdown: 'x\n' }] })
    }
    mkdirSync(join(folder, 'lost+found'))
    writeFileSync(join(folder, 'notes.txt'), '')
    expect((await merged([folder])).urls).toEqual([`${site}/w1`, `${site}/w2`])
  })

  it('one that is named twice counts once', async () => {
    const folder = place()
    await makeWorker(join(folder, 'w1'), { worker: 'w1', pages: [page] })
    const { urls, report } = await merged([folder, join(folder, 'w1'), `${folder}/./w1/`])
    expect(urls).toEqual([page.url])
    expect(report.doubled).toBe(0)
  })

  it('is called after the folder, or after the crawl where there are several', async () => {
    const folder = place()
    for (const worker of ['w1', 'w2']) await makeWorker(join(folder, worker), { worker, pages: [page] })
    const nameOf = async (...paths: string[]): Promise<string> => (await openExportSource(paths, { version: '0' })).name
    expect(await nameOf(folder)).toBe(String(count))
    expect(await nameOf(join(folder, 'w1'), join(folder, 'w2'))).toBe('news')
  })

  it('not those of two crawls, nor two copies of one worker, nor a folder without any', async () => {
    const [one, copy, other, none] = [place(), place(), place(), place()]
    await makeWorker(one, { worker: 'w1', pages: [page] })
    await makeWorker(copy, { worker: 'w1', pages: [page] })
    await makeWorker(other, { worker: 'w2', crawl: 'weather', pages: [page] })
    mkdirSync(none)
    const refused = (message: string): object => ({ code: 'usage', message: expect.stringContaining(message) })
    await expect(merged([one, other])).rejects.toMatchObject(refused('of the crawl news'))
    await expect(merged([one, copy])).rejects.toMatchObject(refused('both of worker w1'))
    await expect(merged([one, none])).rejects.toMatchObject(refused('holds no crawl'))
    await expect(merged([join(root, 'nowhere')])).rejects.toMatchObject(refused('holds no crawl'))
  })
})
