/**
 * Links and images, with absolute addresses. Links that serve the page instead of its reader are left out: marks
 * beside headings, links to editors and bug trackers. An address that is not fit to link to leaves the words alone.
 */
import { decodeReferences } from '../../base/index.ts'
import { codeUnitsOf } from '../text/code-units.ts'
import { isSpace } from './attributes.ts'
import type { Conversion, Rule, Rules } from './conversion.ts'
import { TOOL_INITIALS, hasJunkClass, isEmoji, isToolLink } from './furniture.ts'
import { markdownTarget } from './links.ts'
import { CELL, CODE, HEADING, LINK, PRE } from './open-levels.ts'
import { END, PARTNER, START, STRIDE, TEXT, attributesOf, textIn, wordsOf, type Outline } from './outline.ts'
import { escapeProse } from './prose.ts'

/** A link with more text than this is no mark or tool. */
const MAX_LINK_TEXT = 40
const MAX_ALT_LENGTH = 1000
const SPACE = 32
/** Signs that themes set beside a heading to link to it, and the private ones of icon fonts. */
const HEADING_MARK = /^(?:[#¶§⚓🔗↑↩^∞]|\p{Co})\ufe0e?\ufe0f?$/u
/** What an image says that only points the way, or to its owner. */
const POINTER = /^(?:[<>«»‹›←→↑↓⇐⇒▲▼◀▶^-]{1,3}|top|up|home|prev(?:ious)?|next|back|(?:.{0,40} )?logo)$/i

const beginLink: Rule = (conversion, event, attributes) => {
  const { options, writer, levels } = conversion
  const { href } = attributes
  if (!options.keepFurniture && hasJunkClass(attributes)) return false
  if (href !== undefined && isService(conversion, event, href)) return false
  // A heading is no link to itself, and the way back from a note is for the note's number.
  const target =
    href === undefined ||
    levels.has(LINK) ||
    (levels.has(HEADING) && href.startsWith('#')) ||
    attributes.role === 'doc-backlink'
      ? undefined
      : options.links.resolve(href.trim())
  if (target !== undefined && !levels.has(CODE)) writer.openLink(target)
  else {
    if (target !== undefined) writer.linkCode(target)
    writer.openPlain()
  }
  return true
}

export const LINK_RULES: Rules = { a: beginLink }

export function writeImage({ outline, options, writer, levels }: Conversion, event: number): void {
  if (levels.has(PRE) || levels.has(CODE)) return
  const attributes = attributesOf(outline, event)
  if (attributes.width === '1' || attributes.width === '0') return
  const words = decodeReferences((attributes.alt ?? '').slice(0, MAX_ALT_LENGTH), true).trim()
  const alt = escapeProse({ html: words, units: codeUnitsOf(words) }, 0, words.length, true, true, SPACE)
  if (isEmoji(attributes)) {
    if (alt !== '') writer.writeMarkup(alt)
    return
  }
  // An empty alternative says that the image is an ornament (HTML §4.8.4.4.6).
  if (!options.keepFurniture && (attributes.alt === '' || POINTER.test(words))) return
  const source = [attributes.src, attributes['data-src']].find(
    (value) => value !== undefined && !/^\s*data:/i.test(value),
  )
  const target = source === undefined || source.trim() === '' ? undefined : options.links.resolve(source.trim())
  if (target !== undefined) writer.writeMarkup(`![${alt}](${markdownTarget(target, levels.has(CELL))})`)
}

/** Whether a link is there for its place or for the page's makers, not for its words. */
function isService({ outline, options }: Conversion, event: number, href: string): boolean {
  if (textIn(outline, event, TEXT) > MAX_LINK_TEXT || beginsAsNoService(outline, event)) return false
  const words = wordsOf(outline, event)
  if (words === '' && href.startsWith('#')) return true
  // ¶, # and the like beside a heading, and a link to nothing but its own heading.
  if (href.includes('#') && HEADING_MARK.test(words)) return true
  return !options.keepFurniture && isToolLink(words, href)
}

/**
 * Whether the words of a link begin with a letter or digit that no such link begins with. This spares nearly all links
 * from being read word by word; false where their beginning is not plain to see.
 */
function beginsAsNoService({ page: { units }, tape }: Outline, event: number): boolean {
  const last = tape[event * STRIDE + PARTNER] as number
  for (let at = event; at < last; at++) {
    const to = tape[(at + 1) * STRIDE + START] as number
    for (let place = tape[at * STRIDE + END] as number; place < to; place++) {
      const unit = units[place] as number
      if (!isSpace(unit)) return isPlainBeginning(unit)
    }
  }
  return false
}

function isPlainBeginning(unit: number): boolean {
  const lower = unit | 32
  if (lower >= 97 && lower <= 122) return !TOOL_INITIALS.includes(String.fromCharCode(lower))
  return unit >= 48 && unit <= 57
}
