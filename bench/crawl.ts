/**
 * How much does the crawler cost beyond fetching? A generated site of pages like those of real documentation is
 * fetched by a bare loop and crawled by `tiptoe`, in turns, each in a process of its own. Then one more crawl is
 * profiled.
 *
 *   npx node bench/crawl.ts [pages] [repetitions]
 *
 * CPU seconds per 1,000 pages are what to compare: with server and crawler on two cores, pages per second also tell
 * of the server and of whoever else uses the machine.
 */
import { createReadStream, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { printProfile } from './profile.ts'
import { crawlWords, LAUNCHER, runScript, type Usage } from './support/child.ts'
import { startSite } from './support/site.ts'
import { figure, megabytes, printTable } from './support/table.ts'

const CONCURRENCY = '20'
/** As measured on documentation sites. */
const LINKS_PER_PAGE = 110
const BYTES_PER_PAGE = 30_000

const [pages = 4_000, repetitions = 3] = process.argv.slice(2).map(Number)
const folder = mkdtempSync(join(tmpdir(), 'bench-crawl-'))
const site = await startSite({ pages, linksPerPage: LINKS_PER_PAGE, bytesPerPage: BYTES_PER_PAGE, seed: 1 })

async function crawl(format: string, node: readonly string[] = []): Promise<Usage> {
  const out = join(folder, 'crawl')
  rmSync(out, { recursive: true, force: true })
  return runScript(LAUNCHER, crawlWords(site.port, out, format), { node })
}

/** The URLs that a crawl has saved. */
async function savedUrls(): Promise<string[]> {
  const urls: string[] = []
  for await (const line of createInterface(createReadStream(join(folder, 'crawl/pages.jsonl')))) {
    urls.push((JSON.parse(line) as { url: string }).url)
  }
  return urls
}

try {
  // The first crawl warms the site up, and says which URLs the bare loop is to fetch.
  await crawl('jsonl')
  const urls = await savedUrls()
  if (urls.length !== pages) throw new Error(`${urls.length} of ${pages} pages were saved`)
  const list = join(folder, 'urls')
  writeFileSync(list, urls.join('\n'))

  const contestants = new Map<string, () => Promise<Usage>>([
    ['bare undici loop', () => runScript('bench/support/bare-fetch.ts', [list, CONCURRENCY])],
    ['tiptoe, jsonl', () => crawl('jsonl')],
    ['tiptoe, jsonl and markdown', () => crawl('jsonl,markdown')],
  ])
  const runs = new Map<string, Usage[]>([...contestants.keys()].map((name) => [name, []]))
  for (let repetition = 0; repetition < repetitions; repetition++) {
    for (const [name, run] of contestants) runs.get(name)?.push(await run())
  }

  const best = (name: string, read: (usage: Usage) => number): number => Math.min(...(runs.get(name) ?? []).map(read))
  const bare = {
    seconds: best('bare undici loop', (u) => u.seconds),
    cpu: best('bare undici loop', (u) => u.cpuSeconds),
  }
  process.stdout.write(
    `${pages} pages of ${BYTES_PER_PAGE} bytes and ${LINKS_PER_PAGE} links, best of ${repetitions}\n`,
  )
  printTable(
    ['what', 'pages/s', 'of bare', 'CPU s per 1,000 pages', 'of bare', 'peak RSS'],
    [...contestants.keys()].map((name) => {
      const seconds = best(name, (usage) => usage.seconds)
      const cpu = best(name, (usage) => usage.cpuSeconds)
      return [
        name,
        figure(pages / seconds),
        `${figure((100 * bare.seconds) / seconds)} %`,
        figure((1_000 * cpu) / pages),
        `${figure(cpu / bare.cpu)} ×`,
        megabytes(best(name, (usage) => usage.peakBytes)),
      ]
    }),
  )

  const profiles = join(folder, 'profiles')
  await crawl('jsonl,markdown', ['--cpu-prof', '--cpu-prof-dir', profiles])
  for (const name of readdirSync(profiles)) printProfile(join(profiles, name))
} finally {
  site.stop()
  rmSync(folder, { recursive: true })
}
