/** Headings, paragraphs and the boxes of a page: sections, notes, forms, headers. */
import { codeLanguage } from './code-language.ts'
import { writeTex } from './code-rules.ts'
import type { Rule, Rules } from './conversion.ts'
import { hasJunkClass, isCallout, isFormula, isHeader, isSignature, isTitle } from './furniture.ts'
import { MAX_INDENT } from './list-rules.ts'
import { BLOCK, CALLOUT, CODE, LINK } from './open-levels.ts'
import { CONTENT_TEXT, HOLDS_MAIN, IS_SIDEBAR, TEXT, flagsOf, textIn, wordsOf } from './outline.ts'
import { beginTablePart } from './table-rules.ts'

/** A form with more text than this wraps the page; with less it is a search box or a login. */
const MAX_FORM_TEXT = 500
/** How Texinfo heads every page. */
const SIGNPOST = /^(?:Next|Previous|Up): /

const beginHeading: Rule = ({ writer, levels }, _event, _attributes, { name }) => {
  // A note's title is no section of the page.
  if (levels.has(CALLOUT)) writer.openMarkedBlock('**')
  else writer.openHeading(Number(name.slice(1)))
  return true
}

const beginParagraph: Rule = ({ writer }, _, attributes) => {
  if (isTitle(attributes)) writer.openMarkedBlock('**')
  else writer.openBlock()
  return true
}

const beginSummary: Rule = ({ writer }, _, attributes) => {
  if (hasJunkClass(attributes)) return false
  writer.openMarkedBlock('**')
  return true
}

const beginCaption: Rule = ({ writer }) => {
  writer.openMarkedBlock('*')
  return true
}

const beginForm: Rule = ({ outline, options, writer }, event) => {
  if (!options.keepFurniture && textIn(outline, event, TEXT) <= MAX_FORM_TEXT) return false
  writer.openBlock()
  return true
}

const beginHeader: Rule = ({ outline, options, writer }, event) => {
  if (options.wholePage && !options.keepFurniture && (flagsOf(outline, event) & HOLDS_MAIN) === 0) return false
  writer.openBlock()
  return true
}

const beginSection: Rule = (conversion, event, attributes) => {
  const { outline, options, writer, levels } = conversion
  if (isHeader(attributes) && !options.keepFurniture && SIGNPOST.test(wordsOf(outline, event))) return false
  if (beginTablePart(conversion, attributes)) return true
  if (isFormula(attributes)) {
    writer.openBlock()
    const isWritten = writeTex(conversion, event)
    if (isWritten) writer.close()
    return !isWritten
  }
  const language = codeLanguage(attributes) ?? levels.language
  if (isTitle(attributes)) writer.openMarkedBlock('**', language)
  else if (isSignature(attributes) && !levels.has(CODE) && !levels.has(LINK)) writer.openCodeBlock()
  else if (
    (isCallout(attributes) || (flagsOf(outline, event) & IS_SIDEBAR) !== 0) &&
    !levels.has(CALLOUT) &&
    levels.indent < MAX_INDENT &&
    textIn(outline, event, CONTENT_TEXT) > 0
  ) {
    writer.openQuotation(CALLOUT, language)
  } else writer.openBlock(BLOCK, language)
  return true
}

export const BLOCK_RULES: Rules = {
  h1: beginHeading,
  h2: beginHeading,
  h3: beginHeading,
  h4: beginHeading,
  h5: beginHeading,
  h6: beginHeading,
  p: beginParagraph,
  summary: beginSummary,
  caption: beginCaption,
  figcaption: beginCaption,
  form: beginForm,
  header: beginHeader,
  div: beginSection,
  section: beginSection,
  aside: beginSection,
}
