/**
 * One page as a chapter of a larger document: a heading of its own with its source below, its headings further down, its
 * links led to where the pages are in the document. Its blocks stay apart, so that a chapter can be divided.
 */
import type { IndexedPage } from '../page-index.ts'
import { blocksOf, headingText, mapRuns, type Block } from './blocks.ts'
import { withTargets } from './inline.ts'

/** Longer titles are cut: a heading and a line of contents must fit into any part. */
const MAX_TITLE = 160
/** Longer addresses are cut, for the same reason. */
const MAX_SOURCE = 400
const MAX_SLUG = 40
/** The highest heading within a chapter, and the deepest that Markdown has. */
const HIGHEST = 3
const DEEPEST = 6

/** What a link leads to; undefined: it is left as it is. */
export type Lead = (url: string) => string | undefined

/** The name that links within the document lead to, unique by the number of its page. */
export function anchorOf({ id, url }: IndexedPage): string {
  const slug = new URL(url).pathname
    .toLowerCase()
    .replaceAll(/(?:%[0-9a-f]{2}|[^a-z0-9])+/g, '-')
    .slice(0, MAX_SLUG)
    .replaceAll(/^-|-$/g, '')
  return slug === '' ? `p${id}` : `p${id}-${slug}`
}

/** White space, control characters and overrides of the direction of text. */
const UNSEEN = /[\s\p{Cc}\u202a-\u202e\u2066-\u2069]+/gu

/** As text in Markdown, on one line; without the name of the site, where the page's own heading is all the rest. */
export function titleOf({ title, heading, url }: IndexedPage): string {
  const isHeadingEnough = heading !== null && (title === null || isNamedBy(title, heading))
  const line = ((isHeadingEnough ? heading : title) ?? '').replaceAll(UNSEEN, ' ').trim()
  return escapeMarkdown(cut(line === '' ? url : line, MAX_TITLE))
}

function cut(text: string, length: number): string {
  return text.length <= length
    ? text
    : `${text
        .slice(0, length - 1)
        .toWellFormed()
        .replace(/\uFFFD$/, '')}…`
}

function escapeMarkdown(text: string): string {
  return text.replaceAll(/[\\`*_[\]<>#|~]/g, String.raw`\$&`)
}

export function chapterHead(page: IndexedPage, options: { readonly continued: boolean }): string {
  const source = page.url.length <= MAX_SOURCE ? `<${page.url}>` : escapeMarkdown(cut(page.url, MAX_SOURCE))
  if (options.continued) return `## ${titleOf(page)} (continued)\n\nSource: ${source}\n\n`
  return `<a id="${anchorOf(page)}"></a>\n\n## ${titleOf(page)}\n\nSource: ${source}\n\n`
}

/** The blocks of a page below its heading. */
export function chapterBlocks(page: IndexedPage, markdown: string): Block[] {
  const blocks = [...blocksOf(markdown)]
  const [first] = blocks
  // The heading of the page itself is the chapter's: it is not said twice.
  const own = first?.level === undefined ? undefined : plain(headingText(first))
  if (own !== undefined && (own === '' || isNamedBy(page.title ?? page.heading ?? '', own))) blocks.shift()
  const highest = blocks.reduce((least, { level = DEEPEST }) => Math.min(least, level), DEEPEST)
  const shift = Math.max(0, HIGHEST - highest)
  return blocks.map((block) => (block.level === undefined ? block : lowered(block, block.level, shift)))
}

/** Whether a heading is the title, or what is left of it without the name of the site, which often stands beside it. */
function isNamedBy(title: string, heading: string): boolean {
  const wanted = plain(heading)
  const whole = plain(title)
  const isPart = SEPARATORS.some(
    (separator) => whole.startsWith(wanted + separator) || whole.endsWith(separator + wanted),
  )
  return wanted !== '' && (wanted === whole || isPart || whole.split(/ [-–—|·»:] |: /).includes(wanted))
}

/** What stands between the name of a page and that of its site. */
const SEPARATORS = [' - ', ' – ', ' — ', ' | ', ' · ', ' » ', ' : ', ': ']

/** Without the signs of Markdown, and however it is spaced and cased. */
function plain(text: string): string {
  return text
    .replaceAll(/[\\`*_¶]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .toLowerCase()
}

function lowered(block: Block, level: number, shift: number): Block {
  const lower = Math.min(DEEPEST, level + shift)
  return { ...block, level: lower, lines: [`${'#'.repeat(lower)} ${headingText(block)}`] }
}

export function blockText(block: Block, lead: Lead): string {
  return `${mapRuns(block, (text) => withTargets(text, lead))}\n\n`
}
