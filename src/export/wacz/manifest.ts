/** What a WACZ file says of itself: its list of pages, its manifest, and the digest of that. */
import { createHash } from 'node:crypto'
import { VERSION } from '../../base/index.ts'
import type { PageIndex } from '../page-index.ts'
import type { ExportSource } from '../source.ts'

const WACZ_VERSION = '1.1.1'
const SEEDS_NAMED = 3

export interface Resource {
  readonly name: string
  readonly path: string
  readonly hash: string
  readonly bytes: number
}

/** One line of JSON for each page that the archive has an answer for, below a line that says what they are. */
export function* pageLines(index: PageIndex): Generator<string> {
  yield `${JSON.stringify({ format: 'json-pages-1.0', id: 'pages', title: 'All Pages' })}\n`
  for (const { record } of index.records({ archivedOnly: true })) {
    const { url, title, fetchedAt, status, depth, bytes } = record
    const page = {
      id: createHash('sha256').update(url).digest('hex').slice(0, 20),
      url,
      ts: fetchedAt,
      ...(title === null ? {} : { title }),
      status,
      depth,
      size: bytes,
    }
    yield `${JSON.stringify(page)}\n`
  }
}

/** `datapackage.json`. */
export function manifestOf(
  source: ExportSource,
  index: PageIndex,
  resources: readonly Resource[],
  createdAt: number,
): string {
  const main = mainPage(source, index)
  const title = main === undefined ? source.name : (main.title ?? main.url)
  const manifest = {
    profile: 'data-package',
    resources,
    wacz_version: WACZ_VERSION,
    title,
    description: `${index.count} pages, from ${source.seeds.slice(0, SEEDS_NAMED).join(', ')}`,
    software: `tiptoe ${VERSION}`,
    created: new Date(createdAt).toISOString().replace(/\.\d+Z$/, 'Z'),
    ...(main === undefined ? {} : { mainPageUrl: main.url, mainPageDate: main.ts }),
  }
  return `${JSON.stringify(manifest, null, 2)}\n`
}

/** The first seed that is a page of the archive, else its first page. */
function mainPage(
  { seeds }: ExportSource,
  index: PageIndex,
): { url: string; title: string | null; ts: string } | undefined {
  const told = (record: { url: string; title: string | null; fetchedAt: string }) => ({
    url: record.url,
    title: record.title,
    ts: record.fetchedAt,
  })
  for (const seed of seeds.slice(0, SEEDS_TRIED)) {
    const page = index.find(seed)
    if (page !== undefined && index.isArchived(page)) return told(index.recordOf(page))
  }
  for (const { record } of index.records({ archivedOnly: true })) return told(record)
  return undefined
}

/** The first seeds may have been redirects. */
const SEEDS_TRIED = 100

/** `datapackage-digest.json`. */
export function manifestDigest(manifest: Uint8Array): string {
  const hash = `sha256:${createHash('sha256').update(manifest).digest('hex')}`
  return `${JSON.stringify({ path: 'datapackage.json', hash }, null, 2)}\n`
}
