/**
 * How each element begins in the Markdown: the rules that hold for all of them, then the element's own. An element
 * without one is a plain block or nothing but its text.
 */
import { BLOCK_RULES } from './block-rules.ts'
import { CODE_RULES, beginInsideBlock, writeTex } from './code-rules.ts'
import type { Conversion, Rule, Rules } from './conversion.ts'
import { BLOCK, ELEMENTS, HARD_JUNK, idsOf, type ElementKind } from './elements.ts'
import { isCodeAlone, signsHold } from './flanking.ts'
import { hasJunkClass, isFormula, isLanguageLabel, isNoteLabel } from './furniture.ts'
import { isLinkBlock } from './link-blocks.ts'
import { LINK_RULES } from './link-rules.ts'
import { LIST_RULES } from './list-rules.ts'
import { CALLOUT, CODE, HEADING, PRE, QUOTATION } from './open-levels.ts'
import { HOLDS_MAIN, IS_FURNITURE, attributesOf, elementBeginning, flagsOf } from './outline.ts'
import { TABLE_RULES } from './table-rules.ts'

/** What a menu or a table of contents may be made of. */
const LINK_BLOCKS = idsOf('center', 'details', 'div', 'dl', 'ol', 'p', 'table', 'ul')

/** Begins an element; false when it is left out with all that it holds. */
export function beginElement(conversion: Conversion, event: number, element: ElementKind): boolean {
  const { outline, region, options } = conversion
  const { id, name, flags } = element
  if ((flags & HARD_JUNK) !== 0 || isLeftOut(conversion, event, name)) return false
  if (conversion.levels.has(PRE)) return beginInsideBlock(conversion, event, element)
  const attributes = attributesOf(outline, event)
  if (LINK_BLOCKS.has(id) && (options.wholePage || event > region.from) && isLinkBlock(conversion, event, attributes)) {
    return false
  }
  return (BY_ID[id] as Rule)(conversion, event, attributes, element)
}

/** Furniture goes, unless the page is all furniture, or it wraps the main content, or it is a quotation's source. */
function isLeftOut({ outline, region, options, levels }: Conversion, event: number, name: string): boolean {
  const flags = flagsOf(outline, event)
  if ((flags & IS_FURNITURE) === 0 || options.keepFurniture || event === region.from) return false
  if (name === 'footer' && (levels.has(QUOTATION) || levels.has(CALLOUT))) return false
  return (flags & HOLDS_MAIN) === 0 || name === 'nav' || name === 'aside'
}

const beginSpan: Rule = (conversion, event, attributes) => {
  const { outline, writer, levels } = conversion
  if (attributes['aria-hidden'] === 'true' || hasJunkClass(attributes)) return false
  if (isFormula(attributes) && writeTex(conversion, event)) return false
  // A highlighter's label, which the code block's language says again.
  if (levels.language !== '' && isLanguageLabel(attributes)) return false
  writer.openPlain()
  // The number of a footnote stands before its text.
  if (isNoteLabel(attributes) && event > 0 && elementBeginning(outline, event - 1).name === 'aside') writer.joinNext()
  return true
}

/**
 * Emphasis with these signs, or where they would not hold with a tag; inside code there is none, and a heading is bold as
 * it is.
 */
function emphasis(sign: string, tag: string): Rule {
  return ({ outline, writer, levels }, event, attributes) => {
    if (levels.has(CODE) || (sign === '**' && levels.has(HEADING)) || levels.isMarked(sign)) writer.openPlain()
    else if (hasJunkClass(attributes)) return false
    else if (signsHold(outline, event)) writer.openMark(sign, sign)
    else if (isCodeAlone(outline, event)) writer.openPlain()
    else writer.openMark(`<${tag}>`, `</${tag}>`)
    return true
  }
}

/** Text between two signs that Markdown leaves alone. */
function enclosed(opening: string, closing: string): Rule {
  return ({ writer, levels }, _, attributes) => {
    if (levels.has(CODE) || levels.isMarked(opening)) writer.openPlain()
    else if (hasJunkClass(attributes)) return false
    else writer.openMark(opening, closing)
    return true
  }
}

const beginPlainBlock: Rule = ({ writer }) => {
  writer.openBlock()
  return true
}

const beginTransparent: Rule = ({ writer }) => {
  writer.openPlain()
  return true
}

const RULES: Rules = {
  ...BLOCK_RULES,
  ...CODE_RULES,
  ...LINK_RULES,
  ...LIST_RULES,
  ...TABLE_RULES,
  span: beginSpan,
  b: emphasis('**', 'strong'),
  strong: emphasis('**', 'strong'),
  i: emphasis('*', 'em'),
  em: emphasis('*', 'em'),
  cite: emphasis('*', 'em'),
  del: emphasis('~~', 'del'),
  s: emphasis('~~', 'del'),
  strike: emphasis('~~', 'del'),
  q: enclosed('"', '"'),
  sub: enclosed('<sub>', '</sub>'),
  sup: enclosed('<sup>', '</sup>'),
}

/** By the element's id: an index is quicker than a name. */
const BY_ID: readonly Rule[] = ELEMENTS.map(
  ({ name, flags }) => RULES[name] ?? ((flags & BLOCK) !== 0 ? beginPlainBlock : beginTransparent),
)
