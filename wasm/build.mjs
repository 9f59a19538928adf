/**
 * Compiles page-search.ts and keeps the result as text in src/parse/html/page-search-code.ts, so that no build is needed
 * to run or to test: only whoever changes page-search.ts calls this, with AssemblyScript fetched for it by npx.
 *
 *   node wasm/build.mjs
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const COMPILER = 'assemblyscript@0.28.20'
const LINE = 100
/** Of 64 KiB: what stands before a page, one of 4 MiB, and what may be looked at behind it. */
const MEMORY_PAGES = '65'

const here = import.meta.dirname
const folder = mkdtempSync(join(tmpdir(), 'tiptoe-wasm-'))
try {
  const file = join(folder, 'page-search.wasm')
  const flags = [
    '-O3',
    '--runtime',
    'stub',
    '--noAssert',
    '--enable',
    'simd',
    '--initialMemory',
    MEMORY_PAGES,
    '--maximumMemory',
    MEMORY_PAGES,
  ]
  const words = ['--yes', '--package', COMPILER, 'asc', 'page-search.ts', ...flags, '--outFile', file]
  execFileSync('npx', words, { cwd: here, stdio: 'inherit' })
  const code = readFileSync(file).toString('base64')
  const lines = code.match(new RegExp(`.{1,${LINE}}`, 'g')).map((line) => `  '${line}',`)
  writeFileSync(
    join(here, '../src/parse/html/page-search-code.ts'),
    `/** Made by wasm/build.mjs from wasm/page-search.ts. */\nexport const PAGE_SEARCH_CODE: string = [\n${lines.join('\n')}\n].join('')\n`,
  )
} finally {
  rmSync(folder, { recursive: true })
}
