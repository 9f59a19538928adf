/**
 * From a page to the Markdown of its main content: outline, choose, clean, convert, tidy. A page is never lost to a
 * rule: where what was chosen holds next to nothing and the page holds more, the page is read as a whole, and at last
 * with its furniture.
 */
import { cleanHtml } from './clean-html.ts'
import { loadConverter } from './converter.ts'
import { createLinkResolver } from './links.ts'
import { findMainRegion, headingBefore, textOf, wholePage } from './main-region.ts'
import { outlinePage } from './outliner.ts'
import { tidyMarkdown } from './tidy.ts'

/** Markdown shorter than this is looked at twice when the page has NEARLY_ALL_LOST times as much text. */
const SUSPICIOUSLY_SHORT = 150
/** Shorter still, and even navigation is better; a short page with a long menu is above it. */
const NEXT_TO_NOTHING = 40
const NEARLY_ALL_LOST = 3

export function htmlToMarkdown(html: string, context: { url: string; title: string | null }): string {
  const outline = outlinePage(html.includes('\r') ? html.replace(/\r\n?/g, '\n') : html)
  const links = createLinkResolver(context.url, outline.base)
  const convert = loadConverter()
  const page = wholePage(outline)
  const main = findMainRegion(outline)

  const isPage = main.from === page.from && main.to === page.to
  let clean = cleanHtml(outline, main, { links, keepFurniture: false, wholePage: isPage })
  if (!isPage && !clean.includes('<h1>') && context.title !== null) {
    const heading = headingBefore(outline, main)
    const title = heading && cleanHtml(outline, heading, { links, keepFurniture: false, wholePage: false })
    // A first-level heading above the content may be the site's name; the page's own is part of its title.
    if (title !== undefined && context.title.includes(title.replace(/<[^>]*>/g, '').trim())) clean = title + clean
  }
  let markdown = tidyMarkdown(convert(clean))
  if (markdown.length < SUSPICIOUSLY_SHORT && !isPage && textOf(outline, page) > NEARLY_ALL_LOST * markdown.length) {
    const whole = cleanHtml(outline, page, { links, keepFurniture: false, wholePage: true })
    markdown = longer(markdown, tidyMarkdown(convert(whole)))
  }
  if (markdown.length < NEXT_TO_NOTHING && outline.text > NEARLY_ALL_LOST * markdown.length) {
    const everything = cleanHtml(outline, page, { links, keepFurniture: true, wholePage: true })
    markdown = longer(markdown, tidyMarkdown(convert(everything)))
  }
  return markdown
}

function longer(first: string, second: string): string {
  return second.length > NEARLY_ALL_LOST * first.length ? second : first
}
