/**
 * Blocks that are nothing but links, found by their structure: the page's own table of contents, which its headings
 * say again, and a site's menu above the content. Names help little here, since every theme has its own.
 */
import type { Attributes } from './attributes.ts'
import type { Conversion } from './conversion.ts'
import { idsOf } from './elements.ts'
import { isNamedContents } from './furniture.ts'
import { PLAIN } from './open-levels.ts'
import { END, START, STRIDE, elementBeginning, otherAttributesOf, partnerOf } from './outline.ts'

const MIN_LINKS = 3
/** Letters outside links: in one piece, which is a label such as `Contents`, and in all, with a little for each link. */
const MAX_LABEL = 16
const MAX_OUTSIDE = 40
const MAX_SHARE_OUTSIDE = 0.25
/** What a menu's links are long at most, on average, in characters. */
const MAX_MENU_LINK = 25
/** A block with more tags is the page; and no more are looked at for all blocks of a page. */
const MAX_TAGS = 20_000
const MAX_TAGS_OF_PAGE = 200_000
/** A longer run between two tags is text, whatever it says. */
const MAX_GAP = 2000
const HEADINGS = idsOf('h1', 'h2', 'h3', 'h4', 'h5', 'h6')
const WORD = /[\p{L}\p{N}]/gu

/** Whether a block serves the way about the page or the site. */
export function isLinkBlock(conversion: Conversion, event: number, attributes: Attributes): boolean {
  const { options, levels, outline } = conversion
  if (options.keepFurniture) return false
  const isNamed = isNamedContents(attributes)
  if (!isNamed && (levels.indent > 0 || levels.innermostList !== PLAIN)) return false
  let mayBeContents = isNamed || event < conversion.firstSection
  const mayBeMenu = options.isGuess && event < conversion.firstHeading
  if (!mayBeContents && !mayBeMenu) return false
  const last = partnerOf(outline, event)
  if (last - event > MAX_TAGS) return false
  let links = 0
  let own = 0
  let inLinks = 0
  let outside = 0
  let headings = 0
  let linkEnd = -1
  for (let at = event; at < last; at++) {
    if (++conversion.judged > MAX_TAGS_OF_PAGE) return false
    const { id, name } = elementBeginning(outline, at)
    if (name === 'pre' || name === 'h1' || (HEADINGS.has(id) && ++headings > 1)) return false
    if (name === 'table' || name === 'img') mayBeContents = false
    if (name === 'a') {
      const { href } = otherAttributesOf(outline, at)
      if (href !== undefined) {
        links++
        linkEnd = partnerOf(outline, at)
        if (options.links.isOwnPlace(href.trim())) own++
        else if (!mayBeMenu) return false
      }
    }
    const words = lettersBehind(conversion, at)
    if (at < linkEnd) inLinks += words
    else if (words > MAX_LABEL) return false
    else outside += words
    if (outside > MAX_OUTSIDE + MAX_SHARE_OUTSIDE * inLinks) return false
  }
  if (links < (isNamed ? 1 : MIN_LINKS)) return false
  if (own === links && mayBeContents) return true
  return mayBeMenu && inLinks / links <= MAX_MENU_LINK
}

/** How many letters and digits stand between a tag and the next. */
function lettersBehind({ outline: { page, tape } }: Conversion, event: number): number {
  const from = tape[event * STRIDE + END] as number
  const to = tape[(event + 1) * STRIDE + START] as number
  if (to - from > MAX_GAP) return to - from
  let letters = 0
  for (let at = from; at < to; at++) {
    const unit = page.units[at] as number
    if (unit > 127) return page.html.slice(from, to).match(WORD)?.length ?? 0
    const lower = unit | 32
    if ((lower >= 97 && lower <= 122) || (unit >= 48 && unit <= 57)) letters++
  }
  return letters
}
