/**
 * Entries out of XML: sitemaps, sitemap indexes, RSS 0.9x to 2.0, Atom. Extensions of other vocabularies are read past.
 * Broken markup is read as far as it makes sense. Memory is bounded: names of at most `MAX_DEPTH` open elements, and the
 * text of one.
 */
import type { NormalizedUrl } from '../../model/index.ts'
import { normalizeUrl } from '../../url/index.ts'
import { w3cOfRfc822 } from '../dates/rfc822-date.ts'
import { isW3cDatetime } from '../dates/w3c-datetime.ts'
import { MAX_VALUE_CHARS, titleOf, type EntryHandler, type PieceReader, type Resolve } from './entry.ts'
import { xmlFormatOf, type XmlFormat } from './xml-formats.ts'
import { createXmlScanner, xmlAttribute } from './xml-scanner.ts'

/** Elements and text deeper than this are counted, not looked at: entries sit at depth 3 or 4. */
const MAX_DEPTH = 32

/** Text of one entry in HTML; what is beyond is not looked at for links. */
const MAX_HTML_CHARS = 262_144

/** Relations by which a feed names its other parts (RFC 5005). */
const FURTHER_PARTS = new Set(['next', 'prev', 'previous', 'next-archive', 'prev-archive'])

type Role = 'loc' | 'permalink' | 'date' | 'title' | 'html' | 'feed-title' | 'home'

/** The element whose text is being read. */
interface Field {
  readonly role: Role
  readonly depth: number
  /** For a date, its place in the format's list. */
  readonly rank: number
  text: string
  /** Text of the elements inside it. */
  innerText: string
}

