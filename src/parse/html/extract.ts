/**
 * The narrow door for one HTML page: bytes in; text, links, title and the page's own wishes out. One pass over the
 * text, without a tree, linear in time and memory. It fetches nothing, decides nothing about scope, and never throws.
 */
import type { NormalizedUrl, RobotsDirectives, TdmReservation } from '../../model/index.ts'
import { normalizeUrl } from '../../url/index.ts'
import { decodeBody } from '../charset/decode-body.ts'
import { parseDirectives, speaksToUs } from './directives.ts'
import { trimAsciiWhitespace } from '../charset/encoding-label.ts'
import { readHeaderLinks, type HeaderContext, type HeaderLinks } from './header-facts.ts'
import { CONTEXT_ATTRIBUTES, createHtmlContext } from './html-context.ts'
import { createHtmlHead } from './html-head.ts'
import { readTokens, type Attributes } from './html-tokens.ts'
import { languageOfList, usableLanguage } from './language.ts'
import {
  canonicalOf,
  createLinkCollector,
  MAX_LINKS,
  relWords,
  targetOfRelation,
  type Link,
  type LinkLimit,
} from './links.ts'
import { createPageDates, type PageDates } from './page-dates.ts'
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
  /** The decoded HTML. */
  readonly text: string
  readonly robots: RobotsDirectives
  readonly tdm: TdmReservation | null
}

interface PageFacts extends PageDates {
  readonly title: string | null
  readonly description: string | null
  readonly lang: string | null
  readonly canonical: NormalizedUrl | null
  /** In document order, one per URL. */
  readonly links: Link[]
  /** The limits that were met, by their names. */
  readonly limits: readonly LinkLimit[]
}

export function extract(bytes: Uint8Array, context: ExtractContext): Extracted {
  const { text, charset } = decodeBody(bytes, context.contentType)
  const { url, productToken, maxLinks = MAX_LINKS } = context
  const header = readHeaderLinks(context.link ?? [], url)
  const { robotsMetas, tdmMeta, ...facts } = readPage(text, { url, charset, productToken, maxLinks, header })
  const robots = parseDirectives(robotsMetas, context.xRobotsTag ?? [], productToken)
  const tdm = tdmOf([{ reservation: context.tdmReservation, policy: context.tdmPolicy }, tdmMeta], url)
  const lang = facts.lang ?? languageOfList(context.contentLanguage) ?? null
  // A crawl learns nothing from a page that links to itself.
  return { charset, text, robots, tdm, ...facts, lang, links: facts.links.filter((link) => link.url !== url) }
}

/**
 * The links of a page whose text is at hand, those to itself among them, at most `MAX_LINKS`; none when `pageUrl` is not
 * an http or https URL. `charset` is the encoding that the text came in: queries are sent in it.
 */
export function extractLinks(html: string, pageUrl: string, charset = 'utf-8'): Link[] {
  const url = normalizeUrl(pageUrl)
  if (url === undefined) return []
  return readPage(html, { url, charset, productToken: '', maxLinks: MAX_LINKS, header: NO_HEADER_LINKS }).links
}

const NO_HEADER_LINKS: HeaderLinks = { canonicals: [], links: [] }

const ATTRIBUTES_WANTED = new Set([
  ...CONTEXT_ATTRIBUTES,
  'a',
  'area',
  'link',
  'iframe',
  'frame',
  'meta',
  'base',
  'html',
  'script',
  'time',
])

interface ReadOptions {
  readonly url: NormalizedUrl
  readonly charset: string
  readonly productToken: string
  readonly maxLinks: number
  readonly header: HeaderLinks
}

