import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const PROGRAM = fileURLToPath(new URL('./test-support/read-hungry-pages.ts', import.meta.url))
const MB = 1024 ** 2
/** What ADR 20 promises of pages that are read in the thread of the crawl; the program's own part is in it. */
const SMALL = { pageBytes: MB, heapMb: 96, outsideMb: 128 }
const FEW_TAGS = { pageBytes: 4 * MB, mostTags: 256 * 1024, heapMb: 320, outsideMb: 320 }

test('no page of a megabyte takes more memory than is promised', { timeout: 240_000 }, async () => {
  const { pages, outsideBytes } = await readHungryPages(SMALL)
  expect(pages).toBeGreaterThan(50)
  expect(outsideBytes).toBeLessThanOrEqual(SMALL.outsideMb * MB)
})

test('nor does a page of four with few tags', { timeout: 240_000 }, async () => {
  const { pages, outsideBytes } = await readHungryPages(FEW_TAGS)
  expect(pages).toBeGreaterThan(20)
  expect(outsideBytes).toBeLessThanOrEqual(FEW_TAGS.outsideMb * MB)
})

async function readHungryPages({
  pageBytes,
  mostTags,
  heapMb,
}: {
  readonly pageBytes: number
  readonly mostTags?: number
  readonly heapMb: number
}): Promise<{ readonly pages: number; readonly outsideBytes: number }> {
  const flags = [`--max-old-space-size=${heapMb}`, '--disable-warning=ExperimentalWarning']
  const words = [String(pageBytes), ...(mostTags === undefined ? [] : [String(mostTags)])]
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, PROGRAM, ...words])
  const lines = stdout.trim().split('\n')
  return { pages: lines.length - 1, outsideBytes: Number(lines.at(-1)) }
}