export function createXmlReader(resolve: Resolve, handler: EntryHandler): PieceReader {
  /** Names of the open elements, outermost first, as far as `MAX_DEPTH`, and the base that each sets. */
  const open: string[] = []
  const bases: (NormalizedUrl | undefined)[] = []
  let tooDeep = 0
  let format: XmlFormat | undefined
  let prefix = ''
  let isOver = false
  let field: Field | undefined
  /** Depth of the entry that is being read; 0 outside of one. */
  let entryDepth = 0
  let loc: string | undefined
  /** A URL that counts only where there is no `loc`: an identity, a link of another vocabulary, text without a tag. */
  let stopgap: string | undefined
  let title: string | undefined
  let modified: string | undefined
  /** Place of `modified` in the format's list of dates. */
  let modifiedRank = Infinity
  /** Text of the entry itself, where no tag is around it. */
  let bareText = ''
  let html = ''

  const baseHere = (): NormalizedUrl | undefined => bases.findLast((base) => base !== undefined)
  const isOwn = (name: string, local: string | undefined): boolean => name === `${prefix}${local}`
  const rankOfDate = (name: string): number => {
    const dates = format?.dates ?? []
    const rank = dates.indexOf(name)
    return rank === -1 && name.startsWith(prefix) ? dates.indexOf(name.slice(prefix.length)) : rank
  }
  const emitEntry = (): void => {
    const reference = loc ?? stopgap
    const url = reference === undefined ? undefined : resolve(reference.trim(), baseHere())
    if (url !== undefined && format !== undefined) {
      const dated = modified === undefined ? {} : { modified }
      handler.entry({ url, kind: format.kind, ...dated, ...(title === undefined ? {} : { title }) })
      if (html !== '') handler.html?.(html, baseHere() ?? url)
    }
    loc = undefined
    stopgap = undefined
    title = undefined
    modified = undefined
    modifiedRank = Infinity
    html = ''
  }
  const finishEntry = (): void => {
    emitEntry()
    entryDepth = 0
    field = undefined
    bareText = ''
  }
  const takeStopgap = (text: string): void => {
    if (/^https?:\/\//i.test(text)) stopgap ??= text
  }
  const takeDate = (rank: number, text: string): void => {
    const date = isW3cDatetime(text) ? text : w3cOfRfc822(text)
    if (date === undefined || rank >= modifiedRank) return
    modified = date
    modifiedRank = rank
  }
  const takeField = ({ role, rank, text, innerText }: Field): void => {
    const own = text.trim()
    // Some wrap the URL once more: `<loc><url>…</url></loc>`.
    const value = own === '' ? innerText.trim() : own
    switch (role) {
      case 'loc':
        if (value === '') return
        if (loc !== undefined && format?.mayRepeat === true) emitEntry()
        loc ??= value
        return
      case 'permalink':
        return takeStopgap(value)
      case 'date':
        return takeDate(rank, value)
      case 'title':
        title ??= titleOf(text + innerText)
        return
      case 'html':
        if (html.length < MAX_HTML_CHARS) html += text.slice(0, MAX_HTML_CHARS)
        return
      case 'feed-title': {
        const named = titleOf(text + innerText)
        if (named !== undefined) handler.title?.(named)
        return
      }
      case 'home':
        return takeLink(value)
    }
  }
  const takeLink = (reference: string): void => {
    const url = reference === '' ? undefined : resolve(reference, baseHere())
    if (url !== undefined) handler.link?.(url)
  }
  const closeTop = (): void => {
    if (field?.depth === open.length) {
      takeField(field)
      field = undefined
    }
    if (entryDepth === open.length && entryDepth > 0) {
      takeStopgap(bareText.trim())
      finishEntry()
    }
    open.pop()
    bases.pop()
  }
  const openField = (role: Role, rank = 0): void => {
    field = { role, rank, depth: open.length, text: '', innerText: '' }
  }
  /** A link with an `href`: Atom's own, or Atom's in another feed. */
  const openLink = (attributes: string): void => {
    const href = xmlAttribute(attributes, 'href')?.trim()
    if (href === undefined || href === '') return
    const rel = (xmlAttribute(attributes, 'rel') ?? 'alternate').trim().toLowerCase()
    if (entryDepth === 0) {
      const url = FURTHER_PARTS.has(rel) ? resolve(href, baseHere()) : undefined
      if (url !== undefined) handler.entry({ url, kind: 'sitemap' })
      else if (rel === 'alternate') takeLink(href)
    } else if (rel !== 'alternate') return
    else if (format?.isHref === true) loc ??= resolve(href, baseHere())
    else stopgap ??= href
  }
  const openInEntry = (name: string, attributes: string): void => {
    if (isLink(name) && format?.feed !== undefined) openLink(attributes)
    if (isOwn(name, format?.loc) && format?.isHref !== true) return openField('loc')
    if (name === format?.permalink) return openField('permalink')
    const rank = rankOfDate(name)
    if (rank !== -1) return openField('date', rank)
    if (format?.feed === undefined) return
    if (isOwn(name, 'title')) return openField('title')
    if (!format.feed.html.includes(name.slice(name.startsWith(prefix) ? prefix.length : 0))) return
    const source = xmlAttribute(attributes, 'src')?.trim()
    if (source !== undefined && source !== '') stopgap ??= source
    // Atom's text is plain unless it says otherwise.
    const isHtml = format.isHref !== true || /^(?:x?html|text\/html)$/i.test(xmlAttribute(attributes, 'type') ?? '')
    if (isHtml && handler.html !== undefined) openField('html')
  }
  const openOutside = (name: string, attributes: string): void => {
    if (isOwn(name, format?.entry)) {
      entryDepth = open.length
      const about = format?.feed === undefined ? undefined : xmlAttribute(attributes, 'rdf:about')
      if (about !== undefined) takeStopgap(about.trim())
      return
    }
    if (format?.feed === undefined || open.length !== format.feed.depth) return
    if (isLink(name)) openLink(attributes)
    if (isOwn(name, 'title')) openField('feed-title')
    else if (isOwn(name, 'link') && format.isHref !== true) openField('home')
  }
  const openRoot = (name: string): void => {
    const found = xmlFormatOf(name)
    if (found === undefined) {
      isOver = true
      return
    }
    format = found.format
    prefix = found.prefix
    if (format.feed !== undefined) handler.feed?.()
  }
  const scanner = createXmlScanner({
    openTag(name, attributes) {
      if (isOver) return
      if (open.length >= MAX_DEPTH) {
        tooDeep++
        return
      }
      open.push(name)
      bases.push(undefined)
      if (open.length === 1) openRoot(name)
      if (format?.feed !== undefined && attributes.includes('xml:base')) bases[open.length - 1] = baseOf(attributes)
      if (open.length === 1) return
      if (field !== undefined) {
        // XHTML inside an entry of Atom.
        if (field.role === 'html' && localName(name) === 'a') takeLink(xmlAttribute(attributes, 'href')?.trim() ?? '')
      } else if (entryDepth === 0) openOutside(name, attributes)
      else if (open.length === entryDepth + 1) openInEntry(name, attributes)
    },
    closeTag(name) {
      if (isOver) return
      if (tooDeep > 0) {
        tooDeep--
        return
      }
      // An end tag that fits an outer element closes what was left open in it; one that fits none is ignored.
      const depth = open.lastIndexOf(name)
      if (depth === -1) return
      while (open.length > depth) closeTop()
      if (open.length === 0) isOver = true
    },
    text(piece) {
      if (field === undefined) {
        const isBare = entryDepth > 0 && open.length === entryDepth
        if (isBare && bareText.length <= MAX_VALUE_CHARS) bareText += piece
        return
      }
      const maximum = field.role === 'html' ? MAX_HTML_CHARS : MAX_VALUE_CHARS
      if (open.length === field.depth) {
        if (field.text.length <= maximum) field.text += piece
      } else if (field.innerText.length <= MAX_VALUE_CHARS) field.innerText += piece
    },
  })
  const baseOf = (attributes: string): NormalizedUrl | undefined => {
    const reference = xmlAttribute(attributes, 'xml:base')?.trim()
    const outer = baseHere()
    if (reference === undefined || reference === '') return undefined
    return outer === undefined ? resolve(reference) : normalizeUrl(reference, outer)
  }
  return {
    write: (piece) => scanner.write(piece),
    end() {
      scanner.end()
      // A file that is cut off may end after a whole `<loc>`.
      if (entryDepth > 0) finishEntry()
    },
    isOver: () => isOver,
  }
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

function isLink(name: string): boolean {
  return localName(name) === 'link'
}
