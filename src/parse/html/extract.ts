/**
 * The narrow door for one HTML page: bytes in; links, title and the page's own wishes out. One pass over the
 * bytes, without a tree, linear in time and memory. It fetches nothing, decides nothing about scope, and never throws.
 */
import type { NormalizedUrl, RobotsDirectives, TdmReservation } from '../../model/index.ts'
import { normalizeUrl } from '../../url/index.ts'
import { encodingOfBody } from '../charset/decode-body.ts'
import { parseDirectives, speaksToUs } from './directives.ts'
import { trimAsciiWhitespace } from '../charset/encoding-label.ts'
import { NO_HEADER_LINKS, readHeaderLinks, type HeaderContext, type HeaderLinks } from './header-facts.ts'
import { createHtmlContext } from './html-context.ts'
import { createHtmlHead } from './html-head.ts'
import { CLOSE_TAG, END, HtmlScanner, TEXT } from './html-scanner.ts'
import {
  CONTENT,
  HREF,
  HTML_VOCABULARY,
  HTTP_EQUIV,
  LANG,
  NAME,
  PROPERTY,
  REL,
  SRC,
  TYPE,
  XLINK_HREF,
  XML_LANG,
} from './html-vocabulary.ts'
import { languageOfList, usableLanguage } from './language.ts'
import {
  canonicalOf,
  createLinkCollector,
  MAX_LINKS,
  NO_REL,
  relWords,
  spelledOut,
  targetOfRelation,
  type Link,
  type LinkLimit,
  type LinkSource,
  type PageLinks,
} from './links.ts'
import { createPageDates, type PageDates } from './page-dates.ts'
import { sourceOfBytes, sourceOfText, type PageSource } from './page-source.ts'
import { refreshReference } from './refresh.ts'
import { tdmOf, type TdmStatement } from './tdm.ts'

/** Longer titles and descriptions are cut. */
const MAX_TITLE_CHARS = 1_000
const MAX_DESCRIPTION_CHARS = 2_000

/** White space may make up most of a title: this much is kept before it is collapsed. */
const MAX_RAW_CHARS = 16_384

/** A page may repeat its meta robots and its canonical link; this many are read, and a longer robots list is cut. */
const MAX_REPEATS = 64
const MAX_ROBOTS_CHARS = 4_096

/** Blocks of JSON-LD that are read, and the longest: a shop may have some with every product it sells. */
const MAX_JSON_LD_BLOCKS = 16
const MAX_JSON_LD_CHARS = 262_144

export interface ExtractContext extends HeaderContext {
  readonly contentType: string | null
  /** Distinct links to keep; `MAX_LINKS` unless told. */
  readonly maxLinks?: number
}

export interface Extracted extends PageFacts {
  /** The encoding's name in the Encoding Standard, in lower case. */
  readonly charset: string
  readonly robots: RobotsDirectives
  readonly tdm: TdmReservation | null
}

interface PageFacts extends PageDates {
  readonly title: string | null
  readonly description: string | null
  readonly lang: string | null
  readonly canonical: NormalizedUrl | null
  readonly links: PageLinks
  /** The limits that were met, by their names. */
  readonly limits: readonly LinkLimit[]
}

export function extract(bytes: Uint8Array, context: ExtractContext): Extracted {
  const charset = encodingOfBody(bytes, context.contentType)
  const page = sourceOfBytes(bytes, charset)
  const { url, productToken, maxLinks = MAX_LINKS } = context
  const header = readHeaderLinks(context.link ?? [], url)
  // A crawl learns nothing from a page that links to itself.
  const facts = readPage(page, { url, charset, productToken, maxLinks, header, exceptTo: url })
  return {
    charset,
    title: facts.title,
    description: facts.description,
    lang: facts.lang ?? languageOfList(context.contentLanguage) ?? null,
    canonical: facts.canonical,
    published: facts.published,
    modified: facts.modified,
    robots: parseDirectives(facts.robotsMetas, context.xRobotsTag ?? [], productToken),
    tdm: tdmOf([{ reservation: context.tdmReservation, policy: context.tdmPolicy }, facts.tdmMeta], url),
    links: facts.links,
    limits: facts.limits,
  }
}

/**
 * The links of a page whose text is at hand, those to itself among them, at most `MAX_LINKS`; none when `pageUrl` is not
 * an http or https URL. `charset` is the encoding that the text came in: queries are sent in it.
 */