function readPage(
  html: string,
  options: ReadOptions,
): PageFacts & { robotsMetas: readonly string[]; tdmMeta: TdmStatement } {
  const { productToken, header } = options
  const context = createHtmlContext()
  const head = createHtmlHead()
  const dates = createPageDates()
  const links = createLinkCollector(options.url, options.charset)
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

  const readMeta = (attributes: Attributes): void => {
    const content = attributes.get('content')
    if (content === undefined) return
    const pragma = attributes.get('http-equiv')?.toLowerCase()
    if (pragma === 'refresh' && !isInNoscript) {
      const reference = refreshReference(content)
      // Without a URL the page only loads itself anew.
      if (reference !== null && reference !== '') links.add('meta-refresh', reference, [])
    } else if (pragma === 'content-language') {
      contentLanguage ??= languageOfList(content)
    }
    const name = attributes.get('name')?.toLowerCase()
    const property = attributes.get('property')?.toLowerCase() ?? name
    if (name === 'tdm-reservation') tdmReservation ??= content
    if (name === 'tdm-policy') tdmPolicy ??= content
    dates.meta(attributes, content)
    if (name === 'description') description ??= bounded(content, MAX_DESCRIPTION_CHARS)
    if (property === 'og:title') ogTitle ??= bounded(content, MAX_TITLE_CHARS)
    if (property === 'og:description') ogDescription ??= bounded(content, MAX_DESCRIPTION_CHARS)
    if (name !== undefined && speaksToUs(trimAsciiWhitespace(name), productToken)) {
      if (robotsMetas.length < MAX_REPEATS) robotsMetas.push(content.slice(0, MAX_ROBOTS_CHARS))
    }
  }
  const readLink = (attributes: Attributes): void => {
    const href = attributes.get('href')
    if (href === undefined) return
    const rel = relWords(attributes.get('rel'))
    const target = targetOfRelation(rel, attributes.get('type') ?? '')
    if (target === undefined) return
    const isCanonical = rel.includes('canonical') && head.isOpen() && !isInNoscript
    if (isCanonical && canonicals.length < MAX_REPEATS) canonicals.push(href)
    links.add(target === 'feed' ? 'feed' : 'link', href, rel)
  }

  readTokens(html, {
    wantsAttributes: (name) => ATTRIBUTES_WANTED.has(name),
    isForeign: () => context.isForeign(),
    openTag(name, attributes, isSelfClosing) {
      const isInert = context.isInert()
      const namespace = context.open(name, attributes, isSelfClosing)
      if (isInert) return true
      head.open(name)
      if (namespace !== 'html') {
        const reference = attributes.get('href') ?? attributes.get('xlink:href')
        if (name === 'a' && namespace === 'svg' && reference !== undefined) {
          links.add('a', reference, relWords(attributes.get('rel')))
        }
        return true
      }
      switch (name) {
        case 'a':
        case 'area': {
          const href = attributes.get('href')
          if (href !== undefined) links.add(name, href, relWords(attributes.get('rel')))
          break
        }
        case 'iframe':
        case 'frame': {
          const src = attributes.get('src')
          if (src !== undefined) links.add(name, src, [])
          break
        }
        case 'link':
          readLink(attributes)
          break
        case 'meta':
          readMeta(attributes)
          break
        case 'base': {
          const href = attributes.get('href')
          if (href !== undefined && !isInNoscript) links.setBase(href)
          break
        }
        case 'noscript':
          isInNoscript = true
          break
        case 'script':
          if (jsonLdBlocks < MAX_JSON_LD_BLOCKS && isJsonLd(attributes.get('type'))) {
            jsonLdBlocks++
            jsonLd = ''
          }
          break
        case 'time':
          dates.time(attributes)
          break
        case 'html':
          lang ??= usableLanguage(attributes.get('lang')) ?? usableLanguage(attributes.get('xml:lang'))
          break
        case 'title':
          if (title === undefined) {
            title = ''
            isInTitle = true
          }
          break
        default:
      }
      return true
    },
    closeTag(name) {
      if (name === 'title') isInTitle = false
      if (name === 'noscript') isInNoscript = false
      if (name === 'script' && jsonLd !== undefined) {
        if (jsonLd.length <= MAX_JSON_LD_CHARS) dates.jsonLd(jsonLd)
        jsonLd = undefined
      }
      head.close(name)
      context.close(name)
    },
    text(piece) {
      head.text(piece)
      if (jsonLd !== undefined && jsonLd.length <= MAX_JSON_LD_CHARS) jsonLd += piece
      if (isInTitle && title !== undefined && title.length < MAX_RAW_CHARS) title += piece.slice(0, MAX_RAW_CHARS)
    },
  })

  const resolved = links.resolve(options.maxLinks)
  const named = canonicals.map((href) => links.resolveOne(href)).filter((url) => url !== undefined)
  return {
    title: (title === undefined ? undefined : bounded(title, MAX_TITLE_CHARS)) ?? ogTitle ?? null,
    description: description ?? ogDescription ?? null,
    lang: lang ?? contentLanguage ?? null,
    canonical: canonicalOf([...header.canonicals, ...named]),
    ...dates.result(),
    links: resolved.links,
    limits: resolved.limits,
    robotsMetas,
    tdmMeta: { reservation: tdmReservation, policy: tdmPolicy },
  }
}

/** Text for people: white space collapsed, cut to `maximum`, never through the middle of a character. */
function bounded(text: string, maximum: number): string | undefined {
  const raw = text.length > MAX_RAW_CHARS ? text.slice(0, MAX_RAW_CHARS) : text
  const collapsed = raw.replaceAll('\0', '\ufffd').replaceAll(/\s+/g, ' ').trim()
  if (collapsed === '') return undefined
  if (collapsed.length <= maximum) return collapsed.toWellFormed()
  const last = collapsed.charCodeAt(maximum - 1)
  return collapsed.slice(0, last >= 0xd800 && last <= 0xdbff ? maximum - 1 : maximum).toWellFormed()
}

function isJsonLd(type: string | undefined): boolean {
  return type !== undefined && /^\s*application\/ld\+json\s*(?:;|$)/i.test(type)
}
