/**
 * A site of any size that is nowhere stored: each page is made from its number and the seed whenever it is asked
 * for, so a million pages cost no memory and two runs see the same bytes.
 *
 * Page k is the parent of the pages k·b+1 … k·b+b, so that all are reachable from `/` and every page is new to
 * exactly one other: as on real sites, nearly all links of a page lead to pages that are known already.
 */
import type { Answer, HostBehaviour } from '../../src/cli/demo/loopback-web.ts'
import { createRng, type Rng } from '../../src/base/index.ts'

export interface GeneratedSiteOptions {
  readonly pages: number
  /** Distinct links on each page, 1 or more, as long as there are so many pages. 1 makes the site one long chain. */
  readonly linksPerPage: number
  /** About how long a page is; it is filled up with sentences. 6,000 unless given. */
  readonly bytesPerPage?: number
  readonly seed: number
}

const BYTES_PER_PAGE = 6_000
/** The widest that the tree of pages branches. */
const BRANCHING = 10
/** Sentences to choose from: enough that two pages share few. */
const SENTENCES = 1_024
const SENTENCES_PER_PARAGRAPH = 5

const WORDS = (
  'archive batch bridge buffer cache carriage channel clock cluster column copper corner counter crawl delay depth ' +
  'desk door engine entry evening field filter frame garden gate harbour hour index island journal kettle ladder ' +
  'lantern lease ledger letter library limit link lock machine margin market meadow memory minute mirror module ' +
  'morning needle network notebook number office orchard order outcome packet page paper path pattern pause pencil ' +
  'pipe pocket policy port process queue quiet rail record region reply request river road robot round route rule ' +
  'sample scale schedule scope script season sentence server shelf signal silver slot socket station store stream ' +
  'summer switch table task teacup thread ticket timer token tower track train transfer value valley vessel village ' +
  'visit waiter walk warning water weather window winter wire worker yard'
).split(' ')
const VERBS =
  'answers carries closes counts follows guards holds keeps leaves meets moves names opens passes reads'.split(' ')

export function generatedSite(options: GeneratedSiteOptions): HostBehaviour {
  const { pages } = options
  const seed = options.seed >>> 0
  const linksPerPage = Math.min(Math.max(options.linksPerPage, 1), pages)
  const bytesPerPage = options.bytesPerPage ?? BYTES_PER_PAGE
  const branching = Math.max(1, Math.min(BRANCHING, linksPerPage >> 1))
  const sentences = makeSentences(seed)

  const page = (number: number): Answer => {
    const rng = rngOf(seed, number)
    const links = linksOf(number, pages, linksPerPage, branching, rng)
    const name = titleOf(seed, number)
    const first = sentences[rng.int(SENTENCES)] as string
    let html =
      `<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>${name} · Page ${number}</title>\n` +
      `<meta name="description" content="${first}">\n<link rel="canonical" href="${pathOf(number)}">\n` +
      '<link rel="stylesheet" href="/style.css">\n</head>\n<body>\n<header>\n<nav><ul>\n'
    const inNav = Math.min(links.length, branching + 2)
    for (let i = 0; i < inNav; i++) html += linkItem(seed, links[i] as number)
    html +=
      `</ul></nav>\n</header>\n<main>\n<article>\n<h1>${name}</h1>\n<p>${first}</p>\n` +
      `<h2>Example ${number % 97}</h2>\n<pre><code class="language-ts">const page = await open(${number})\n` +
      `if (page.size &gt; ${rng.int(10_000)}) page.${VERBS[number % VERBS.length]}('${pathOf(number)}')\n</code></pre>\n` +
      '<table>\n<thead><tr><th>Name</th><th>Value</th><th>Unit</th></tr></thead>\n<tbody>\n'
    for (let row = 0; row < 4; row++) {
      html += `<tr><td>${WORDS[rng.int(WORDS.length)]}</td><td>${rng.int(1000)}</td><td>ms</td></tr>\n`
    }
    html += '</tbody>\n</table>\n'
    let rest = '</article>\n<aside><h2>See also</h2><ul>\n'
    for (let i = inNav; i < links.length; i++) rest += linkItem(seed, links[i] as number)
    rest += '</ul></aside>\n</main>\n</body>\n</html>\n'
    const fillTo = bytesPerPage - rest.length
    while (html.length < fillTo) {
      html += '<p>'
      for (let i = 0; i < SENTENCES_PER_PARAGRAPH && html.length < fillTo; i++) {
        html += `${sentences[rng.int(SENTENCES)] as string} `
      }
      html += '</p>\n'
    }
    // All of it is ASCII, so one byte a character is UTF-8 as well, and quicker to make.
    return { headers: HTML, body: Buffer.from(html + rest, 'latin1') }
  }

  return ({ path }) => {
    if (path === '/robots.txt') return { body: 'User-agent: *\nDisallow: /admin/\n' }
    const number = numberOf(path)
    return number === undefined || number >= pages ? NOT_FOUND : page(number)
  }
}

const HTML = { 'content-type': 'text/html; charset=utf-8' }
const NOT_FOUND: Answer = { status: 404, headers: HTML, body: '<!doctype html><title>Not found</title>' }

/** Pages lie a hundred to a folder. */
function pathOf(number: number): string {
  return number === 0 ? '/' : `/docs/${Math.floor(number / 100)}/page-${number}.html`
}

function numberOf(path: string): number | undefined {
  if (path === '/') return 0
  const start = path.lastIndexOf('-') + 1
  const number = Number(path.slice(start, path.length - '.html'.length))
  return Number.isSafeInteger(number) && number > 0 && pathOf(number) === path ? number : undefined
}

/** The children first, for every page must be reachable; then home, parent, neighbours and pages anywhere. */
function linksOf(number: number, pages: number, linksPerPage: number, branching: number, rng: Rng): readonly number[] {
  const links: number[] = []
  const add = (target: number): void => {
    if (links.length < linksPerPage && target >= 0 && target < pages && !links.includes(target)) links.push(target)
  }
  for (let child = number * branching + 1; child <= number * branching + branching; child++) add(child)
  add(0)
  add(Math.floor((number - 1) / branching))
  add(number - 1)
  add(number + 1)
  while (links.length < linksPerPage) {
    let target = rng.int(pages)
    while (links.includes(target)) target = (target + 1) % pages
    links.push(target)
  }
  return links
}

function linkItem(seed: number, target: number): string {
  return `<li><a href="${pathOf(target)}">${titleOf(seed, target)}</a></li>\n`
}

function titleOf(seed: number, number: number): string {
  const noun = WORDS[(number + seed) % WORDS.length] as string
  const verb = VERBS[(number >> 3) % VERBS.length] as string
  return `The ${noun} ${verb} ${WORDS[(number * 7 + 3) % WORDS.length] as string}`
}

function makeSentences(seed: number): readonly string[] {
  const rng = createRng(seed)
  const word = (): string => WORDS[rng.int(WORDS.length)] as string
  return Array.from({ length: SENTENCES }, () => {
    const verb = VERBS[rng.int(VERBS.length)] as string
    return `The ${word()} of the ${word()} ${verb} every ${word()}, and the ${word()} waits for a ${word()} ${word()}.`
  })
}

/** Randomness that depends on the seed and the page alone. */
function rngOf(seed: number, number: number): Rng {
  return createRng(Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(number + 1, 0xc2b2ae35))
}
