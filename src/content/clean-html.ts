/**
 * Writes a region of a page again as plain, well-formed HTML that holds content alone: known elements, absolute
 * links, no furniture, no attributes but those that Markdown can say. What it writes is bounded in length and in the
 * depth of what Markdown indents, so the converter's output is bounded as well. How it looks is the converter's part.
 */
import { NO_ATTRIBUTES, isSpace, readAttributes, readClass, type Attributes } from './attributes.ts'
import { codeLanguage } from './code-language.ts'
import { BLOCK, ELEMENTS, HARD_JUNK, MARK, type ElementKind } from './elements.ts'
import { decodeEntities } from './entities.ts'
import { classTokens, hasJunkClass, isCallout, isCalloutTitle, isJunkClass, isToolLink } from './furniture.ts'
import type { LinkResolver } from './links.ts'
import type { Region } from './main-region.ts'
import {
  CONTENT_TEXT,
  ELEMENT,
  END,
  FLAGS,
  HOLDS_MAIN,
  IS_FURNITURE,
  IS_LAYOUT,
  PARTNER,
  START,
  STRIDE,
  TEXT,
  type Outline,
} from './outline.ts'

export interface CleanOptions {
  readonly links: LinkResolver
  /** Keeps navigation, footers and sidebars: for a page that has nothing else. */
  readonly keepFurniture: boolean
  /** The region is the whole page, so a header without a first-level heading belongs to the site. */
  readonly wholePage: boolean
}

/** The converter gets no more HTML than this; what follows is cut off. */
export const MAX_CLEAN_LENGTH = 4 * 1024 * 1024
/** Lists and quotations nest no deeper in the Markdown: each level indents every line. */
const MAX_INDENT = 12
/** A form with more text than this wraps the page; with less it is a search box or a login. */
const MAX_FORM_TEXT = 500
const MAX_LINK_TEXT = 40
const MAX_TERM_TAGS = 10

/** One open element on the way out. */
interface Level {
  readonly kind: number
  /** Written when the element begins; for a mark, held back until there is text, and '' once written. */
  opening: string
  closing: string
  readonly mark: boolean
  readonly language: string
}

const PLAIN = 0
const PRE = 1
const HEADING = 2
const CODE = 3
const LIST = 4
const DEFINITIONS = 5
const CALLOUT = 6
const LINK = 7
const SIGNATURE = 8
const TABLE = 9
const CELL = 10
const CELL_PARAGRAPH = 11

