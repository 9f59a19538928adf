/**
 * Is memory bounded by configuration, or does it grow with the crawl? A site of many small pages is crawled, and the
 * crawler's resident memory is read from outside as it goes on.
 *
 *   npx node bench/memory.ts [pages]
 */
import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { crawlWords, LAUNCHER, runScript } from './support/child.ts'
import { startSite } from './support/site.ts'
import { figure, megabytes, printTable } from './support/table.ts'

const SAMPLE_MS = 200
const PAGE_BYTES = 4_096
/** What is read at a mark is the highest of the samples around it: garbage comes and goes. */
const AROUND = 0.05

const [pages = 100_000] = process.argv.slice(2).map(Number)
const marks = [10_000, 20_000, 50_000, 100_000, 200_000, 500_000].filter((mark) => mark < pages)
const folder = mkdtempSync(join(tmpdir(), 'bench-memory-'))
const site = await startSite({ pages, linksPerPage: 30, bytesPerPage: 4_000, seed: 1 })
const samples: { readonly pages: number; readonly bytes: number; readonly at: number }[] = []

async function sample(pid: number, isOver: () => boolean): Promise<void> {
  const started = performance.now()
  while (!isOver()) {
    await sleep(SAMPLE_MS)
    const fetched = await site.requests()
    try {
      const resident = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1])
      if (resident > 0) {
        samples.push({ pages: fetched, bytes: resident * PAGE_BYTES, at: (performance.now() - started) / 1_000 })
      }
    } catch {
      return
    }
  }
}

function diskBytes(path: string): number {
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .map((name) => lstatSync(join(path, name)))
    .reduce((sum, entry) => sum + (entry.isFile() ? entry.blocks * 512 : 0), 0)
}

try {
  let over = false
  let sampling: Promise<void> = Promise.resolve()
  const out = join(folder, 'crawl')
  const usage = await runScript(LAUNCHER, crawlWords(site.port, out, 'jsonl'), {
    watch(child) {
      if (child.pid !== undefined) sampling = sample(child.pid, () => over)
    },
  })
  over = true
  await sampling
  printTable(
    ['pages', 'RSS', 'seconds'],
    [...marks, pages].map((mark) => {
      const near = samples.filter((item) => Math.abs(item.pages - mark) <= mark * AROUND)
      const first = samples.find((item) => item.pages >= mark) ?? samples.at(-1)
      return [figure(mark), megabytes(Math.max(...near.map(({ bytes }) => bytes))), figure(first?.at ?? usage.seconds)]
    }),
  )
  process.stdout.write(
    `peak RSS ${megabytes(usage.peakBytes)} · ${figure(pages / usage.seconds)} pages/s · ` +
      `${figure((1_000 * usage.cpuSeconds) / pages)} CPU s per 1,000 pages · ` +
      `${figure(diskBytes(join(out, 'state')) / pages)} bytes of state per page\n`,
  )
} finally {
  site.stop()
  rmSync(folder, { recursive: true })
}
