/**
 * Code: blocks with their language, runs of text in the fixed font, and formulas as their TeX. What stands inside a
 * block is text alone; its lines and spaces are the page's own.
 */
import type { Cleaning, Rule, Rules } from './cleaning.ts'
import { codeLanguage } from './code-language.ts'
import type { ElementKind } from './elements.ts'
import { isJunkClass } from './furniture.ts'
import { CODE, PLAIN, PRE } from './open-levels.ts'
import { attributesOf, classOf, elementBeginning, hasAttributes } from './outline.ts'

/** The code element that names a block's language follows this soon. */
const MAX_TAGS_BEFORE_CODE = 3

const beginCode: Rule = ({ writer, levels }) => {
  if (levels.has(CODE)) writer.open(PLAIN, '', '')
  else writer.openMark(CODE, '<code>', '</code>')
  return true
}

const beginBlock: Rule = ({ outline, region, writer, levels }, event, attributes) => {
  let language = codeLanguage(attributes)
  const last = Math.min(event + MAX_TAGS_BEFORE_CODE, region.to - 1)
  for (let next = event + 1; language === undefined && next <= last; next++) {
    const { name } = elementBeginning(outline, next)
    if (name === 'code') language = codeLanguage(attributesOf(outline, next, name))
  }
  language ??= levels.language
  writer.open(PRE, language === '' ? '<pre><code>' : `<pre><code class="language-${language}">`, '</code></pre>')
  return true
}

const beginFormula: Rule = ({ writer }, _, { alttext }) => {
  if (alttext === undefined || alttext === '') {
    writer.open(PLAIN, '', '')
    return true
  }
  writer.writeInline(`<code>${alttext.replaceAll('<', '&lt;')}</code>`)
  return false
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
export function beginInsideBlock({ outline, writer }: Cleaning, event: number, { name }: ElementKind): boolean {
  if (name === 'span' && hasAttributes(outline, event, name) && isJunkClass(classOf(outline, event, name) ?? '')) {
    return false
  }
  writer.open(PLAIN, '', name === 'div' || name === 'p' || name === 'li' ? '\n' : '')
  return true
}
