/**
 * How each element begins in the clean HTML: the rules that hold for all of them, then the element's own. An element
 * without one is emphasis, a plain block or nothing but its text.
 */
import { NO_ATTRIBUTES } from './attributes.ts'
import { BLOCK_RULES } from './block-rules.ts'
import type { Cleaning, Rule, Rules } from './cleaning.ts'
import { CODE_RULES, beginInsideBlock } from './code-rules.ts'
import { BLOCK, ELEMENTS, HARD_JUNK, MARK, type ElementKind } from './elements.ts'
import { hasJunkClass } from './furniture.ts'
import { LINK_RULES } from './link-rules.ts'
import { LIST_RULES } from './list-rules.ts'
import { CODE, HEADING, PLAIN, PRE } from './open-levels.ts'
import { HOLDS_MAIN, IS_FURNITURE, attributesOf, flagsOf, hasAttributes } from './outline.ts'
import { TABLE_RULES } from './table-rules.ts'

/** Begins an element; false when it is left out with all that it holds. */
export function beginElement(cleaning: Cleaning, event: number, element: ElementKind): boolean {
  const { outline, writer } = cleaning
  const { id, name, flags } = element
  if ((flags & HARD_JUNK) !== 0 || isLeftOut(cleaning, event, name)) return false
  if (cleaning.levels.has(PRE)) return beginInsideBlock(cleaning, event, element)
  if ((flags & BLOCK) !== 0) writer.suspendMarks()
  const attributes = hasAttributes(outline, event, name) ? attributesOf(outline, event, name) : NO_ATTRIBUTES
  return (BY_ID[id] as Rule)(cleaning, event, attributes, element)
}

/** Furniture goes, unless the page is all furniture, or it wraps the main content, or it is a quotation's source. */
function isLeftOut({ outline, region, options, levels }: Cleaning, event: number, name: string): boolean {
  const flags = flagsOf(outline, event)
  if ((flags & IS_FURNITURE) === 0 || options.keepFurniture || event === region.from) return false
  if (name === 'footer' && levels.hasQuotation()) return false
  return (flags & HOLDS_MAIN) === 0 || name === 'nav' || name === 'aside'
}

const beginSpan: Rule = ({ writer, levels }, _, attributes) => {
  if (attributes['aria-hidden'] === 'true' || hasJunkClass(attributes)) return false
  // A highlighter's label, which the code block's language says again.
  if (attributes.class === 'lang' && levels.language !== '') return false
  writer.open(PLAIN, '', '')
  return true
}

const beginEmphasis: Rule = ({ writer, levels }, _, attributes, { name }) => {
  if (levels.has(CODE) || (levels.has(HEADING) && (name === 'b' || name === 'strong'))) writer.open(PLAIN, '', '')
  else {
    if (hasJunkClass(attributes)) return false
    const tag = name === 'strike' ? 's' : name
    writer.openMark(PLAIN, `<${tag}>`, `</${tag}>`)
  }
  return true
}

const beginPlainBlock: Rule = ({ writer }) => {
  writer.open(PLAIN, '<div>', '</div>')
  return true
}

const beginTransparent: Rule = ({ writer }) => {
  writer.open(PLAIN, '', '')
  return true
}

const RULES: Rules = {
  ...BLOCK_RULES,
  ...CODE_RULES,
  ...LINK_RULES,
  ...LIST_RULES,
  ...TABLE_RULES,
  span: beginSpan,
}

/** By the element's id: an index is quicker than a name. */
const BY_ID: readonly Rule[] = ELEMENTS.map(({ name, flags }) => {
  if ((flags & MARK) !== 0) return RULES[name] ?? beginEmphasis
  return RULES[name] ?? ((flags & BLOCK) !== 0 ? beginPlainBlock : beginTransparent)
})
