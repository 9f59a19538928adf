/**
 * Links and images, with absolute addresses. Links that serve the page instead of its reader are left out: marks
 * beside headings, links to editors and bug trackers. An address that is not fit to link to leaves the words alone.
 */
import type { Cleaning, Rule, Rules } from './cleaning.ts'
import { hasJunkClass, isToolLink } from './furniture.ts'
import { CODE, HEADING, LINK, PLAIN, PRE } from './open-levels.ts'
import { TEXT, attributesOf, textIn, wordsOf } from './outline.ts'

/** A link with more text than this is no mark or tool. */
const MAX_LINK_TEXT = 40
const MAX_ALT_LENGTH = 1000
/** Signs that themes set beside a heading to link to it, and the private ones of icon fonts. */
const HEADING_MARK = /^(?:[#¶§⚓🔗↑↩^]|\p{Co})\ufe0e?\ufe0f?$/u

const beginLink: Rule = (cleaning, event, attributes) => {
  const { options, writer, levels } = cleaning
  const { href } = attributes
  if (!options.keepFurniture && hasJunkClass(attributes)) return false
  if (href !== undefined && isService(cleaning, event, href)) return false
  const target =
    href === undefined || levels.has(LINK) || (levels.has(HEADING) && href.startsWith('#'))
      ? undefined
      : options.links.resolve(href.trim())
  if (target !== undefined && !levels.has(CODE)) {
    writer.openMark(LINK, `<a href="${target}">`, '</a>')
    return true
  }
  if (target !== undefined) linkCode(cleaning, target)
  writer.open(PLAIN, '', '')
  return true
}

export const LINK_RULES: Rules = { a: beginLink }

export function writeImage({ outline, options, writer, levels }: Cleaning, event: number): void {
  if (levels.has(PRE) || levels.has(CODE)) return
  const attributes = attributesOf(outline, event, 'img')
  if (attributes.width === '1' || attributes.width === '0') return
  const source = [attributes.src, attributes['data-src']].find(
    (value) => value !== undefined && !/^\s*data:/i.test(value),
  )
  const target = source === undefined || source.trim() === '' ? undefined : options.links.resolve(source.trim())
  if (target === undefined) return
  const alt = (attributes.alt ?? '').slice(0, MAX_ALT_LENGTH).replaceAll('"', '&quot;').replaceAll('<', '&lt;')
  writer.writeImage(`<img src="${target}" alt="${alt}">`)
}

/** Whether a link is there for its place or for the page's makers, not for its words. */
function isService({ outline, options }: Cleaning, event: number, href: string): boolean {
  if (textIn(outline, event, TEXT) > MAX_LINK_TEXT) return false
  const words = wordsOf(outline, event)
  if (words === '' && href.startsWith('#')) return true
  // ¶, # and the like beside a heading, and a link to nothing but its own heading.
  if (href.includes('#') && HEADING_MARK.test(words)) return true
  return !options.keepFurniture && isToolLink(words)
}

/** Markdown has no link inside code, but code inside a link: the link moves out, if it begins with the code. */
function linkCode({ levels }: Cleaning, target: string): void {
  const outer = levels.innermost
  if (outer?.kind !== CODE || outer.opening !== '<code>') return
  outer.opening = `<a href="${target}"><code>`
  outer.closing = '</code></a>'
}
