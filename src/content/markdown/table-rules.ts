/**
 * Tables of data stay tables. Those that arrange a page, or code beside its line numbers, become plain blocks. A table
 * around another is one for layout, so tables of data never nest, and a part belongs to the one that is open.
 */
import type { Attributes } from './attributes.ts'
import type { Rule, Rules } from './cleaning.ts'
import { hasJunkClass } from './furniture.ts'
import { CELL, PLAIN, TABLE } from './open-levels.ts'
import { IS_LAYOUT, elementBeginning, flagsOf, partnerOf, type Outline } from './outline.ts'

/** Tables that set line numbers beside code. */
const CODE_TABLES = /highlighttable|rouge-table|hljs-ln|codehilitetable/

const beginTable: Rule = ({ outline, writer }, event, attributes) => {
  if (isForLayout(outline, event, attributes)) writer.open(PLAIN, '<div>', '</div>')
  else writer.open(TABLE, '<table>', '</table>')
  return true
}

const beginPart: Rule = ({ writer, levels }, _, attributes, { name }) => {
  if (levels.has(TABLE)) writer.open(PLAIN, `<${name}>`, `</${name}>`)
  else if (hasJunkClass(attributes)) return false
  else writer.open(PLAIN, '<div>', '</div>')
  return true
}

const beginCell: Rule = (cleaning, event, attributes, element) => {
  const { name } = element
  if (!cleaning.levels.has(TABLE)) return beginPart(cleaning, event, attributes, element)
  cleaning.writer.open(CELL, `<${name}>`, `</${name}>`)
  return true
}

export const TABLE_RULES: Rules = {
  table: beginTable,
  thead: beginPart,
  tbody: beginPart,
  tfoot: beginPart,
  tr: beginPart,
  caption: beginPart,
  td: beginCell,
  th: beginCell,
}

function isForLayout(outline: Outline, event: number, attributes: Attributes): boolean {
  return (
    (flagsOf(outline, event) & IS_LAYOUT) !== 0 ||
    !hasRows(outline, event) ||
    attributes.role === 'presentation' ||
    (attributes.class !== undefined && CODE_TABLES.test(attributes.class))
  )
}

/** Whether a table has a header cell or a second row. */
function hasRows(outline: Outline, event: number): boolean {
  const last = partnerOf(outline, event)
  let rows = 0
  for (let at = event + 1; at < last; at++) {
    const { name } = elementBeginning(outline, at)
    if (name === 'th' || (name === 'tr' && ++rows === 2)) return true
  }
  return false
}
