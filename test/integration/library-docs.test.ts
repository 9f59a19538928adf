/**
 * The package as it is published, used as a stranger would: built, put into a `node_modules` with nothing but its
 * dependencies, type-checked and run. The programs are the examples of docs/guide/library.md, and what they print is
 * what the page says they print.
 */
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as library from '../../src/index.ts'
import { createLoopbackWeb, type LoopbackWeb } from '../support/loopback-web.ts'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '..', '..')
const TSC = join(ROOT, 'node_modules', '.bin', 'tsc')
const HOST = 'docs.example'

interface Example {
  /** The heading above it and its number on the page. */
  readonly name: string
  readonly code: string
  readonly printed: string
}

const guide = readFileSync(join(ROOT, 'docs', 'guide', 'library.md'), 'utf8')
const examples = readExamples(guide)

/** Every block of TypeScript with the block of text that follows it. */
function readExamples(markdown: string): Example[] {
  const found: Example[] = []
  const blocks = /^(#+) (.*)$|^```ts\n([^]*?)^```\n\n(?:```text\n([^]*?)^```$)?/gm
  let heading = ''
  for (const [, level, title, code, printed] of markdown.matchAll(blocks)) {
    if (level !== undefined) heading = title ?? ''
    if (code === undefined) continue
    if (printed === undefined) throw new Error(`an example under "${heading}" does not say what it prints`)
    found.push({ name: `${found.length + 1} ${heading}`, code, printed: printed.trimEnd() })
  }
  return found
}

const page = (title: string, ...links: string[]): { body: string } => ({
  body: `<title>${title}</title><h1>${title}</h1><p>About ${title}.</p>${links.map((link) => `<a href="${link}">${link}</a>`).join(' ')}`,
})

let web: LoopbackWeb
let folder: string
let printed: readonly string[]

/** What a crawl needs to take our web for the real one, at a pace fit for tests. */
function onLoopback(code: string): string {
  const reach = { resolve: web.resolveFlags(), allowAddress: ['127.0.0.0/8'], delay: 20 }
  return code
    .replaceAll(`https://${HOST}/`, web.url(HOST))
    .replaceAll('createCrawler({', `createCrawler({ ...${JSON.stringify(reach)},`)
}

const RUNNER = `
import { pathToFileURL } from 'node:url'
import { format } from 'node:util'
const printed = []
for (const file of process.argv.slice(2)) {
  const lines = []
  console.log = (...values) => lines.push(format(...values))
  await import(pathToFileURL(file).href)
  printed.push(lines.join('\\n'))
}
process.stdout.write(JSON.stringify(printed))
`

beforeAll(async () => {
  web = await createLoopbackWeb({
    [HOST]: {
      '/robots.txt': { body: 'User-agent: *\nDisallow: /private\n' },
      '/': page('Teacups', '/brew', '/care', '/private', '/lost'),
      '/brew': page('Brewing', '/'),
      '/care': page('Care', '/care/glaze'),
      '/care/': page('Care', '/care/glaze', '/brew'),
      '/care/glaze': page('Glaze', '/care'),
    },
  })
  folder = mkdtempSync(join(tmpdir(), 'tiptoe-package-'))
  const installed = join(folder, 'node_modules')
  const dist = join(installed, 'tiptoe', 'dist')
  mkdirSync(dist, { recursive: true })
  await run(TSC, ['-p', join(ROOT, 'tsconfig.build.json'), '--outDir', dist])
  await run(process.execPath, [join(ROOT, 'build', 'copy-scripts.mjs'), dist])
  cpSync(join(ROOT, 'package.json'), join(installed, 'tiptoe', 'package.json'))
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { dependencies: object }
  for (const name of [...Object.keys(dependencies), '@types/node']) {
    mkdirSync(dirname(join(installed, name)), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules', name), join(installed, name))
  }
  const files = examples.map(({ code }, index) => {
    const file = join(folder, `example-${index + 1}.ts`)
    writeFileSync(file, code.includes('createCrawler(') ? onLoopback(code) : code)
    return file
  })
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(folder, 'run.js'), RUNNER)
  // Nobody ends the process: an example that leaves something open would keep it, and fail here.
  const { stdout } = await run(process.execPath, ['run.js', ...files], { cwd: folder, timeout: 15_000 })
  printed = (JSON.parse(stdout) as string[]).map((text) => text.replaceAll(web.url(HOST), `https://${HOST}/`))
}, 60_000)

afterAll(async () => {
  await web.close()
  rmSync(folder, { recursive: true, force: true })
})

describe('the guide to the library', () => {
  it.each(examples)('example $name prints what the page says', (example) => {
    expect(printed[examples.indexOf(example)]).toBe(example.printed)
  })

  it('has an example of every function', () => {
    const functions = Object.entries(library)
      .filter(([name, value]) => typeof value === 'function' && name !== 'createSystemClock')
      .map(([name]) => name)
    const code = examples.map((example) => example.code).join('\n')
    expect(functions.filter((name) => !new RegExp(`\\b${name}\\b`).test(code))).toEqual([])
  })
})

describe('the package', () => {
  it('has types that the examples satisfy, in the strictest mode', async () => {
    const compilerOptions = {
      target: 'es2023',
      lib: ['es2023'],
      module: 'nodenext',
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: false,
      noEmit: true,
      types: ['node'],
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['example-*.ts'] }))
    const { stdout } = await run(TSC, ['-p', folder], { cwd: folder }).catch((error: { stdout: string }) => error)
    expect(stdout).toBe('')
  })

  it('holds no tests and nothing that only tests need', () => {
    const files = readdirSync(join(folder, 'node_modules', 'tiptoe', 'dist'), { recursive: true }) as string[]
    expect(files).toContain('index.js')
    expect(files).toContain('index.d.ts')
    expect(files.filter((file) => /\.test\.|test-support|conformance/.test(file))).toEqual([])
  })

  it('exports the same names as the sources', async () => {
    writeFileSync(join(folder, 'names.js'), "process.stdout.write(Object.keys(await import('tiptoe')).join(' '))")
    const { stdout } = await run(process.execPath, ['names.js'], { cwd: folder })
    expect(stdout.split(' ').sort()).toEqual(Object.keys(library).sort())
  })
})
