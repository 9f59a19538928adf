/**
 * Tiptoe beside other crawlers, on the same pages: some ten thousand of real documentation, served by nginx on loopback,
 * crawled by each in turn, several rounds of it. What a crawler asked for is read from the server's log, and what it
 * used from the kernel; the server's own work is not counted.
 *
 *   npx node bench/peers.ts [--rounds 3] [--seconds 15] [--pages-max N] [--only NAME,NAME] [--remove] [--work FOLDER]
 *                           [--json FILE]
 *
 * Site, server and peers are fetched from Debian and npm when it runs for the first time, into a folder of their own,
 * which is kept. A run that has gone on for `--seconds` and would take three times as long in all is stopped: the rate
 * of a slow crawler is known by then. So is one that has made `--pages-max` requests, for a quick look. `--only` takes
 * parts of names. What a run has written is put aside until all is measured; with `--remove` it is removed before the
 * next run, which makes new files dear on some file systems. Pages per second include start and end of the process; the
 * first contestant is what the others are compared with. With `--json bench/peers.json` bench/peers/chart.ts can draw
 * what was measured.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Pool } from 'undici'
import { CONCURRENCY, type Command, type Contestant } from './peers/contestant.ts'
import { bare } from './peers/contestants/bare.ts'
import { colly } from './peers/contestants/colly.ts'
import { crawlee } from './peers/contestants/crawlee.ts'
import { httrack } from './peers/contestants/httrack.ts'
import { scrapy } from './peers/contestants/scrapy.ts'
import { spider } from './peers/contestants/spider.ts'
import { tiptoe } from './peers/contestants/tiptoe.ts'
import { wget } from './peers/contestants/wget.ts'
import { wget2 } from './peers/contestants/wget2.ts'
import { readLog, type Asked } from './peers/log.ts'
import type { Measured, Run } from './peers/measured.ts'
import { findReachable, type Reference } from './peers/reference.ts'
import { printReport } from './peers/report.ts'
import { startSite, type Site } from './peers/site.ts'
import { createStopwatch, type Used } from './peers/timed.ts'
import { figure } from './support/table.ts'

/** Runs may take this many times `--seconds`, if they get on well enough to end in it. */
const PATIENCE = 3

const CONTESTANTS: readonly Contestant[] = [...tiptoe, bare, wget2, spider, colly, wget, httrack, ...crawlee, scrapy]

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '15' },
    'pages-max': { type: 'string', default: 'Infinity' },
    only: { type: 'string', default: '' },
    remove: { type: 'boolean', default: false },
    work: { type: 'string', default: join(tmpdir(), 'tiptoe-peers') },
    json: { type: 'string' },
  },
})
const [rounds, limitSeconds, maxPages] = [options.rounds, options.seconds, options['pages-max']].map(Number) as [
  number,
  number,
  number,
]
const parts = options.only.toLowerCase().split(',')
const wanted = CONTESTANTS.filter(({ name }) => parts.some((part) => name.toLowerCase().includes(part)))
const say = (text: string): void => void process.stderr.write(`${text}\n`)

/** Asks for every page once, so that no contestant waits for the disk in another's place. */
async function warmUp({ url }: Site, { pages }: Reference): Promise<void> {
  const pool = new Pool(url, { connections: 4 })
  const answers = [...pages].map(async (path) =>
    (await pool.request({ method: 'GET', path: encodeURI(path) })).body.dump(),
  )
  await Promise.all(answers)
  await pool.close()
}

interface Ready {
  readonly name: string
  readonly command: Command
  readonly runs: Run[]
  /** What it said when it fetched nothing. */
  failure: string
}

// What was started is ended in `exit`, which a signal alone would not bring about.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

const home = options.work
mkdirSync(home, { recursive: true })
say('setting up the site and its server')
const site = await startSite(home)
try {
  const out = join(home, 'out')
  const reachable = await findReachable(site, home)
  const stopwatch = createStopwatch(home, options.remove)
  stopwatch.cleanUp()
  const ready: Ready[] = []
  const missing: Measured['missing'][number][] = []
  for (const { name, setUp } of wanted) {
    say(`setting up ${name}`)
    const command = await setUp({ home, url: site.url, host: site.host, out })
    if (typeof command === 'string') missing.push({ name, why: command })
    else ready.push({ name, command, runs: [], failure: '' })
  }
  await warmUp(site, reachable)

  const measure = async (command: Command): Promise<Used & { asked: Asked }> => {
    site.takeLog()
    let log = ''
    let lines = 0
    const used = await stopwatch.time(command, out, (seconds) => {
      const more = site.takeLog()
      log += more
      lines += more.split('\n').length - 1
      const tooSlow = seconds >= limitSeconds && (seconds * reachable.pages.size) / lines > PATIENCE * limitSeconds
      return { requests: lines, enough: tooSlow || lines >= maxPages }
    })
    return { ...used, asked: readLog(log + site.takeLog(), reachable.pages) }
  }

  for (let round = 1; round <= rounds; round++) {
    for (const contestant of ready) {
      const { name, command, runs } = contestant
      const { said, exitCode, asked, ...used } = await measure(command)
      if (asked.pages === 0) {
        contestant.failure = `it fetched nothing and ended with ${exitCode}: ${said.trim().split('\n').at(-1)}`
        say(`round ${round}: ${name}: ${contestant.failure}`)
        continue
      }
      runs.push({ ...used, ...asked })
      const speed = `${figure(asked.pages)} pages in ${figure(used.seconds)} s, ${figure(used.cpuSeconds)} s of CPU`
      say(`round ${round}: ${name}: ${speed}${used.end === 'ended' ? '' : `, ${used.end}`}`)
    }
  }

  const { size } = reachable.pages
  const measured: Measured = {
    date: new Date().toISOString().slice(0, 10),
    node: process.versions.node,
    cores: availableParallelism(),
    site: { pages: size, bytesPerPage: reachable.bytes / size, linksPerPage: reachable.links / size },
    concurrency: CONCURRENCY,
    rounds,
    limitSeconds,
    results: ready.filter(({ runs }) => runs.length === rounds).map(({ name, runs }) => ({ name, runs })),
    missing: [
      ...missing,
      ...ready.filter(({ runs }) => runs.length < rounds).map(({ name, failure }) => ({ name, why: failure })),
    ],
  }
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(measured, undefined, 2)}\n`)
  printReport(measured)
  stopwatch.cleanUp()
} finally {
  await site.stop()
}
