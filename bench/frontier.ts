/**
 * Does the frontier hold at ten million URLs? It grows in one folder to 10 k, 100 k, 1 M and 10 M URLs, a hundred to a
 * host; at each mark links are added, tasks leased and settled, memory, disk and opening measured. The bare store does
 * the same number of puts and gets at the same sizes, turn by turn with it; each has a process and a folder of its own.
 *
 *   npx node bench/frontier.ts [URLs] [--out FILE] [--profile FOLDER] [--tmp FOLDER]
 *
 * Everything measured is written to a file (bench/frontier.json), from which bench/frontier/chart.ts draws the growth.
 * With `--profile`, the profile of each measurement of the frontier goes to that folder; see bench/profile.ts.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { BareVerbs } from './frontier/bare.ts'
import type { Before, HomeVerbs, News } from './frontier/home.ts'
import { marksUpTo, type Killed, type Measured } from './frontier/measured.ts'
import { printReport } from './frontier/report.ts'
import { startWorker, type Worker } from './support/worker.ts'

/** Where the clock begins that is moved by hand. */
const START = Date.UTC(2027, 0)
/** Rounds of work before the kill: enough that something of everything is under way. */
const ROUNDS_BEFORE_KILL = 25

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    out: { type: 'string', default: join(import.meta.dirname, 'frontier.json') },
    profile: { type: 'string' },
    tmp: { type: 'string', default: tmpdir() },
  },
})
const marks = marksUpTo(Number(positionals[0] ?? 10_000_000))
if (flags.profile !== undefined) mkdirSync(flags.profile, { recursive: true })
const root = mkdtempSync(join(flags.tmp, 'bench-frontier-'))

const [homeFolder, bareFolder] = [join(root, 'home'), join(root, 'bare')]

const startHome = (): Worker<HomeVerbs> => {
  const profiles = flags.profile === undefined ? [] : [flags.profile]
  return startWorker(join(import.meta.dirname, 'frontier/home.ts'), [homeFolder, ...profiles])
}
const startBare = (): Worker<BareVerbs> => startWorker(join(import.meta.dirname, 'frontier/bare.ts'), [bareFolder])

/** A process that ends when it has answered. */
async function once<Verbs, T>(start: () => Worker<Verbs>, ask: (worker: Worker<Verbs>) => Promise<T>): Promise<T> {
  const worker = start()
  try {
    return await ask(worker)
  } finally {
    await worker.stop()
  }
}

/** Ends a process in the middle of its work, and opens what it left. */
async function killAndOpen(before: Before): Promise<Killed> {
  const home = startHome()
  try {
    const { confirmed, now } = await new Promise<News>((resolve, reject) => {
      let rounds = 0
      home.onNews((news) => {
        if (++rounds >= ROUNDS_BEFORE_KILL) resolve(news as News)
      })
      home.ask('work', before).catch(reject)
    })
    await home.kill()
    const { openMs, discovered } = await once(startHome, (worker) => worker.ask('open', now))
    if (discovered < confirmed) throw new Error(`${confirmed} URLs were confirmed, and ${discovered} are left`)
    return { confirmed, found: discovered, openMs }
  } finally {
    await home.kill()
  }
}

async function run(): Promise<Measured> {
  mkdirSync(homeFolder)
  mkdirSync(bareFolder)
  const measured: Measured['marks'][number][] = []
  let before: Before = { done: [], textBytes: 0, now: START }
  for (const mark of marks) {
    const { done } = before
    const { figures, now } = await once(startHome, (worker) => worker.ask('mark', { mark, before }))
    const opened = await once(startHome, (worker) => worker.ask('open', now))
    process.stderr.write(`${mark.urls.toLocaleString('en')} URLs: the bare store\n`)
    await once(startBare, (worker) => worker.ask('fill', { done, mark }))
    const batch = Math.max(1, Math.round(figures.tasks.operations / figures.tasks.calls))
    const bare = await once(startBare, (worker) => worker.ask('measure', { done, mark, batch }))
    measured.push({ mark, home: { ...figures, openMs: opened.openMs }, bare })
    before = { done: [...done, mark], textBytes: figures.textBytes, now: opened.now }
  }
  process.stderr.write('kill and open\n')
  const killed = await killAndOpen(before)
  return { date: new Date().toISOString().slice(0, 10), node: process.versions.node, marks: measured, killed }
}

process.on('exit', () => rmSync(root, { recursive: true }))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))

const measured = await run()
writeFileSync(flags.out, `${JSON.stringify(measured, null, 2)}\n`)
printReport(measured)
