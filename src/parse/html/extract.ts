/**
 * The narrow door for one HTML page: bytes in; text, links, title and the page's own wishes out. One pass over the
 * text, without a tree, linear in time and memory. It fetches nothing, decides nothing about scope, and never throws.
 */
import type { NormalizedUrl, RobotsDirectives } from '../../model/index.ts'
import { normalizeUrl } from '../../url/index.ts'
import { decodeBody } from '../charset/decode-body.ts'
import { parseDirectives, speaksToUs } from './directives.ts'
import { trimAsciiWhitespace } from '../charset/encoding-label.ts'
import { CONTEXT_ATTRIBUTES, createHtmlContext } from './html-context.ts'
import { readTokens, type Attributes } from './html-tokens.ts'
import { createLinkCollector, MAX_LINKS, relWords, type Link } from './links.ts'
import { refreshReference } from './refresh.ts'

/** Longer titles and descriptions are cut; so is a language longer than any tag of RFC 5646 in use. */
const MAX_TITLE_CHARS = 1_000
const MAX_DESCRIPTION_CHARS = 2_000
const MAX_LANG_CHARS = 64

/** White space may make up most of a title: this much is kept before it is collapsed. */
const MAX_RAW_CHARS = 16_384

/** A page may repeat its meta robots and its canonical link; this many are read, and a longer robots list is cut. */
const MAX_REPEATS = 64
const MAX_ROBOTS_CHARS = 4_096

export interface ExtractContext {
  /** The URL that the page came from, after redirects. */
  readonly url: NormalizedUrl
  readonly contentType: string | null
  /** Values of the X-Robots-Tag header. */
  readonly xRobotsTag?: readonly string[]
  /** Our name, for directives that are meant for one robot. */
  readonly productToken: string
  /** Distinct links to keep; `MAX_LINKS` unless told. */
  readonly maxLinks?: number
}

export interface Extracted extends PageFacts {
  /** The encoding's name in the Encoding Standard, in lower case. */
  readonly charset: string
  /** The decoded HTML. */
  readonly text: string
  readonly robots: RobotsDirectives
}

interface PageFacts {
  readonly title: string | null
  readonly description: string | null
  readonly lang: string | null
  readonly canonical: NormalizedUrl | null
  /** In document order, one per URL. */
  readonly links: Link[]
  /** There were more links than were kept. */
  readonly linksTruncated: boolean
}

export function extract(bytes: Uint8Array, context: ExtractContext): Extracted {
  const { text, charset } = decodeBody(bytes, context.contentType)
  const { url, productToken, maxLinks = MAX_LINKS } = context
  const { robotsMetas, ...facts } = readPage(text, { url, charset, productToken, maxLinks })
  const robots = parseDirectives(robotsMetas, context.xRobotsTag ?? [], productToken)
  // A crawl learns nothing from a page that links to itself.
  return { charset, text, robots, ...facts, links: facts.links.filter((link) => link.url !== url) }
}

/**
 * The links of a page whose text is at hand, those to itself among them, at most `MAX_LINKS`; none when `pageUrl` is not
 * an http or https URL. `charset` is the encoding that the text came in: queries are sent in it.
 */
export function extractLinks(html: string, pageUrl: string, charset = 'utf-8'): Link[] {
  const url = normalizeUrl(pageUrl)
  return url === undefined ? [] : readPage(html, { url, charset, productToken: '', maxLinks: MAX_LINKS }).links
}

/** Relations of a `<link>` that lead to pages. */
const PAGE_RELATIONS = new Set(['next', 'prev', 'canonical', 'alternate'])

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
])

interface ReadOptions {
  readonly url: NormalizedUrl
  readonly charset: string
  readonly productToken: string
  readonly maxLinks: number
}

function readPage(html: string, options: ReadOptions): PageFacts & { robotsMetas: string[] } {
  const { productToken } = options
  const context = createHtmlContext()
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

  const readMeta = (attributes: Attributes): void => {
    const content = attributes.get('content')
    if (content === undefined) return
    const pragma = attributes.get('http-equiv')?.toLowerCase()
    if (pragma === 'refresh' && !isInNoscript) {
      const reference = refreshReference(content)
      // Without a URL the page only loads itself anew.
      if (reference !== null && reference !== '') links.add('meta-refresh', reference, [])
    } else if (pragma === 'content-language') {
      contentLanguage ??= pragmaLanguage(content)
    }
    const name = attributes.get('name')?.toLowerCase()
    const property = attributes.get('property')?.toLowerCase() ?? name
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
    // `alternate stylesheet` is a style sheet, not a page.
    if (!rel.some((word) => PAGE_RELATIONS.has(word)) || rel.includes('stylesheet')) return
    if (rel.includes('canonical') && canonicals.length < MAX_REPEATS) canonicals.push(href)
    links.add('link', href, rel)
  }

  readTokens(html, {
    wantsAttributes: (name) => ATTRIBUTES_WANTED.has(name),
    isForeign: () => context.isForeign(),
    openTag(name, attributes, isSelfClosing) {
      const isInert = context.isInert()
      const namespace = context.open(name, attributes, isSelfClosing)
      if (isInert) return true
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
      context.close(name)
    },
    text(piece) {
      if (isInTitle && title !== undefined && title.length < MAX_RAW_CHARS) title += piece.slice(0, MAX_RAW_CHARS)
    },
  })

  const resolved = links.resolve(options.maxLinks)
  let canonical: NormalizedUrl | null = null
  for (const href of canonicals) canonical ??= links.resolveOne(href) ?? null
  return {
    title: (title === undefined ? undefined : bounded(title, MAX_TITLE_CHARS)) ?? ogTitle ?? null,
    description: description ?? ogDescription ?? null,
    lang: lang ?? contentLanguage ?? null,
    canonical,
    links: resolved.links,
    linksTruncated: resolved.truncated,
    robotsMetas,
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

function usableLanguage(value: string | undefined): string | undefined {
  if (value === undefined || value.length > MAX_LANG_CHARS) return undefined
  return bounded(value, MAX_LANG_CHARS)
}

/** The pragma names one language; a list of several names none (HTML Standard §4.2.5.3, content-language state). */
function pragmaLanguage(content: string): string | undefined {
  if (content.includes(',')) return undefined
  return usableLanguage(trimAsciiWhitespace(content).split(/[\t\n\f\r ]/, 1)[0])
}
