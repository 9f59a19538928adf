/**
 * Compiles page-machine.ts and keeps the result as text in src/parse/html/page-machine-code.ts, so that no build is needed
 * to run or to test: only whoever changes what stands here calls this, with AssemblyScript fetched for it by npx.
 *
 *   node wasm/build.mjs
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const COMPILER = 'assemblyscript@0.28.20'
const LINE = 100
/** Of 64 KiB: up to the end of what layout.ts names. */
const MEMORY_PAGES = String(0x8a_0000 / 65_536)

const here = import.meta.dirname
const folder = mkdtempSync(join(tmpdir(), 'tiptoe-wasm-'))
try {
  const file = join(folder, 'page-machine.wasm')
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
  const words = ['--yes', '--package', COMPILER, 'asc', 'page-machine.ts', ...flags, '--outFile', file]
  execFileSync('npx', words, { cwd: here, stdio: 'inherit' })
  const code = readFileSync(file).toString('base64')
  const lines = code.match(new RegExp(`.{1,${LINE}}`, 'g')).map((line) => `  '${line}',`)
  writeFileSync(
    join(here, '../src/parse/html/page-machine-code.ts'),
    `/** Made by wasm/build.mjs from wasm/page-machine.ts. */\nexport const PAGE_MACHINE_CODE: string = [\n${lines.join('\n')}\n].join('')\n`,
  )
} finally {
  rmSync(folder, { recursive: true })
}
