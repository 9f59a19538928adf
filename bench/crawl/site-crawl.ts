/** One crawl of the generated site after another, each in a process and a folder of its own. */
import { createReadStream, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { crawlWords, LAUNCHER, runScript, type Usage } from '../support/child.ts'
import { startSite } from '../support/site.ts'

/** As measured on documentation sites. */
export const LINKS_PER_PAGE = 110
export const BYTES_PER_PAGE = 30_000

/** Options of Node for a crawl of which single modules matter. */
export const FROM_SOURCES: readonly string[] = ['--import', new URL('./from-sources.ts', import.meta.url).href]

export interface CrawlKind {
  readonly formats: readonly string[]
  /** Flags beyond those that every crawl of the site has. */
  readonly words?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Options of Node. */
  readonly node?: readonly string[]
}

export interface SiteCrawls {
  /** Rejects when not every page was saved. */
  crawl(kind: CrawlKind): Promise<Usage>
  /** Those that the last crawl has saved. */
  savedUrls(): Promise<string[]>
  /** For whatever else has to be kept meanwhile. */
  readonly folder: string
  close(): void
}

export async function openSiteCrawls(pages: number): Promise<SiteCrawls> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-crawl-'))
  const site = await startSite({ pages, linksPerPage: LINKS_PER_PAGE, bytesPerPage: BYTES_PER_PAGE, seed: 1 })
  // Each crawl has a folder of its own, and all are removed at the end: some file systems take far longer to create files
  // for minutes after many were removed.
  let crawls = 0
  let out = ''
  const lines = (): AsyncIterable<string> => createInterface(createReadStream(join(out, 'pages.jsonl')))
  return {
    folder,
    async crawl({ formats, words = [], env = {}, node = [] }) {
      out = join(folder, `crawl-${++crawls}`)
      const usage = await runScript(LAUNCHER, [...crawlWords(site.port, out, formats.join(',')), ...words], {
        node,
        env,
      })
      let saved = 0
      for await (const _ of lines()) saved += 1
      if (saved !== pages) throw new Error(`${saved} of ${pages} pages were saved`)
      return usage
    },
    async savedUrls() {
      const urls: string[] = []
      for await (const line of lines()) urls.push((JSON.parse(line) as { url: string }).url)
      return urls
    },
    close() {
      site.stop()
      rmSync(folder, { recursive: true })
    },
  }
}
