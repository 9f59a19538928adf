/**
 * Tables of data stay tables, also those made of blocks with the roles of a table. Those that arrange a page, or code
 * beside its line numbers, become plain blocks. A table around another is one for layout, so tables of data never nest,
 * and a part belongs to the one that is open.
 */
import type { Attributes } from './attributes.ts'
import type { Conversion, Rule, Rules } from './conversion.ts'
import { hasJunkClass, isTableOfBlocks } from './furniture.ts'
import { BLOCK, CELL, LINE, TABLE } from './open-levels.ts'
import { BLOCK as BLOCK_ELEMENT } from './elements.ts'
import { IS_LAYOUT, elementBeginning, flagsOf, partnerOf, type Outline } from './outline.ts'

/** Tables that set line numbers beside code. */
const CODE_TABLES = /highlighttable|rouge-table|hljs-ln|codehilitetable|highlight-table|lntable|linenotable/
/** A span with more digits is a mistake (HTML §4.9.11 stops at 65534). */
const MAX_LINE_TAGS = 60
const SPAN = /^\d{1,5}$/

const beginTable: Rule = ({ outline, writer, levels }, event, attributes) => {
  if (levels.has(TABLE) || isForLayout(outline, event, attributes)) writer.openBlock()
  else writer.openTable()
  return true
}

const beginPart: Rule = ({ writer, levels }, _, attributes) => {
  if (!levels.has(TABLE) && hasJunkClass(attributes)) return false
  writer.openBlock()
  return true
}

const beginRow: Rule = (conversion, event, attributes) => {
  const { outline, writer, levels } = conversion
  if (levels.has(TABLE) && !levels.has(CELL)) writer.openRow()
  else if (hasJunkClass(attributes)) return false
  else writer.openBlock(isLine(outline, event) ? LINE : BLOCK)
  return true
}

const beginCell: Rule = (conversion, event, attributes, element) => {
  const { writer, levels } = conversion
  if (levels.innermost?.kind === LINE && !hasJunkClass(attributes)) {
    writer.openWord()
    return true
  }
  if (!levels.has(TABLE) || levels.has(CELL)) return beginPart(conversion, event, attributes, element)
  openCell(conversion, attributes, element.name === 'th')
  return true
}

export const TABLE_RULES: Rules = {
  table: beginTable,
  thead: beginPart,
  tbody: beginPart,
  tfoot: beginPart,
  tr: beginRow,
  td: beginCell,
  th: beginCell,
}

/** Begins a block that is a part of a table by its role or class; false where it is none, and nothing is open. */
export function beginTablePart(conversion: Conversion, attributes: Attributes): boolean {
  const { writer, levels } = conversion
  const { role } = attributes
  if (!levels.has(TABLE)) {
    if (role !== 'table' && role !== 'grid' && !isTableOfBlocks(attributes)) return false
    writer.openTable()
    return true
  }
  if (levels.has(CELL)) return false
  const column = COLUMN.exec(attributes.class ?? '')
  if (role === 'row') writer.openRow()
  else if (role === 'columnheader' || role === 'rowheader') openCell(conversion, attributes, true)
  else if (role === 'cell' || role === 'gridcell') openCell(conversion, attributes, false)
  else if (column !== null) openCell(conversion, attributes, column[1] !== undefined, column[2] === 'last')
  else return false
  return true
}

/** A cell of a table of blocks: whether it is a header, and its column. */
const COLUMN = /^(table-header )?col-(\w+)/

function openCell({ writer }: Conversion, attributes: Attributes, isHead: boolean, endsRow = false): void {
  const { colspan, rowspan } = attributes
  writer.openCell({ isHead, columns: spanOf(colspan), rows: spanOf(rowspan), endsRow })
}

function spanOf(value: string | undefined): number {
  return value !== undefined && SPAN.test(value) ? Math.max(1, Number(value)) : 1
}

function isForLayout(outline: Outline, event: number, attributes: Attributes): boolean {
  return (
    (flagsOf(outline, event) & IS_LAYOUT) !== 0 ||
    !hasRows(outline, event) ||
    attributes.role === 'presentation' ||
    (attributes.class !== undefined && CODE_TABLES.test(attributes.class))
  )
}

/** Whether a row has several cells and no blocks in them, so that it reads as a line. */
function isLine(outline: Outline, event: number): boolean {
  const last = partnerOf(outline, event)
  if (last - event > MAX_LINE_TAGS) return false
  let cells = 0
  for (let at = event + 1; at < last; at++) {
    const { name, flags } = elementBeginning(outline, at)
    if (name === 'td' || name === 'th') cells++
    else if (name === 'br' || (flags & BLOCK_ELEMENT) !== 0) return false
  }
  return cells > 1
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
