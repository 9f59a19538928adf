/** The folder of a crawl belongs to the crawl, not to the face that began it: either can go on with the other's. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createCrawler, type CrawlerOptions } from '../../src/index.ts'
import { createLoopbackWeb, generatedSite, type LoopbackWeb } from '../support/loopback-web.ts'

const HOST = 'docs.example'
const PAGES = 30
const LAUNCHER = join(import.meta.dirname, '..', '..', 'bin', 'tiptoe.mjs')

let web: LoopbackWeb
let folder: string
beforeAll(async () => {
  web = await createLoopbackWeb({
    [HOST]: generatedSite({ pages: PAGES, linksPerPage: 4, bytesPerPage: 600, seed: 3 }),
  })
  folder = mkdtempSync(join(tmpdir(), 'tiptoe-folder-'))
})
afterAll(async () => {
  await web.close()
  rmSync(folder, { recursive: true, force: true })
})

const library = (out: string, extra: CrawlerOptions = {}): CrawlerOptions => ({
  resolve: web.resolveFlags(),
  allowAddress: ['127.0.0.0/8'],
  delay: 0,
  out,
  ...extra,
})

/** Runs the command line and returns its exit code. */
async function tiptoe(...words: string[]): Promise<number> {
  const flags = ['-q', '--delay', '0', '--allow-address', '127.0.0.0/8']
  const resolve = web.resolveFlags().flatMap((flag) => ['--resolve', flag])
  return promisify(execFile)(process.execPath, [LAUNCHER, ...words, ...flags, ...resolve]).then(
    () => 0,
    (error: { code: number }) => error.code,
  )
}

const json = (path: string): Record<string, unknown> =>
  JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>

const files = (out: string): Set<string> => new Set(readdirSync(out, { recursive: true, encoding: 'utf8' }))

function urls(out: string): string[] {
  const lines = readFileSync(join(out, 'pages.jsonl'), 'utf8').split('\n').filter(Boolean)
  return lines.map((line) => (JSON.parse(line) as { url: string }).url).sort()
}

it('the library and the command line leave the same folder', async () => {
  const [mine, theirs] = [join(folder, 'mine'), join(folder, 'theirs')]
  await createCrawler(library(mine)).runToEnd(web.url(HOST))
  expect(await tiptoe(web.url(HOST), '-o', theirs)).toBe(0)
  expect(files(mine)).toEqual(files(theirs))
  expect(urls(mine)).toEqual(urls(theirs))
  const { seconds: _seconds, closest: _closest, ...stats } = json(join(mine, 'stats.json'))
  expect(json(join(theirs, 'stats.json'))).toEqual({
    ...stats,
    seconds: expect.any(Number),
    closest: expect.anything(),
  })
  const withoutOut = (out: string): string =>
    readFileSync(join(out, 'crawl.yaml'), 'utf8').replaceAll(JSON.stringify(out), 'OUT').replaceAll(out, 'OUT')
  expect(withoutOut(mine)).toBe(withoutOut(theirs))
})

it('what the library began the command line ends', async () => {
  const out = join(folder, 'begun-by-library')
  for await (const _page of createCrawler(library(out, { concurrency: 1 })).run(web.url(HOST))) break
  expect(urls(out).length).toBeLessThan(PAGES)
  expect(await tiptoe('-o', out)).toBe(0)
  expect(new Set(urls(out)).size).toBe(PAGES)
  expect(urls(out)).toHaveLength(PAGES)
})

it('what the command line began the library ends', async () => {
  const out = join(folder, 'begun-by-command')
  expect(await tiptoe(web.url(HOST), '-o', out, '--max-pages', '7')).toBe(4)
  expect(urls(out)).toHaveLength(7)
  const crawler = createCrawler(library(out))
  expect(await crawler.runToEnd()).toBe('finished')
  expect(await crawler.stats()).toMatchObject({ saved: PAGES })
  expect(new Set(urls(out)).size).toBe(PAGES)
})
