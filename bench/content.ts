/**
 * What it costs to read a page's content, step by step, beside two baselines in the same run: one pass over its units,
 * and the tokenizer of htmlparser2. All in CPU time, the best of some rounds.
 *
 *   npx node bench/content.ts [FOLDER]
 *
 * The pages are the HTML files of the folder, or else those of a generated site.
 */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Tokenizer } from 'htmlparser2'
import {
  contentHash,
  contentSample,
  countTokens,
  placeOf,
  plainText,
  readContent,
  textFingerprint,
} from '../src/content/index.ts'
import { htmlToMarkdown } from '../src/content/markdown/markdown.ts'
import { generatedSite } from '../test/support/loopback-web.ts'
import { figure, printTable } from './support/table.ts'

const MAX_PAGES = 1_000
const MAX_BYTES = 200_000
const ROUNDS = 12

interface Page {
  readonly html: string
  readonly url: string
  readonly title: string
}

/** Spread over the whole folder. */
function pagesOf(folder: string): Page[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.html?$/.test(file))
    .sort()
  const step = Math.max(1, files.length / MAX_PAGES)
  const chosen = Array.from(
    { length: Math.min(files.length, MAX_PAGES) },
    (_, at) => files[Math.floor(at * step)] ?? '',
  )
  return chosen
    .map((file) => pageOf(`/${file}`, readFileSync(join(folder, file), 'utf8')))
    .filter(({ html }) => html.length <= MAX_BYTES)
}

async function generatedPages(): Promise<Page[]> {
  const site = generatedSite({ pages: MAX_PAGES, linksPerPage: 110, bytesPerPage: 30_000, seed: 1 })
  if (typeof site !== 'function') throw new Error('a generated site is a function')
  const pages: Page[] = []
  for (let number = 1; number < MAX_PAGES; number++) {
    const path = `/docs/${Math.floor(number / 100)}/page-${number}.html`
    const { body } = await site({ method: 'GET', path, headers: {} } as Parameters<typeof site>[0])
    pages.push(pageOf(path, String(body)))
  }
  return pages
}

function pageOf(path: string, html: string): Page {
  return { html, url: `https://docs.example.com${path}`, title: /<title[^>]*>([^<]*)/i.exec(html)?.[1]?.trim() ?? '' }
}

/** What the steps return is added up here, so that none can be left out. */
let seen = 0

function seconds(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1e6
}

function passOver(html: string): number {
  let sum = 0
  for (let at = 0; at < html.length; at++) sum = (sum + html.charCodeAt(at)) | 0
  return sum
}

let tokensOfHtml = 0
const count = (): void => void tokensOfHtml++
const CALLBACKS = {
  onattribdata: count,
  onattribentity: count,
  onattribend: count,
  onattribname: count,
  oncdata: count,
  onclosetag: count,
  oncomment: count,
  ondeclaration: count,
  onend: count,
  onopentagend: count,
  onopentagname: count,
  onprocessinginstruction: count,
  onselfclosingtag: count,
  ontext: count,
  ontextentity: count,
}

function tokenize(html: string): number {
  const tokenizer = new Tokenizer({}, CALLBACKS)
  tokenizer.write(html)
  tokenizer.end()
  return tokensOfHtml
}

const [folder] = process.argv.slice(2)
const pages = folder === undefined ? await generatedPages() : pagesOf(folder)
if (pages.length === 0) throw new Error(`no HTML files in ${folder}`)
const bytes = pages.reduce((sum, { html }) => sum + html.length, 0)
const markdowns = pages.map(({ html, ...context }) => htmlToMarkdown(html, context).markdown)
const texts = pages.map(({ url }, at) => plainText(markdowns[at] as string, placeOf(url)))

const STEPS: readonly (readonly [string, (page: Page, at: number) => number])[] = [
  ['one pass of charCodeAt', ({ html }) => passOver(html)],
  ['htmlparser2 tokenizer', ({ html }) => tokenize(html)],
  ['Markdown', ({ html, ...context }) => htmlToMarkdown(html, context).markdown.length],
  ['plain text', ({ url }, at) => plainText(markdowns[at] as string, placeOf(url)).length],
  ['tokens', (_, at) => countTokens(markdowns[at] as string)],
  ['content hash', (_, at) => contentHash(markdowns[at] as string).length],
  ['SimHash', (_, at) => textFingerprint(texts[at] as string).features],
  ['sample', ({ url, title }, at) => contentSample(texts[at] as string, url, title).whole.length],
  [
    'all of it',
    ({ html, ...context }) => contentSample(readContent(html, context).text, context.url, context.title).whole.length,
  ],
]

const best = STEPS.map(() => Infinity)
for (let round = 0; round < ROUNDS; round++) {
  STEPS.forEach(([, step], at) => {
    const taken = seconds(() => pages.forEach((page, number) => (seen += step(page, number))))
    best[at] = Math.min(best[at] as number, taken)
  })
}
const pass = best[0] as number
process.stdout.write(`${figure(pages.length)} pages of ${figure(bytes / pages.length)} characters\n\n`)
printTable(
  ['step', 'pages/s', 'MB/s', 'µs a page', 'of one pass'],
  STEPS.map(([name], at) => {
    const taken = best[at] as number
    return [
      name,
      figure(pages.length / taken),
      figure(bytes / taken / 1e6),
      figure((1e6 * taken) / pages.length),
      `${figure(taken / pass)} ×`,
    ]
  }),
)
if (!Number.isFinite(seen)) throw new Error('a step returned no number')
