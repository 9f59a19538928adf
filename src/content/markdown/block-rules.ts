/** Headings, paragraphs and the boxes of a page: sections, notes, forms, headers. */
import type { Rule, Rules } from './cleaning.ts'
import { codeLanguage } from './code-language.ts'
import { isCallout, isCalloutTitle } from './furniture.ts'
import { MAX_INDENT } from './list-rules.ts'
import { CALLOUT, HEADING, PLAIN } from './open-levels.ts'
import { CONTENT_TEXT, HOLDS_MAIN, TEXT, flagsOf, textIn, wordsOf } from './outline.ts'

/** A form with more text than this wraps the page; with less it is a search box or a login. */
const MAX_FORM_TEXT = 500
/** How Texinfo heads every page. */
const SIGNPOST = /^(?:Next|Previous|Up): /

const beginHeading: Rule = ({ writer, levels }, _event, _attributes, { name }) => {
  // A note's title is no section of the page.
  if (levels.has(CALLOUT)) writer.open(HEADING, '<p><b>', '</b></p>')
  else writer.open(HEADING, `<${name}>`, `</${name}>`)
  return true
}

const beginParagraph: Rule = ({ writer }, _, attributes) => {
  if (isCalloutTitle(attributes)) writer.open(PLAIN, '<p><b>', '</b></p>')
  else writer.open(PLAIN, '<p>', '</p>')
  return true
}

const beginSummary: Rule = ({ writer }) => {
  writer.open(PLAIN, '<p><b>', '</b></p>')
  return true
}

const beginFigure: Rule = ({ writer }, _event, _attributes, { name }) => {
  writer.open(PLAIN, `<${name}>`, `</${name}>`)
  return true
}

const beginForm: Rule = ({ outline, options, writer }, event) => {
  if (!options.keepFurniture && textIn(outline, event, TEXT) <= MAX_FORM_TEXT) return false
  writer.open(PLAIN, '<div>', '</div>')
  return true
}

const beginHeader: Rule = ({ outline, options, writer }, event) => {
  if (options.wholePage && !options.keepFurniture && (flagsOf(outline, event) & HOLDS_MAIN) === 0) return false
  writer.open(PLAIN, '<div>', '</div>')
  return true
}

const beginSection: Rule = ({ outline, options, writer, levels }, event, attributes) => {
  if (attributes.class === 'header' && !options.keepFurniture && SIGNPOST.test(wordsOf(outline, event))) return false
  const language = codeLanguage(attributes) ?? levels.language
  if (isCalloutTitle(attributes)) writer.open(PLAIN, '<p><b>', '</b></p>', language)
  else if (
    isCallout(attributes) &&
    !levels.has(CALLOUT) &&
    levels.indent < MAX_INDENT &&
    textIn(outline, event, CONTENT_TEXT) > 0
  ) {
    writer.open(CALLOUT, '<blockquote>', '</blockquote>', language)
  } else writer.open(PLAIN, '<div>', '</div>', language)
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
  figure: beginFigure,
  figcaption: beginFigure,
  form: beginForm,
  header: beginHeader,
  div: beginSection,
  section: beginSection,
  aside: beginSection,
}
