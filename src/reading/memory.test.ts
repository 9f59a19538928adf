import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const PROGRAM = fileURLToPath(new URL('./test-support/read-hungry-pages.ts', import.meta.url))
const MB = 1024 ** 2
/** What ADR 20 promises of pages that are read in the thread of the crawl; the program's own part is in it. */
const HEAP_MB = 96
const OUTSIDE_MB = 128

test('no page of a megabyte takes more memory than is promised', { timeout: 240_000 }, async () => {
  const flags = [`--max-old-space-size=${HEAP_MB}`, '--disable-warning=ExperimentalWarning']
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, PROGRAM, String(MB)])
  const lines = stdout.trim().split('\n')
  expect(lines.length).toBeGreaterThan(50)
  expect(Number(lines.at(-1))).toBeLessThanOrEqual(OUTSIDE_MB * MB)
})
