/**
 * What indents: lists, quotations, and lists of definitions, where an item is a term with its meanings. Beyond
 * MAX_INDENT levels all of them are plain blocks, so the Markdown's length stays linear in the page's. A list whose
 * items hold headings arranges sections: it is no list, and its sections keep their place in the page's outline.
 */
import type { Attributes } from './attributes.ts'
import type { Rule, Rules } from './conversion.ts'
import { hasJunkClass, isListOfSections, isSignature } from './furniture.ts'
import { CELL_LIST, DEFINITIONS, LAYOUT_LIST, LIST } from './open-levels.ts'
import {
  IS_LAYOUT,
  TEXT,
  elementBeginning,
  flagsOf,
  otherAttributesOf,
  partnerOf,
  textIn,
  type Outline,
} from './outline.ts'

/** Lists and quotations nest no deeper in the Markdown: each level indents every line. */
export const MAX_INDENT = 12
const MAX_TERM_TAGS = 10

const beginList: Rule = ({ outline, writer, levels }, event, attributes, { name }) => {
  if (levels.indent >= MAX_INDENT || isOfSections(outline, event, attributes)) writer.openBlock(LAYOUT_LIST)
  else writer.openList(name === 'ol', /^\d{1,9}$/.test(attributes.start ?? '') ? Number(attributes.start) : 1)
  return true
}

const beginItem: Rule = ({ writer, levels }) => {
  const list = levels.innermostList
  if (list === LIST || list === CELL_LIST) writer.openItem()
  else writer.openBlock()
  return true
}

const beginQuotation: Rule = ({ writer, levels }) => {
  if (levels.indent >= MAX_INDENT) writer.openBlock()
  else writer.openQuotation()
  return true
}

const beginDefinitions: Rule = ({ outline, writer, levels }, event, attributes) => {
  if (levels.indent >= MAX_INDENT || isOfSections(outline, event, attributes)) writer.openBlock(LAYOUT_LIST)
  else writer.openDefinitions()
  return true
}

const beginTerm: Rule = ({ outline, writer, levels }, event, attributes) => {
  if (levels.innermostList === DEFINITIONS) writer.beginDefinition(true)
  if (isSignature(attributes)) writer.openCodeBlock()
  else if (isPlainTerm(outline, event)) writer.openMarkedBlock('**')
  else writer.openBlock()
  return true
}

const beginMeaning: Rule = ({ writer, levels }) => {
  if (levels.innermostList === DEFINITIONS) writer.beginDefinition(false)
  writer.openBlock()
  return true
}

export const LIST_RULES: Rules = {
  ul: beginList,
  ol: beginList,
  menu: beginList,
  blockquote: beginQuotation,
  li: beginItem,
  dl: beginDefinitions,
  dt: beginTerm,
  dd: beginMeaning,
}

function isOfSections(outline: Outline, event: number, attributes: Attributes): boolean {
  return (flagsOf(outline, event) & IS_LAYOUT) !== 0 || isListOfSections(attributes)
}

/** A term that is words alone, so that it can be set in bold as a whole. */
function isPlainTerm(outline: Outline, event: number): boolean {
  const last = partnerOf(outline, event)
  if (last - event > MAX_TERM_TAGS || textIn(outline, event, TEXT) === 0) return false
  for (let at = event + 1; at < last; at++) {
    const { name } = elementBeginning(outline, at)
    if (name === '' || name === 'span' || name === 'strong' || name === 'b') continue
    if (name !== 'a') return false
    const attributes = otherAttributesOf(outline, at)
    if (attributes.href !== undefined && !hasJunkClass(attributes)) return false
  }
  return true
}
