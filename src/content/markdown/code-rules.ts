/**
 * Code: blocks with their language, runs of text in the fixed font, and formulas as their TeX. What stands inside a
 * block is text alone; its lines and spaces are the page's own.
 */
import { decodeReferences } from '../../base/index.ts'
import { blockLanguage } from './code-language.ts'
import { codeSpan } from './code-text.ts'
import type { Conversion, Rule, Rules } from './conversion.ts'
import type { ElementKind } from './elements.ts'
import { hasJunkClass } from './furniture.ts'
import { CELL, CODE } from './open-levels.ts'
import {
  END,
  START,
  STRIDE,
  attributesOf,
  elementBeginning,
  otherAttributesOf,
  partnerOf,
  type Outline,
} from './outline.ts'
import { readCode } from './prose.ts'

/** The code element that names a block's language follows this soon. */
const MAX_TAGS_BEFORE_CODE = 3
const MAX_FORMULA_LENGTH = 2000
const MAX_TAGS_OF_FORMULA = 2000
/** Elements that are lines of a code block. */
const LINES: ReadonlySet<string> = new Set(['div', 'p', 'li', 'tr'])

const beginCode: Rule = ({ writer, levels }) => {
  if (levels.has(CODE)) writer.openPlain()
  else writer.openCode()
  return true
}

const beginBlock: Rule = ({ outline, region, writer, levels }, event, attributes) => {
  if (hasJunkClass(attributes)) return false
  let language = blockLanguage(attributes)
  const last = Math.min(event + MAX_TAGS_BEFORE_CODE, region.to - 1)
  for (let next = event + 1; language === undefined && next <= last; next++) {
    const { name } = elementBeginning(outline, next)
    if (name === 'code') language = blockLanguage(otherAttributesOf(outline, next))
  }
  writer.openPre(language ?? levels.language)
  return true
}

const beginFormula: Rule = (conversion, event, { alttext }) => {
  const { outline, writer } = conversion
  const tex = alttext === undefined || alttext === '' ? annotationOf(outline, event) : decodeReferences(alttext, true)
  if (tex !== undefined && writeFormula(conversion, tex)) return false
  writer.openPlain()
  return true
}

/** Writes TeX as code; false where there is none, or too much of it. */
function writeFormula({ writer, levels }: Conversion, tex: string): boolean {
  if (tex.length > MAX_FORMULA_LENGTH || levels.has(CODE)) return false
  const formula = tex.replace(/\s+/g, ' ').trim()
  if (formula === '') return false
  writer.writeMarkup(codeSpan(formula, levels.has(CELL)))
  return true
}

/** The TeX that a formula in MathML was made from. */
function annotationOf(outline: Outline, event: number): string | undefined {
  const last = Math.min(partnerOf(outline, event), event + MAX_TAGS_OF_FORMULA)
  for (let at = event + 1; at < last; at++) {
    if (elementBeginning(outline, at).name !== 'annotation') continue
    const start = outline.tape[at * STRIDE + START] as number
    if (TEX_ANNOTATION.test(outline.html.slice(start, start + MAX_ANNOTATION_TAG))) return textAlone(outline, at)
  }
  return undefined
}

const MAX_ANNOTATION_TAG = 60
const TEX_ANNOTATION = /^<annotation encoding=["']?application\/x-tex/i

/** Writes an element that holds TeX between the signs for it, `\\(a\\)` or `\\[a\\]`; false for any other. */
export function writeTex(conversion: Conversion, event: number): boolean {
  const match = TEX.exec(textAlone(conversion.outline, event) ?? '')
  return match !== null && writeFormula(conversion, match[1] ?? match[2] ?? '')
}

const TEX = /^\s*(?:\\\(([^]*)\\\)|\\\[([^]*)\\\])\s*$/

/** The text of an element with nothing but text in it, up to a formula's length. */
function textAlone(outline: Outline, event: number): string | undefined {
  const { page, tape } = outline
  const from = tape[event * STRIDE + END] as number
  const to = tape[(event + 1) * STRIDE + START] as number
  if (partnerOf(outline, event) !== event + 1 || to - from > 2 * MAX_FORMULA_LENGTH) return undefined
  return readCode(page, from, to)
}

export const CODE_RULES: Rules = {
  code: beginCode,
  tt: beginCode,
  samp: beginCode,
  kbd: beginCode,
  var: beginCode,
  pre: beginBlock,
  math: beginFormula,
  annotation: () => false,
}

/** Begins any element inside a code block: its tags go, but not the end of its line. */
export function beginInsideBlock({ outline, writer }: Conversion, event: number, { name }: ElementKind): boolean {
  if (hasJunkClass(attributesOf(outline, event))) return false
  if (LINES.has(name)) writer.openPreLine()
  else writer.openPlain()
  return true
}
