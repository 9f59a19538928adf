/**
 * Which embedded engine suits the frontier? Each candidate runs the frontier's access pattern in a process and a
 * folder of its own, twice; the better run counts. See bench/README.md for the figures and docs/adr/0002 for what
 * follows from them.
 *
 *   npx node bench/store.ts [URLs] [--only NAME,…] [--deps FOLDER] [--tmp FOLDER] [--variants]
 *
 * `--deps` is a folder into which candidates that Tiptoe does not depend on were installed. `--variants` compares
 * commit sizes and levels of durability on `node:sqlite` instead.
 */
import { execFileSync } from 'node:child_process'
import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { openAppendEngine } from './store/append.ts'
import type { Engine, EngineOptions } from './store/engine.ts'
import { openLevelEngine, type LevelModule } from './store/level.ts'
import { openLmdbEngine, type LmdbModule } from './store/lmdb.ts'
import { OPERATIONS_PER_PAGE, runPattern, type Measured } from './store/pattern.ts'
import { openNodeSqlite, openSqliteEngine, type OpenSqlite } from './store/sqlite.ts'
import { figure, megabytes, printTable } from './support/table.ts'

const RUNS = 2
const BASELINE = 'append only'

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string' },
    deps: { type: 'string' },
    tmp: { type: 'string' },
    variants: { type: 'boolean', default: false },
    /** One run in this process, printed as JSON: what the parent starts. */
    run: { type: 'string' },
    durability: { type: 'string', default: 'full' },
    'pages-per-commit': { type: 'string', default: '10' },
  },
})
const urls = Number(positionals[0] ?? 1_000_000)

interface Candidate {
  readonly name: string
  /** The package, for those that are not part of Node. */
  readonly install?: string
  open(options: EngineOptions): Engine | Promise<Engine>
}

const CANDIDATES: readonly Candidate[] = [
  { name: BASELINE, open: openAppendEngine },
  { name: 'node:sqlite', open: (options) => openSqliteEngine(openNodeSqlite, options) },
  {
    name: 'better-sqlite3',
    install: 'better-sqlite3@13',
    async open(options) {
      const { default: Database } = (await load('better-sqlite3')) as { default: new (file: string) => unknown }
      const open: OpenSqlite = (file) => new Database(file) as ReturnType<OpenSqlite>
      return openSqliteEngine(open, options)
    },
  },
  {
    name: 'lmdb',
    install: 'lmdb@3.5',
    open: async (options) => openLmdbEngine((await load('lmdb')) as LmdbModule, options),
  },
  {
    name: 'classic-level',
    install: 'classic-level@3',
    async open(options) {
      const module = (await load('classic-level')) as { default: LevelModule }
      return openLevelEngine(module.default, options)
    },
  },
]

/** A package from the folder given, or from wherever the repository finds it. */
function locate(name: string): string | undefined {
  const from = flags.deps === undefined ? import.meta.url : pathToFileURL(join(resolve(flags.deps), 'x.js'))
  try {
    return createRequire(from).resolve(name)
  } catch {
    return undefined
  }
}

function load(name: string): Promise<unknown> {
  return import(pathToFileURL(locate(name) as string).href)
}

interface Run extends Measured {
  readonly peakBytes: number
  readonly diskBytes: number
}

async function measure(candidate: Candidate): Promise<Run> {
  const folder = mkdtempSync(join(flags.tmp ?? tmpdir(), 'bench-store-'))
  try {
    const durability = flags.durability === 'normal' ? 'normal' : 'full'
    const engine = await candidate.open({ folder, durability })
    const measured = await runPattern(engine, urls, Number(flags['pages-per-commit']))
    const peakBytes = process.resourceUsage().maxRSS * 1024
    await engine.close()
    return { ...measured, peakBytes, diskBytes: diskBytes(folder) }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** What the files take on the disk: a file may have holes. */
function diskBytes(folder: string): number {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => lstatSync(join(folder, name)))
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + entry.blocks * 512, 0)
}

function inChild(candidate: Candidate, extra: readonly string[]): Run {
  const passed = ['deps', 'tmp'] as const
  const output = execFileSync(
    process.execPath,
    [
      fileURLToPath(import.meta.url),
      String(urls),
      '--run',
      candidate.name,
      ...passed.flatMap((flag) => (flags[flag] === undefined ? [] : [`--${flag}`, flags[flag]])),
      ...extra,
    ],
    { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] },
  )
  return JSON.parse(output) as Run
}

const operations = (run: Run): number => (run.pages * OPERATIONS_PER_PAGE) / run.seconds
const better = (a: Run | undefined, b: Run): Run => (a === undefined || b.seconds < a.seconds ? b : a)

function compareEngines(): void {
  const wanted = flags.only?.split(',')
  const present = CANDIDATES.filter(({ name, install }) => {
    if (wanted !== undefined && name !== BASELINE && !wanted.includes(name)) return false
    if (install === undefined || locate(name) !== undefined) return true
    process.stdout.write(`${name} is not here: npm install --prefix /tmp/deps ${install}, then --deps /tmp/deps\n`)
    return false
  })
  const best = new Map<string, Run>()
  for (let run = 0; run < RUNS; run++) {
    for (const candidate of present) best.set(candidate.name, better(best.get(candidate.name), inChild(candidate, [])))
  }
  const base = best.get(BASELINE) as Run
  printTable(
    ['engine', 'operations/s', 'pages/s', 'last tenth', 'of bare', 'peak RSS', 'bytes/URL on disk'],
    [...best].map(([name, run]) => [
      name,
      figure(operations(run)),
      figure(run.pages / run.seconds),
      figure(run.lastTenth),
      `${figure((100 * base.seconds) / run.seconds)} %`,
      megabytes(run.peakBytes),
      figure(run.diskBytes / run.urls),
    ]),
  )
}

function compareVariants(): void {
  const candidate = CANDIDATES.find(({ name }) => name === 'node:sqlite') as Candidate
  const best = new Map<string, { durability: string; pages: string; run: Run }>()
  for (let round = 0; round < RUNS; round++) {
    for (const pages of ['1', '10', '64', '200']) {
      for (const durability of ['full', 'normal']) {
        const run = inChild(candidate, ['--durability', durability, '--pages-per-commit', pages])
        const name = `${durability} ${pages}`
        best.set(name, { durability, pages, run: better(best.get(name)?.run, run) })
      }
    }
  }
  printTable(
    ['synchronous', 'pages/commit', 'pages/s', 'commits/s', 'operations/s'],
    [...best.values()].map(({ durability, pages, run }) => {
      const rate = run.pages / run.seconds
      return [durability.toUpperCase(), pages, figure(rate), figure(rate / Number(pages)), figure(operations(run))]
    }),
  )
}

if (flags.run !== undefined) {
  const candidate = CANDIDATES.find(({ name }) => name === flags.run)
  if (candidate === undefined) throw new Error(`no candidate is called ${flags.run}`)
  process.stdout.write(JSON.stringify(await measure(candidate)))
} else if (flags.variants) compareVariants()
else compareEngines()