export function extractLinks(html: string, pageUrl: string, charset = 'utf-8'): Link[] {
  const url = normalizeUrl(pageUrl)
  if (url === undefined) return []
  const page = sourceOfText(html)
  const { links } = readPage(page, { url, charset, productToken: '', maxLinks: MAX_LINKS, header: NO_HEADER_LINKS })
  return spelledOut(links)
}

interface ReadOptions {
  readonly url: NormalizedUrl
  readonly charset: string
  readonly productToken: string
  readonly maxLinks: number
  readonly header: HeaderLinks
  /** A link to this URL is left out. */
  readonly exceptTo?: NormalizedUrl
}

interface ReadFacts extends PageFacts {
  /** The contents of the meta elements that speak to us. */
  readonly robotsMetas: readonly string[]
  readonly tdmMeta: TdmStatement
}

function readPage(page: PageSource, options: ReadOptions): ReadFacts {
  const { productToken, header } = options
  const links = createLinkCollector(options.url, options.charset, page)
  const scanner = new HtmlScanner(page, HTML_VOCABULARY, links.addPlain)
  const context = createHtmlContext()
  const head = createHtmlHead()
  const dates = createPageDates()
  const robotsMetas: string[] = []
  const canonicals: string[] = []
  let title: string | undefined
  let isInTitle = false
  /** Links in here are found, as we run no scripts; but what most readers never see must not lead them all elsewhere. */
  let isInNoscript = false
  let ogTitle: string | undefined
  let description: string | undefined
  let ogDescription: string | undefined
  let lang: string | undefined
  let contentLanguage: string | undefined
  let tdmReservation: string | undefined
  let tdmPolicy: string | undefined
  /** The text of a JSON-LD block that is being read. */
  let jsonLd: string | undefined
  let jsonLdBlocks = 0

  for (const { source, url, rel } of header.links) links.add(source, url, rel)

  /** A link of which nothing but its place is needed until it is resolved. */
  const addLink = (source: LinkSource, attribute: number, rel: readonly string[]): void => {
    if (scanner.has(attribute)) {
      links.addPiece(source, scanner.startOf(attribute), scanner.endOf(attribute), rel)
    }
  }
  const readMeta = (): void => {
    const content = scanner.get(CONTENT)
    if (content === undefined) return
    const pragma = scanner.get(HTTP_EQUIV)?.toLowerCase()
    if (pragma === 'refresh' && !isInNoscript) {
      const reference = refreshReference(content)
      // Without a URL the page only loads itself anew.
      if (reference !== null && reference !== '') links.add('meta-refresh', reference, [])
    } else if (pragma === 'content-language') {
      contentLanguage ??= languageOfList(content)
    }
    const name = scanner.get(NAME)?.toLowerCase()
    const property = scanner.get(PROPERTY)?.toLowerCase() ?? name
    if (name === 'tdm-reservation') tdmReservation ??= content
    if (name === 'tdm-policy') tdmPolicy ??= content
    dates.meta(scanner, content)
    if (name === 'description') description ??= bounded(content, MAX_DESCRIPTION_CHARS)
    if (property === 'og:title') ogTitle ??= bounded(content, MAX_TITLE_CHARS)
    if (property === 'og:description') ogDescription ??= bounded(content, MAX_DESCRIPTION_CHARS)
    if (name !== undefined && speaksToUs(trimAsciiWhitespace(name), productToken)) {
      if (robotsMetas.length < MAX_REPEATS) robotsMetas.push(content.slice(0, MAX_ROBOTS_CHARS))
    }
  }
  const readLink = (): void => {
    if (!scanner.has(HREF)) return
    const rel = relWords(scanner.get(REL))
    const target = targetOfRelation(rel, scanner.get(TYPE) ?? '')
    if (target === undefined) return
    const isCanonical = rel.includes('canonical') && head.isOpen() && !isInNoscript
    if (isCanonical && canonicals.length < MAX_REPEATS) canonicals.push(scanner.get(HREF) ?? '')
    addLink(target === 'feed' ? 'feed' : 'link', HREF, rel)
  }
  const readElement = (name: string): void => {
    switch (name) {
      case 'a':
      case 'area':
        addLink(name, HREF, relWords(scanner.get(REL)))
        break
      case 'iframe':
      case 'frame':
        addLink(name, SRC, NO_REL)
        break
      case 'link':
        readLink()
        break
      case 'meta':
        readMeta()
        break
      case 'base': {
        const href = scanner.get(HREF)
        if (href !== undefined && !isInNoscript) links.setBase(href)
        break
      }
      case 'noscript':
        isInNoscript = true
        break
      case 'script':
        if (jsonLdBlocks < MAX_JSON_LD_BLOCKS && isJsonLd(scanner.get(TYPE))) {
          jsonLdBlocks++
          jsonLd = ''
        }
        break
      case 'time':
        dates.time(scanner)
        break
      case 'html':
        lang ??= usableLanguage(scanner.get(LANG)) ?? usableLanguage(scanner.get(XML_LANG))
        break
      case 'title':
        if (title === undefined) {
          title = ''
          isInTitle = true
        }
        break
      default:
    }
  }
  const readOpenTag = (name: string): void => {
    const isInert = context.isInert()
    const isForeignStart = name === 'svg' || name === 'math' || name === 'template'
    const namespace =
      isForeignStart || context.isInside()
        ? context.open(scanner.spelledName(), scanner, scanner.isSelfClosing)
        : 'html'
    if (namespace === 'html') scanner.readAsText()
    if (isInert) return
    head.open(name)
    if (namespace === 'html') readElement(name)
    else if (name === 'a' && namespace === 'svg') {
      addLink('a', scanner.has(HREF) ? HREF : XLINK_HREF, relWords(scanner.get(REL)))
    }
  }
  const readCloseTag = (name: string): void => {
    if (name === 'title') isInTitle = false
    if (name === 'noscript') isInNoscript = false
    if (name === 'script' && jsonLd !== undefined) {
      if (jsonLd.length <= MAX_JSON_LD_CHARS) dates.jsonLd(jsonLd)
      jsonLd = undefined
    }
    head.close(name)
    if (context.isInside()) context.close(scanner.spelledName())
  }

  // Every token takes a byte at least: this ends, whatever the page.
  for (let bytes = page.bytes.length; bytes >= 0; bytes--) {
    const isReadingText = isInTitle || jsonLd !== undefined
    const isInHead = head.isOpen()
    // Most tags of a page have names that say nothing, outside of all that they could change, or are links and no more.
    const token = scanner.next(isReadingText || isInHead, context.isForeign(), isInHead || context.isInside())
    if (token === END) break
    if (token === TEXT) {
      // Between the tags of a head there is hardly ever more.
      if (!isReadingText && scanner.isBlankAsWritten()) continue
      const piece = scanner.text()
      head.text(piece)
      if (jsonLd !== undefined && jsonLd.length <= MAX_JSON_LD_CHARS) jsonLd += piece
      if (isInTitle && title !== undefined && title.length < MAX_RAW_CHARS) title += piece.slice(0, MAX_RAW_CHARS)
      continue
    }
    if (token === CLOSE_TAG) readCloseTag(scanner.name)
    else readOpenTag(scanner.name)
  }

  const resolved = links.resolve(options.maxLinks, options.exceptTo)
  const named = canonicals.map((href) => links.resolveOne(href)).filter((url) => url !== undefined)
  const { published, modified } = dates.result()
  return {
    title: (title === undefined ? undefined : bounded(title, MAX_TITLE_CHARS)) ?? ogTitle ?? null,
    description: description ?? ogDescription ?? null,
    lang: lang ?? contentLanguage ?? null,
    canonical: canonicalOf(header.canonicals.concat(named)),
    published,
    modified,
    links: resolved.links,
    limits: resolved.limits,
    robotsMetas,
    tdmMeta: { reservation: tdmReservation, policy: tdmPolicy },
  }
}

/** Text for people: white space collapsed, cut to `maximum`, never through the middle of a character. */
function bounded(text: string, maximum: number): string | undefined {
  const raw = text.length > MAX_RAW_CHARS ? text.slice(0, MAX_RAW_CHARS) : text
  const spaced = /\s\s|[^\S ]/.test(raw) ? raw.replaceAll(/\s+/g, ' ') : raw
  const collapsed = spaced.replaceAll('\0', '\ufffd').trim()
  if (collapsed === '') return undefined
  if (collapsed.length <= maximum) return collapsed.toWellFormed()
  const last = collapsed.charCodeAt(maximum - 1)
  return collapsed.slice(0, last >= 0xd800 && last <= 0xdbff ? maximum - 1 : maximum).toWellFormed()
}

function isJsonLd(type: string | undefined): boolean {
  return type !== undefined && /^\s*application\/ld\+json\s*(?:;|$)/i.test(type)
}
