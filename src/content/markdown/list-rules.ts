/**
 * What indents: lists, quotations, and lists of definitions, where an item is a term with its meanings. Beyond
 * MAX_INDENT levels all of them are plain blocks, so the Markdown's length stays linear in the page's.
 */
import type { Cleaning, Rule, Rules } from './cleaning.ts'
import { BLOCK } from './elements.ts'
import { classTokens } from './furniture.ts'
import type { Region } from './main-region.ts'
import { CODE, DEFINITIONS, LIST, PLAIN } from './open-levels.ts'
import { ELEMENT, STRIDE, TEXT, elementBeginning, partnerOf, textIn, type Outline } from './outline.ts'

/** Lists and quotations nest no deeper in the Markdown: each level indents every line. */
export const MAX_INDENT = 12
const MAX_TERM_TAGS = 10

const beginList: Rule = ({ writer, levels }, _, attributes, { name }) => {
  if (levels.indent >= MAX_INDENT) writer.open(PLAIN, '<div>', '</div>')
  else {
    const tag = name === 'menu' ? 'ul' : name
    const first = name === 'ol' && /^\d{1,9}$/.test(attributes.start ?? '') ? ` start="${attributes.start}"` : ''
    writer.open(LIST, `<${tag}${first}>`, `</${tag}>`)
  }
  return true
}

const beginItem: Rule = ({ writer, levels }) => {
  const { indent } = levels
  if (indent === 0 || indent >= MAX_INDENT) writer.open(PLAIN, '<p>', '</p>')
  else writer.open(PLAIN, '<li>', '</li>')
  return true
}

/** How a list of definitions closes before its first item, and after. */
const WITHOUT_ITEM = '</ul>'
const WITH_ITEM = '</li></ul>'

const beginDefinitions: Rule = ({ writer, levels }) => {
  if (levels.indent >= MAX_INDENT) writer.open(PLAIN, '<div>', '</div>')
  else writer.open(DEFINITIONS, '<ul>', WITHOUT_ITEM)
  return true
}

const beginTerm: Rule = (cleaning, event, attributes) => {
  const { outline, writer } = cleaning
  beginDefinitionItem(cleaning, true)
  const isSignature = attributes.class !== undefined && classTokens(attributes.class).includes('sig')
  if (isSignature) writer.open(CODE, '<p><code>', '</code></p>')
  else if (isPlainTerm(outline, event)) {
    writer.open(PLAIN, '<p><b>', '</b></p>')
    writer.skipSpace()
  } else writer.open(PLAIN, '<p>', '</p>')
  return true
}

const beginMeaning: Rule = (cleaning, event) => {
  const { outline, region, writer } = cleaning
  beginDefinitionItem(cleaning, false)
  writer.open(PLAIN, beginsWithText(outline, region, event) ? '<div><p>' : '<div>', '</div>')
  return true
}

export const LIST_RULES: Rules = {
  ul: beginList,
  ol: beginList,
  menu: beginList,
  blockquote: beginList,
  li: beginItem,
  dl: beginDefinitions,
  dt: beginTerm,
  dd: beginMeaning,
}

/** Begins an item in the nearest list of definitions; where one is open, only a term begins `another`. */
function beginDefinitionItem({ writer, levels }: Cleaning, another: boolean): void {
  const list = levels.nearest(DEFINITIONS)
  if (list === undefined) return
  if (list.closing === WITHOUT_ITEM) writer.writeTag('<li>')
  else if (another) writer.writeTag('</li><li>')
  list.closing = WITH_ITEM
}

/** A term that is words alone, so that it can be set in bold as a whole. */
function isPlainTerm(outline: Outline, event: number): boolean {
  const last = partnerOf(outline, event)
  if (last - event > MAX_TERM_TAGS || textIn(outline, event, TEXT) === 0) return false
  for (let at = event + 1; at < last; at++) {
    const { name } = elementBeginning(outline, at)
    if (name !== '' && name !== 'span') return false
  }
  return true
}

/** Whether words come before the first block, so that they need a paragraph of their own. */
function beginsWithText(outline: Outline, region: Region, event: number): boolean {
  const { tape } = outline
  for (let at = event + 1; at < region.to; at++) {
    if (tape[at * STRIDE + TEXT] !== tape[event * STRIDE + TEXT]) return true
    if ((tape[at * STRIDE + ELEMENT] as number) < 0) return false
    if ((elementBeginning(outline, at).flags & BLOCK) !== 0) return false
  }
  return false
}