export function cleanHtml(outline: Outline, region: Region, options: CleanOptions): string {
  const { html, tape } = outline
  let out = ''
  let language = ''
  let indent = 0
  let inPre = 0
  let inCode = 0
  let inHeading = 0
  let inCallout = 0
  let inLink = 0
  let skipSpace = false
  let inCell = 0
  let cellHasText = false
  let breakCell = false
  /** Marks whose opening waits for text. */
  let waiting = 0
  /** Marks that are open in the output. */
  let marked = 0
  const levels: Level[] = []
  /** For each open definition list, whether an item is open. */
  const definitionItems: boolean[] = []
  /** Tables that arrange a page: their parts are plain blocks. */
  const layoutTables: boolean[] = []

  const attributesAt = (event: number, name: string): Attributes =>
    readAttributes(
      html,
      (tape[event * STRIDE + START] as number) + 1 + name.length,
      tape[event * STRIDE + END] as number,
    )
  const classAt = (event: number, name: string): string | undefined =>
    readClass(html, (tape[event * STRIDE + START] as number) + 1 + name.length, tape[event * STRIDE + END] as number)
  const push = (kind: number, opening: string, closing: string): void => {
    if (inCell > 0 && kind === PLAIN && (opening === '<p>' || opening === '<div>')) {
      // A cell has one line, so its paragraphs are set apart by a break.
      breakCell ||= cellHasText
      levels.push({ kind: CELL_PARAGRAPH, opening: '', closing: '', mark: false, language })
      return
    }
    out += opening
    levels.push({ kind, opening: '', closing, mark: false, language })
  }
  const pushMark = (kind: number, opening: string, closing: string): void => {
    waiting++
    levels.push({ kind, opening, closing, mark: true, language })
  }
  /** Writes the openings that waited for text. */
  const openMarks = (): void => {
    for (let at = levels.length - 1, left = waiting; left > 0 && at >= 0; at--) {
      if ((levels[at] as Level).mark && (levels[at] as Level).opening !== '') left--
      if (left === 0) {
        for (; at < levels.length; at++) {
          const level = levels[at] as Level
          if (!level.mark || level.opening === '') continue
          out += level.opening
          level.opening = ''
          marked++
        }
        break
      }
    }
    waiting = 0
  }
  /** Ends all marks before a block begins or ends; emphasis resumes at the next text, a link has had its words. */
  const suspendMarks = (): void => {
    for (let at = levels.length - 1; marked > 0 && at >= 0; at--) {
      const level = levels[at] as Level
      if (!level.mark || level.opening !== '' || level.closing === '') continue
      out += level.closing
      marked--
      const again = OPENINGS.get(level.closing)
      if (again === undefined) level.closing = ''
      else {
        level.opening = again
        waiting++
      }
    }
  }
  const pop = (): void => {
    const level = levels.pop()
    if (level === undefined) return
    if (level.mark) {
      if (level.opening !== '') waiting--
      else if (level.closing !== '') {
        out += level.closing
        marked--
      }
    } else {
      if (marked > 0 && level.closing !== '') suspendMarks()
      if (level.kind === DEFINITIONS) {
        if (definitionItems.pop() === true) out += '</li>'
        indent--
      } else if (level.kind === LIST) indent--
      out += level.closing
    }
    if (level.kind === CELL_PARAGRAPH) breakCell ||= cellHasText
    else if (level.kind === CELL) inCell--
    else if (level.kind === PRE) inPre--
    else if (level.kind === CODE || level.kind === SIGNATURE) inCode--
    else if (level.kind === HEADING) inHeading--
    else if (level.kind === LINK) inLink--
    else if (level.kind === CALLOUT) {
      inCallout--
      indent--
    }
    language = levels.length === 0 ? '' : (levels[levels.length - 1] as Level).language
  }

  /** Writes the break between two paragraphs of a cell; false when there is no text yet to set apart. */
  const beginCellText = (from: number, to: number): boolean => {
    if (cellHasText && !breakCell) return true
    let first = from
    while (first < to && isSpace(html.charCodeAt(first))) first++
    if (first === to) return false
    if (breakCell) {
      suspendMarks()
      out += '<br>'
    }
    breakCell = false
    cellHasText = true
    return true
  }

  const writeText = (from: number, to: number): void => {
    if (from >= to) return
    if (skipSpace) {
      while (from < to && isSpace(html.charCodeAt(from))) from++
      if (from === to) return
      skipSpace = false
    }
    if (inCell > 0 && !beginCellText(from, to)) return
    if (waiting > 0) {
      let first = from
      while (first < to && isSpace(html.charCodeAt(first))) first++
      if (first > from) out += inPre > 0 ? html.slice(from, first) : ' '
      if (first === to) return
      openMarks()
      from = first
    }
    const text = html.slice(from, Math.min(to, from + MAX_CLEAN_LENGTH))
    const escaped = text.includes('<') ? text.replaceAll('<', '&lt;') : text
    out += escaped.slice(0, Math.max(0, MAX_CLEAN_LENGTH - out.length))
  }

  /** The words of an element with few tags and little text, for rules that read them. */
  const wordsOf = (event: number): string => {
    const last = tape[event * STRIDE + PARTNER] as number
    let words = ''
    for (let at = event; at < last && words.length < 200; at++) {
      words += html.slice(tape[at * STRIDE + END], tape[(at + 1) * STRIDE + START])
    }
    return decodeEntities(words).trim()
  }
  const textIn = (event: number, field: number): number =>
    (tape[(tape[event * STRIDE + PARTNER] as number) * STRIDE + field] as number) -
    (tape[event * STRIDE + field] as number)

  /** Begins an element; false when it is left out with all that it holds. */
  const begin = (event: number, element: ElementKind): boolean => {
    const { name, flags } = element
    const eventFlags = tape[event * STRIDE + FLAGS] as number
    if ((flags & HARD_JUNK) !== 0) return false
    if (!options.keepFurniture && event !== region.from && (eventFlags & IS_FURNITURE) !== 0) {
      const quoted = name === 'footer' && levels.some((level) => level.closing === '</blockquote>')
      if (!quoted && ((eventFlags & HOLDS_MAIN) === 0 || name === 'nav' || name === 'aside')) return false
    }
    const hasAttributes =
      (tape[event * STRIDE + END] as number) - (tape[event * STRIDE + START] as number) > name.length + 2
    if (inPre > 0) {
      if (hasAttributes && name === 'span' && isJunkClass(classAt(event, name) ?? '')) return false
      push(PLAIN, '', name === 'div' || name === 'p' || name === 'li' ? '\n' : '')
      return true
    }
    if ((flags & BLOCK) !== 0) suspendMarks()
    const attributes = hasAttributes ? attributesAt(event, name) : NO_ATTRIBUTES
    switch (name) {
      case 'span':
        if (attributes['aria-hidden'] === 'true' || hasJunkClass(attributes)) return false
        if (language !== '' && attributes.class === 'lang') return false
        push(PLAIN, '', '')
        return true
      case 'a':
        return beginLink(event, attributes)
      case 'code':
      case 'tt':
      case 'samp':
      case 'kbd':
      case 'var':
        if (inCode > 0) push(PLAIN, '', '')
        else {
          inCode++
          pushMark(CODE, '<code>', '</code>')
        }
        return true
      case 'math': {
        const tex = attributes.alttext
        if (tex === undefined || tex === '') push(PLAIN, '', '')
        else {
          openMarks()
          out += `<code>${tex.replaceAll('<', '&lt;')}</code>`
          return false
        }
        return true
      }
      case 'annotation':
        return false
      case 'pre':
        return beginPre(event, attributes)
      case 'h1':
      case 'h2':
      case 'h3':
      case 'h4':
      case 'h5':
      case 'h6':
        inHeading++
        // A note's title is no section of the page.
        if (inCallout > 0) push(HEADING, '<p><b>', '</b></p>')
        else push(HEADING, `<${name}>`, `</${name}>`)
        return true
      case 'ul':
      case 'ol':
      case 'menu':
      case 'blockquote': {
        if (indent >= MAX_INDENT) {
          push(PLAIN, '<div>', '</div>')
          return true
        }
        indent++
        const tag = name === 'menu' ? 'ul' : name
        const first = name === 'ol' && /^\d{1,9}$/.test(attributes.start ?? '') ? ` start="${attributes.start}"` : ''
        push(LIST, `<${tag}${first}>`, `</${tag}>`)
        return true
      }
      case 'li':
        if (indent === 0 || indent >= MAX_INDENT) push(PLAIN, '<p>', '</p>')
        else push(PLAIN, '<li>', '</li>')
        return true
      case 'dl':
        if (indent >= MAX_INDENT) push(PLAIN, '<div>', '</div>')
        else {
          indent++
          definitionItems.push(false)
          push(DEFINITIONS, '<ul>', '</ul>')
        }
        return true
      case 'dt':
        return beginTerm(event, attributes)
      case 'dd':
        if (definitionItems.length > 0 && definitionItems[definitionItems.length - 1] === false) {
          definitionItems[definitionItems.length - 1] = true
          out += '<li>'
        }
        push(PLAIN, beginsWithText(event) ? '<div><p>' : '<div>', '</div>')
        return true
      case 'summary':
        push(PLAIN, '<p><b>', '</b></p>')
        return true
      case 'p':
        if (isCalloutTitle(attributes)) push(PLAIN, '<p><b>', '</b></p>')
        else push(PLAIN, '<p>', '</p>')
        return true
      case 'table':
      case 'thead':
      case 'tbody':
      case 'tfoot':
      case 'tr':
      case 'td':
      case 'th':
      case 'caption':
        return beginTablePart(event, name, attributes)
      case 'form':
        if (textIn(event, TEXT) <= MAX_FORM_TEXT && !options.keepFurniture) return false
        push(PLAIN, '<div>', '</div>')
        return true
      case 'header':
        if (options.wholePage && !options.keepFurniture && (eventFlags & HOLDS_MAIN) === 0) return false
        push(PLAIN, '<div>', '</div>')
        return true
      case 'figure':
      case 'figcaption':
        push(PLAIN, `<${name}>`, `</${name}>`)
        return true
      case 'div':
      case 'section':
      case 'aside': {
        if (attributes.class === 'header' && !options.keepFurniture && SIGNPOST.test(wordsOf(event))) return false
        language = codeLanguage(attributes) ?? language
        if (isCalloutTitle(attributes)) push(PLAIN, '<p><b>', '</b></p>')
        else if (indent < MAX_INDENT && isCallout(attributes) && textIn(event, CONTENT_TEXT) > 0 && inCallout === 0) {
          indent++
          inCallout++
          push(CALLOUT, '<blockquote>', '</blockquote>')
        } else push(PLAIN, '<div>', '</div>')
        return true
      }
      default: {
        if ((flags & MARK) === 0) {
          if ((flags & BLOCK) === 0) push(PLAIN, '', '')
          else push(PLAIN, '<div>', '</div>')
          return true
        }
        if (inCode > 0 || (inHeading > 0 && (name === 'b' || name === 'strong'))) push(PLAIN, '', '')
        else {
          if (hasAttributes && hasJunkClass(attributes)) return false
          const tag = name === 'strike' ? 's' : name
          pushMark(PLAIN, `<${tag}>`, `</${tag}>`)
        }
        return true
      }
    }
  }

  const beginLink = (event: number, attributes: Attributes): boolean => {
    const { href } = attributes
    if (!options.keepFurniture && hasJunkClass(attributes)) return false
    if (href !== undefined && textIn(event, TEXT) <= MAX_LINK_TEXT) {
      const words = wordsOf(event)
      if (words === '' && href.startsWith('#')) return false
      // ¶, # and the like beside a heading, and a link to nothing but its own heading.
      if (href.includes('#') && HEADING_MARK.test(words)) return false
      if (!options.keepFurniture && isToolLink(words)) return false
    }
    const target =
      href === undefined || inLink > 0 || (inHeading > 0 && href.startsWith('#'))
        ? undefined
        : options.links.resolve(href.trim())
    const outer = levels[levels.length - 1]
    if (target === undefined) push(PLAIN, '', '')
    else if (inCode > 0) {
      // Markdown has no link inside code, but code inside a link: the link moves out, if it begins with the code.
      if (outer?.kind === CODE && outer.opening === '<code>') {
        outer.opening = `<a href="${target}"><code>`
        outer.closing = '</code></a>'
      }
      push(PLAIN, '', '')
    } else {
      inLink++
      pushMark(LINK, `<a href="${target}">`, '</a>')
    }
    return true
  }

  const beginPre = (event: number, attributes: Attributes): boolean => {
    let named = codeLanguage(attributes)
    for (let next = event + 1; named === undefined && next <= event + 3 && next < region.to; next++) {
      const id = tape[next * STRIDE + ELEMENT] as number
      if (id > 0 && (ELEMENTS[id] as ElementKind).name === 'code') named = codeLanguage(attributesAt(next, 'code'))
    }
    named ??= language
    inPre++
    push(PRE, named === '' ? '<pre><code>' : `<pre><code class="language-${named}">`, '</code></pre>')
    return true
  }

  const beginTerm = (event: number, attributes: Attributes): boolean => {
    if (definitionItems.length > 0) {
      if (definitionItems[definitionItems.length - 1] === true) out += '</li>'
      definitionItems[definitionItems.length - 1] = true
      out += '<li>'
    }
    const signature = attributes.class !== undefined && classTokens(attributes.class).includes('sig')
    if (signature) {
      inCode++
      push(SIGNATURE, '<p><code>', '</code></p>')
    } else if (isPlainTerm(event)) {
      push(PLAIN, '<p><b>', '</b></p>')
      skipSpace = true
    } else push(PLAIN, '<p>', '</p>')
    return true
  }
  /** Whether words come before the first block, so that they need a paragraph of their own. */
  const beginsWithText = (event: number): boolean => {
    for (let at = event + 1; at < region.to; at++) {
      if (tape[at * STRIDE + TEXT] !== tape[event * STRIDE + TEXT]) return true
      const id = tape[at * STRIDE + ELEMENT] as number
      if (id < 0 || ((ELEMENTS[id] as ElementKind).flags & BLOCK) !== 0) return false
    }
    return false
  }
  /** A term that is words alone, so that it can be set in bold as a whole. */
  const isPlainTerm = (event: number): boolean => {
    const last = tape[event * STRIDE + PARTNER] as number
    if (last - event > MAX_TERM_TAGS || textIn(event, TEXT) === 0) return false
    for (let at = event + 1; at < last; at++) {
      const id = tape[at * STRIDE + ELEMENT] as number
      if (id > 0 && (ELEMENTS[id] as ElementKind).name !== 'span') return false
    }
    return true
  }

  const beginTablePart = (event: number, name: string, attributes: Attributes): boolean => {
    if (name === 'table') {
      const layout =
        ((tape[event * STRIDE + FLAGS] as number) & IS_LAYOUT) !== 0 ||
        inCell > 0 ||
        !hasRows(event) ||
        attributes.role === 'presentation' ||
        (attributes.class !== undefined && CODE_TABLES.test(attributes.class))
      layoutTables.push(layout)
      push(TABLE, layout ? '<div>' : '<table>', layout ? '</div>' : '</table>')
      return true
    }
    if (layoutTables[layoutTables.length - 1] !== false) {
      if (hasJunkClass(attributes)) return false
      push(PLAIN, '<div>', '</div>')
    } else if (name === 'td' || name === 'th') {
      inCell++
      cellHasText = false
      breakCell = false
      push(CELL, `<${name}>`, `</${name}>`)
    } else push(TABLE, `<${name}>`, `</${name}>`)
    return true
  }
  /** Whether a table has a header cell or a second row. */
  const hasRows = (event: number): boolean => {
    const last = tape[event * STRIDE + PARTNER] as number
    let rows = 0
    for (let at = event + 1; at < last; at++) {
      const name = ELEMENTS[Math.max(0, tape[at * STRIDE + ELEMENT] as number)]?.name
      if (name === 'th' || (name === 'tr' && ++rows === 2)) return true
    }
    return false
  }

  const writeImage = (event: number): void => {
    if (inPre > 0 || inCode > 0) return
    const attributes = attributesAt(event, 'img')
    if (attributes.width === '1' || attributes.width === '0') return
    const source = [attributes.src, attributes['data-src']].find(
      (value) => value !== undefined && !/^\s*data:/i.test(value),
    )
    const target = source === undefined || source.trim() === '' ? undefined : options.links.resolve(source.trim())
    if (target === undefined) return
    if (inCell > 0) {
      if (breakCell) out += '<br>'
      breakCell = false
      cellHasText = true
    }
    openMarks()
    const alt = (attributes.alt ?? '').slice(0, MAX_ALT_LENGTH).replaceAll('"', '&quot;').replaceAll('<', '&lt;')
    out += `<img src="${target}" alt="${alt}">`
  }

  let textStart = tape[region.from * STRIDE + START] as number
  if (region.from === 0) textStart = 0
  let event = region.from
  while (event < region.to && out.length < MAX_CLEAN_LENGTH) {
    const at = event * STRIDE
    const id = tape[at + ELEMENT] as number
    writeText(textStart, tape[at + START] as number)
    textStart = tape[at + END] as number
    if (id < 0) {
      if (ELEMENTS[-id]?.name === 'table') layoutTables.pop()
      pop()
    } else if (id > 0) {
      const element = ELEMENTS[id] as ElementKind
      if (element.name === 'br') out += inPre > 0 ? '\n' : inHeading > 0 ? ' ' : '<br>'
      else if (element.name === 'hr') {
        if (inPre === 0) {
          suspendMarks()
          out += '<hr>'
        }
      } else if (element.name === 'img') writeImage(event)
      else if (tape[at + PARTNER] !== event && !begin(event, element)) {
        event = tape[at + PARTNER] as number
        textStart = tape[event * STRIDE + END] as number
      }
    }
    event++
  }
  if (event >= region.to && region.to === outline.count) writeText(textStart, outline.end)
  while (levels.length > 0) pop()
  return out
}

/** Signs that themes set beside a heading to link to it, and the private ones of icon fonts. */
const HEADING_MARK = /^(?:[#¶§⚓🔗↑↩^]|\p{Co})\ufe0e?\ufe0f?$/u
/** How Texinfo heads every page. */
const SIGNPOST = /^(?:Next|Previous|Up): /
const MAX_ALT_LENGTH = 1000
/** Tables that set line numbers beside code. */
const CODE_TABLES = /highlighttable|rouge-table|hljs-ln|codehilitetable/
/** A mark's opening by its closing: emphasis is written again in the next block. */
const OPENINGS: ReadonlyMap<string, string> = new Map(
  ['b', 'strong', 'i', 'em', 'cite', 'del', 's', 'q', 'sub', 'sup', 'code'].map((tag) => [`</${tag}>`, `<${tag}>`]),
)
