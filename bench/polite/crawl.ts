/**
 * The crawler among the hosts of a polite web: the real program with one request at a time to each host, watched from
 * outside. It is given the time until it has asked every host once, then a while more, and is stopped in good order.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { LAUNCHER, REPOSITORY } from '../support/child.ts'
import { usageOfProcess, type ProcessUsage } from '../support/process-usage.ts'
import type { Worker } from '../support/worker.ts'
import type { Pace } from './pace.ts'
import { hostAddress, type WebVerbs } from './web.ts'

export interface PoliteCrawl {
  readonly hosts: number
  readonly delayMs: number
  /** How long it is left alone once every host was asked, so that what the first round has left behind is over. */
  readonly settleSeconds: number
  /** How long it is watched from then on. */
  readonly seconds: number
  /** Hosts are not waited for any longer than this: beyond what the machine can do some are never asked. */
  readonly patienceSeconds: number
  /** Words for the program beyond those that it needs. */
  readonly words: readonly string[]
  /** Options of Node, such as for a profile. */
  readonly node?: readonly string[]
}

export interface Watched {
  /** Since each host was first asked. */
  readonly pace: Pace
  /** While it was watched. */
  readonly steady: Pace
  readonly hostsAsked: number
  readonly secondsUntilAllAsked: number
  readonly seconds: number
  readonly requests: number
  readonly cpuSeconds: number
  readonly mainCpuSeconds: number
  readonly mainStarvedSeconds: number
  readonly rssBytes: number
}

/** The most that one process fetches at once: what is measured is the pace of hosts, not the number of slots. */
const CONCURRENCY = 1_000
/** Of what it says, which is told when it fails. */
const SAID_LIMIT = 4_000
const LOOK_MS = 100
/** Exit codes of a crawl that was stopped by a signal. */
const INTERRUPTED = 130

export async function watchCrawl(web: Worker<WebVerbs>, port: number, crawl: PoliteCrawl): Promise<Watched> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-polite-'))
  await web.ask('forget', undefined)
  try {
    const seeds = join(folder, 'seeds')
    writeFileSync(seeds, Array.from({ length: crawl.hosts }, (_, n) => `http://${hostAddress(n)}:${port}/\n`).join(''))
    const flags = {
      input: seeds,
      out: join(folder, 'crawl'),
      delay: `${crawl.delayMs}ms`,
      concurrency: String(CONCURRENCY),
      'per-host': '1',
      'allow-address': '127.0.0.0/8',
      format: 'jsonl',
    }
    const words = ['--quiet', ...Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]), ...crawl.words]
    const child = spawn(process.execPath, [...(crawl.node ?? []), join(REPOSITORY, LAUNCHER), ...words], {
      stdio: ['ignore', 'ignore', 'pipe'],
      cwd: folder,
    })
    let said = ''
    child.stderr.on('data', (words) => {
      said = `${said}${words}`.slice(-SAID_LIMIT)
    })
    const exit = once(child, 'exit') as Promise<[number | null]>
    const { pid } = child
    if (pid === undefined) throw new Error('the crawler could not be started')
    const ended = exit.then(([code]) => {
      throw new Error(`the crawler ended with ${code} before its time:\n${said}`)
    })
    const watched = await Promise.race([watch(pid, web, crawl), ended])
    ended.catch(() => {})
    child.kill('SIGINT')
    const [code] = await exit
    if (code !== INTERRUPTED) throw new Error(`the crawler ended with ${code}:\n${said}`)
    return watched
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function watch(pid: number, web: Worker<WebVerbs>, crawl: PoliteCrawl): Promise<Watched> {
  const { delayMs } = crawl
  const count = (): Promise<ReturnType<WebVerbs['count']>> => web.ask('count', undefined)
  const begun = performance.now()
  let now = await count()
  while (now.hosts < crawl.hosts && performance.now() - begun < 1_000 * crawl.patienceSeconds) {
    await sleep(LOOK_MS)
    now = await count()
  }
  const secondsUntilAllAsked = (performance.now() - begun) / 1_000
  await sleep(1_000 * crawl.settleSeconds)
  const from = await count()
  const before: ProcessUsage = usageOfProcess(pid)
  await sleep(1_000 * crawl.seconds)
  const until = await count()
  const after = usageOfProcess(pid)
  const span = { untilMs: until.nowMs, delayMs }
  return {
    pace: await web.ask('pace', { ...span, fromMs: 0 }),
    steady: await web.ask('pace', { ...span, fromMs: from.nowMs }),
    hostsAsked: until.hosts,
    secondsUntilAllAsked,
    seconds: (until.nowMs - from.nowMs) / 1_000,
    requests: until.requests - from.requests,
    cpuSeconds: after.cpuSeconds - before.cpuSeconds,
    mainCpuSeconds: after.mainCpuSeconds - before.mainCpuSeconds,
    mainStarvedSeconds: after.mainStarvedSeconds - before.mainStarvedSeconds,
    rssBytes: after.rssBytes,
  }
}
