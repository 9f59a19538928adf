/** What the crawler costs beyond fetching: a bare loop and crawls of several kinds in turn, then one more with a profile. */
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { printProfile } from '../profile.ts'
import { runScript, type Usage } from '../support/child.ts'
import { figure, megabytes, printTable } from '../support/table.ts'
import { BYTES_PER_PAGE, FROM_SOURCES, LINKS_PER_PAGE, type CrawlKind, type SiteCrawls } from './site-crawl.ts'

const CONCURRENCY = '20'
const BARE = 'bare undici loop'
const EVERYTHING: CrawlKind = { formats: ['jsonl', 'markdown'] }

export async function compareWithBareLoop(
  site: SiteCrawls,
  { pages, repetitions, words }: { pages: number; repetitions: number; words: readonly string[] },
): Promise<void> {
  const crawl = (kind: CrawlKind): Promise<Usage> => site.crawl({ ...kind, words: [...(kind.words ?? []), ...words] })
  // The first crawl warms the site up, and says which URLs the bare loop is to fetch.
  await crawl({ formats: ['jsonl'] })
  const list = join(site.folder, 'urls')
  writeFileSync(list, (await site.savedUrls()).join('\n'))

  const contestants = new Map<string, () => Promise<Usage>>([
    [BARE, () => runScript('bench/support/bare-fetch.ts', [list, CONCURRENCY])],
    ['tiptoe, links only', () => crawl({ formats: ['jsonl'], words: ['--no-content'] })],
    ['tiptoe, jsonl', () => crawl({ formats: ['jsonl'] })],
    ['tiptoe, jsonl and markdown', () => crawl(EVERYTHING)],
  ])
  const runs = new Map<string, Usage[]>([...contestants.keys()].map((name) => [name, []]))
  for (let repetition = 0; repetition < repetitions; repetition++) {
    for (const [name, run] of contestants) runs.get(name)?.push(await run())
  }

  const best = (name: string, read: (usage: Usage) => number): number => Math.min(...(runs.get(name) ?? []).map(read))
  const bare = { seconds: best(BARE, (usage) => usage.seconds), cpu: best(BARE, (usage) => usage.cpuSeconds) }
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

  const profiles = join(site.folder, 'profiles')
  await crawl({ ...EVERYTHING, node: [...FROM_SOURCES, '--cpu-prof', '--cpu-prof-dir', profiles] })
  for (const name of readdirSync(profiles)) printProfile(join(profiles, name))
}
