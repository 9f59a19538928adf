/**
 * How fast is HTML read? Our scanner and the whole of `extract`, with links resolved, beside htmlparser2's tokenizer and
 * parse5's tree in the same run, in CPU time. On generated pages of 30 KB with 110 links, or on those of a folder.
 *
 *   npx node bench/html.ts [FOLDER]
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2'
import { parse } from 'parse5'
import { extract } from '../src/parse/index.ts'
import { END, HtmlScanner, OPEN_TAG } from '../src/parse/html/html-scanner.ts'
import { HTML_VOCABULARY } from '../src/parse/html/html-vocabulary.ts'
import { sourceOfBytes } from '../src/parse/html/page-source.ts'
import type { NormalizedUrl } from '../src/model/index.ts'
import { normalizeUrl } from '../src/url/index.ts'
import { generatedSite } from '../test/support/generated-site.ts'
import { figure, printTable } from './support/table.ts'

const PAGES = 300
/** Larger pages are left out: a few would be all that is measured. */
const MAX_PAGE_BYTES = 300_000
/** The first rounds are for the compiler; of the others the best counts, as other programs use the machine. */
const WARM_UP = 5
const ROUNDS = 15

interface Page {
  readonly url: NormalizedUrl
  readonly bytes: Buffer
}

const [folder] = process.argv.slice(2)
const pages = folder === undefined ? generatedPages() : pagesOf(folder)
const bytes = pages.reduce((sum, page) => sum + page.bytes.length, 0)

function generatedPages(): Page[] {
  const site = generatedSite({ pages: 4_000, linksPerPage: 110, bytesPerPage: 30_000, seed: 1 }) as (request: {
    readonly path: string
  }) => { readonly body: Buffer }
  return Array.from({ length: PAGES }, (_, index) => {
    const path = index === 0 ? '/' : `/docs/${Math.floor(index / 100)}/page-${index}.html`
    return { url: `http://127.0.0.1:8080${path}` as NormalizedUrl, bytes: site({ path }).body }
  })
}

function pagesOf(folder: string): Page[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.html?$/.test(file))
    .sort()
  const step = Math.max(1, Math.floor(files.length / PAGES))
  return files.flatMap((file, index) => {
    if (index % step !== 0) return []
    const bytes = readFileSync(join(folder, file))
    const url = normalizeUrl(`https://docs.example/${file}`)
    return url === undefined || bytes.length > MAX_PAGE_BYTES ? [] : [{ url, bytes }]
  })
}

let tags = 0

function scan({ bytes }: Page): void {
  const scanner = new HtmlScanner(sourceOfBytes(bytes, 'utf-8'), HTML_VOCABULARY)
  for (let token = scanner.next(false, false); token !== END; token = scanner.next(false, false)) {
    if (token !== OPEN_TAG) continue
    tags++
    scanner.readAsText()
  }
}

const nothing = (): void => {}
const callbacks: TokenizerCallbacks = {
  onopentagname: () => void tags++,
  onattribdata: nothing,
  onattribend: nothing,
  onattribentity: nothing,
  onattribname: nothing,
  oncdata: nothing,
  onclosetag: nothing,
  oncomment: nothing,
  ondeclaration: nothing,
  onend: nothing,
  onopentagend: nothing,
  onprocessinginstruction: nothing,
  onselfclosingtag: nothing,
  ontext: nothing,
  ontextentity: nothing,
}

function tokenize({ bytes }: Page): void {
  const tokenizer = new Tokenizer({}, callbacks)
  tokenizer.write(bytes.toString())
  tokenizer.end()
}

const readers: readonly (readonly [string, (page: Page) => unknown])[] = [
  ['our scanner', scan],
  [
    'extract, with links resolved',
    ({ url, bytes }) => extract(bytes, { url, contentType: 'text/html; charset=utf-8', productToken: 'tiptoe' }),
  ],
  ["htmlparser2's tokenizer", tokenize],
  ["parse5's tree", ({ bytes }) => parse(bytes.toString())],
]

/** Of CPU time. Readers take turns, so that whatever else the machine does concerns them all. */
const best = readers.map(() => Infinity)
for (let round = 0; round < WARM_UP + ROUNDS; round++) {
  readers.forEach(([, read], index) => {
    const before = process.cpuUsage()
    for (const page of pages) read(page)
    const { user, system } = process.cpuUsage(before)
    if (round >= WARM_UP) best[index] = Math.min(best[index] as number, (user + system) / 1e6)
  })
}
const reference = best[2] as number
process.stdout.write(`${pages.length} pages of ${figure(bytes / pages.length)} bytes\n\n`)
printTable(
  ['reader', 'ms a page', 'MB/s', "of htmlparser2's tokenizer"],
  readers.map(([name], index) => {
    const seconds = best[index] as number
    return [
      name,
      figure((1_000 * seconds) / pages.length),
      figure(bytes / seconds / 1e6),
      `${figure(reference / seconds)} ×`,
    ]
  }),
)
