/**
 * From a page to the Markdown of its main content: outline, choose, write. A page is never lost to a rule: where what
 * was chosen holds next to nothing and the page holds more, the page is read as a whole, and at last with its furniture.
 */
import type { Heading, LimitName } from '../../model/index.ts'
import type { ConversionOptions } from './conversion.ts'
import { createLinkResolver } from './links.ts'
import { findMainRegion, headBefore, headingBefore, isDeclared, textOf, wholePage, type Region } from './main-region.ts'
import { MarkdownWriter } from './markdown-writer.ts'
import { wordsOf, type Outline } from './outline.ts'
import { outlinePage } from './outliner.ts'
import { writeRegion } from './region-writer.ts'

/** Markdown shorter than this is looked at twice when the page has NEARLY_ALL_LOST times as much text. */
const SUSPICIOUSLY_SHORT = 150
/** Shorter still, and even navigation is better; a short page with a long menu is above it. */
const NEXT_TO_NOTHING = 40
const NEARLY_ALL_LOST = 3

/** A shorter title begins too many headings. */
const MIN_TITLE_LENGTH = 4

export interface PageMarkdown {
  readonly markdown: string
  /** The headings in it, in order. */
  readonly headings: readonly Heading[]
  /** The limits that cut something off: `nesting`, `tags`, `markdown-size`. */
  readonly limits: readonly LimitName[]
}

export function htmlToMarkdown(html: string, context: { url: string; title: string | null }): PageMarkdown {
  const outline = outlinePage(withPlainSpace(html))
  const links = createLinkResolver(context.url, outline.base)
  const page = wholePage(outline)
  const main = findMainRegion(outline)

  const isPage = main.from === page.from && main.to === page.to
  const title = isPage || context.title === null ? undefined : titleBefore(outline, main, context.title)
  const regions = title === undefined ? [main] : [title, main]
  let best = write(outline, regions, {
    links,
    keepFurniture: false,
    wholePage: isPage,
    isGuess: !isDeclared(outline, main),
  })
  if (isShort(best, SUSPICIOUSLY_SHORT, textOf(outline, page)) && !isPage) {
    best = longer(best, write(outline, [page], { links, keepFurniture: false, wholePage: true, isGuess: true }))
  }
  if (isShort(best, NEXT_TO_NOTHING, outline.text)) {
    best = longer(best, write(outline, [page], { links, keepFurniture: true, wholePage: true, isGuess: true }))
  }
  return best
}

/** One kind of line end, and spaces for those that do not break: they are for the eye, and part words like others. */
function withPlainSpace(html: string): string {
  const text = html.includes('\r') ? html.replace(/\r\n?/g, '\n') : html
  return text.includes('&nbsp;') || text.includes('&#160;') ? text.replace(/&nbsp;|&#160;/g, ' ') : text
}

function write(outline: Outline, regions: readonly Region[], options: ConversionOptions): PageMarkdown {
  const writer = new MarkdownWriter(outline.page)
  for (const region of regions) writeRegion(outline, region, options, writer)
  const { markdown, headings } = writer.finish()
  return { markdown, headings, limits: writer.isFull ? [...outline.limits, 'markdown-size'] : outline.limits }
}

/** A first-level heading above the content may be the site's name; the page's own has the words of its title. */
function titleBefore(outline: Outline, region: Region, title: string): Region | undefined {
  const heading = headingBefore(outline, region)
  if (heading === undefined) return undefined
  const words = lettersOf(wordsOf(outline, heading.from))
  const wanted = lettersOf(title)
  const isOwn = wanted.includes(words) || (wanted.length >= MIN_TITLE_LENGTH && words.startsWith(wanted))
  return isOwn ? headBefore(outline, region, heading) : undefined
}

/** Titles and headings differ in dashes and spaces. */
function lettersOf(text: string): string {
  return text.replace(/[^\p{L}\p{N}]+/gu, '')
}

function isShort({ markdown }: PageMarkdown, length: number, text: number): boolean {
  return markdown.length < length && text > NEARLY_ALL_LOST * markdown.length
}

function longer(first: PageMarkdown, second: PageMarkdown): PageMarkdown {
  return second.markdown.length > NEARLY_ALL_LOST * first.markdown.length ? second : first
}
