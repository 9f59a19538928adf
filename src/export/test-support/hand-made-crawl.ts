/** The folder of a crawl that never was: records and Markdown as a crawl would have left them. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { RECORD_SCHEMA, type NormalizedUrl, type PageRecord } from '../../model/index.ts'
import { contentPath } from '../../sink/index.ts'
import { exportSource, type ExportSource } from '../source.ts'

export interface MadePage extends Partial<PageRecord> {
  readonly url: string
  /** Absent: there is none. */
  readonly markdown?: string
}

export function pageRecord({ markdown, ...page }: MadePage): PageRecord {
  return {
    schema: RECORD_SCHEMA,
    change: 'new',
    visit: 1,
    status: 200,
    depth: 0,
    referrer: null,
    via: 'link',
    tier: 'medium',
    fetchedAt: '2026-01-02T03:04:05.678Z',
    answerMs: 10,
    durationMs: 20,
    bytes: 100,
    contentType: 'text/html',
    charset: 'UTF-8',
    title: null,
    description: null,
    lang: null,
    canonical: null,
    headings: [],
    robots: { index: true, follow: true },
    contentHash: 'sha256:00',
    simhash: null,
    tokens: 10,
    links: 0,
    ...(markdown === undefined ? {} : { markdownPath: `content/${contentPath(page.url as NormalizedUrl, 'md')}` }),
    attempts: 1,
    render: 'http',
    ...page,
  }
}

/** `beyond` is written behind the committed end of the records. */
export function makeCrawl(
  folder: string,
  pages: readonly MadePage[],
  more: { readonly revisits?: readonly object[]; readonly beyond?: string } = {},
): ExportSource {
  mkdirSync(folder, { recursive: true })
  for (const page of pages) {
    if (page.markdown === undefined) continue
    const path = join(folder, 'content', contentPath(page.url as NormalizedUrl, 'md'))
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, `---\nurl: ${JSON.stringify(page.url)}\n---\n\n${page.markdown}`)
  }
  const output: Record<string, number> = {}
  const write = (name: string, records: readonly object[]): void => {
    const text = records.map((record) => `${JSON.stringify(record)}\n`).join('')
    output[name] = Buffer.byteLength(text)
    writeFileSync(join(folder, name), text + (more.beyond ?? ''))
  }
  write('pages.jsonl', pages.map(pageRecord))
  write('revisits.jsonl', more.revisits ?? [])
  return exportSource({
    folders: [{ path: folder, output }],
    seeds: pages.slice(0, 1).map(({ url }) => url as NormalizedUrl),
  })
}
