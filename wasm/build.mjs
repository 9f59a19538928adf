/**
 * Compiles the programs that stand here and keeps each as text in src, so that no build is needed to run or to test: only
 * whoever changes one calls this, with AssemblyScript fetched for it by npx.
 *
 *   node wasm/build.mjs
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const COMPILER = 'assemblyscript@0.28.20'
const LINE = 100
const PAGE_BYTES = 65_536

/** Memory goes up to the end of what layout.ts and deflate-layout.ts name; only the first program needs SIMD. */
const PROGRAMS = [
  {
    source: 'page-machine.ts',
    result: '../src/parse/html/page-machine-code.ts',
    name: 'PAGE_MACHINE_CODE',
    memoryEnd: 0x8a_0000,
    flags: ['--enable', 'simd'],
  },
  {
    source: 'deflater.ts',
    result: '../src/sink/warc/deflater-code.ts',
    name: 'DEFLATER_CODE',
    memoryEnd: 0x2e_0000,
    flags: ['--memoryBase', '1024'],
  },
]

const here = import.meta.dirname
const folder = mkdtempSync(join(tmpdir(), 'tiptoe-wasm-'))
try {
  for (const { source, result, name, memoryEnd, flags } of PROGRAMS) {
    const file = join(folder, 'program.wasm')
    const pages = String(memoryEnd / PAGE_BYTES)
    const always = ['-O3', '--runtime', 'stub', '--noAssert', '--initialMemory', pages, '--maximumMemory', pages]
    const words = ['--yes', '--package', COMPILER, 'asc', source, ...always, ...flags, '--outFile', file]
    execFileSync('npx', words, { cwd: here, stdio: 'inherit' })
    const code = readFileSync(file).toString('base64')
    const lines = code.match(new RegExp(`.{1,${LINE}}`, 'g')).map((line) => `  '${line}',`)
    writeFileSync(
      join(here, result),
      `/** Made by wasm/build.mjs from wasm/${source}. */\nexport const ${name}: string = [\n${lines.join('\n')}\n].join('')\n`,
    )
  }
} finally {
  rmSync(folder, { recursive: true })
}
