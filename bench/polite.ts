/**
 * Does a crawl of very many hosts keep each of them as busy as politeness permits? Hosts on loopback addresses, one
 * request a second to each, are crawled by the real program, more and more of them, until the machine is what bounds it.
 * What is counted is what the web server saw.
 *
 *   npx node bench/polite.ts [hosts] [seconds] [delayMs] [answerMs] [-- WORDS FOR THE CRAWLER]
 *
 * The server takes its part of the machine too. Then hosts that all have to wait: what do they cost?
 */
import { watchCrawl, type Watched } from './polite/crawl.ts'
import { startPoliteWeb } from './polite/web.ts'
import { figure, megabytes, printTable } from './support/table.ts'

/** Few enough that all that grows with their number is next to nothing. */
const FEW = 100
const STEPS = [FEW, 1_000, 2_000, 4_000]
const SETTLE_SECONDS = 2
const IDLE_DELAY_MS = 600_000
/** Connections that were kept open are closed by then. */
const IDLE_SETTLE_SECONDS = 45
/** Hosts that were not asked after so many delays are not waited for. */
const PATIENCE = 30

const divide = process.argv.indexOf('--')
const numbers = process.argv.slice(2, divide === -1 ? undefined : divide).map(Number)
const words = divide === -1 ? [] : process.argv.slice(divide + 1)
const [most = 10_000, seconds = 60, delayMs = 1_000, answerMs = 0] = numbers

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`
const milliseconds = (ms: number | null): string => (ms === null ? '' : `${figure(ms)} ms`)
const kilobytes = (bytes: number): string => `${figure(bytes / 1e3)} KB`

const web = startPoliteWeb()
try {
  const port = await web.ask('open', answerMs)
  const patienceSeconds = (PATIENCE * Math.max(delayMs, 1_000)) / 1_000
  const run = (hosts: number, ofDelayMs: number, settleSeconds = SETTLE_SECONDS): Promise<Watched> =>
    watchCrawl(web, port, { hosts, delayMs: ofDelayMs, settleSeconds, seconds, patienceSeconds, words })

  const rows: (readonly [hosts: number, watched: Watched])[] = []
  for (const hosts of [...STEPS.filter((step) => step < most), most]) rows.push([hosts, await run(hosts, delayMs)])

  process.stdout.write(
    `a delay of ${delayMs} ms, answers after ${answerMs} ms, ${seconds} s once every host was asked${words.length === 0 ? '' : `, ${words.join(' ')}`}\n`,
  )
  printTable(
    [
      'hosts',
      'all asked in',
      'of ideal',
      'whole delays',
      'worst 1 %',
      'requests/s',
      'CPU ms each',
      'cores',
      'main thread',
      'starved',
      'lag p50',
      'p99',
      'too early',
      'RSS',
    ],
    rows.map(([hosts, { pace, steady, ...run }]) => [
      figure(hosts),
      run.hostsAsked < hosts ? `${figure(run.hostsAsked)} only` : `${figure(run.secondsUntilAllAsked)} s`,
      percent(steady.share),
      percent(pace.shareOfWhole),
      percent(steady.shareOfWorst),
      figure(run.requests / run.seconds),
      figure((1_000 * run.cpuSeconds) / run.requests),
      figure(run.cpuSeconds / run.seconds),
      percent(run.mainCpuSeconds / run.seconds),
      percent(run.mainStarvedSeconds / run.seconds),
      milliseconds(steady.lagP50Ms),
      milliseconds(steady.lagP99Ms),
      pace.violations,
      megabytes(run.rssBytes),
    ]),
  )
  const [first, last] = [rows[0], rows.at(-1)]
  if (first !== undefined && last !== undefined && last[0] > first[0]) {
    const each = (last[1].rssBytes - first[1].rssBytes) / (last[0] - first[0])
    process.stdout.write(
      `memory for an active host, from ${figure(first[0])} to ${figure(last[0])}: ${kilobytes(each)}\n\n`,
    )
  }

  const few = await run(1, IDLE_DELAY_MS, IDLE_SETTLE_SECONDS)
  const many = await run(most, IDLE_DELAY_MS, IDLE_SETTLE_SECONDS)
  process.stdout.write(`hosts that all have to wait for ${IDLE_DELAY_MS / 60_000} minutes\n`)
  printTable(
    ['hosts', 'asked', 'CPU ms a second', 'requests', 'RSS', 'a host'],
    (
      [
        [1, few],
        [most, many],
      ] as const
    ).map(([hosts, run]) => [
      figure(hosts),
      figure(run.hostsAsked),
      figure((1_000 * run.cpuSeconds) / run.seconds),
      run.requests,
      megabytes(run.rssBytes),
      hosts === 1 ? '' : kilobytes((run.rssBytes - few.rssBytes) / (hosts - 1)),
    ]),
  )
} finally {
  await web.stop()
}
