/**
 * What the headers of an answer say about its page, whatever the media type: X-Robots-Tag, Link, Content-Language and
 * the TDM headers. For an HTML page, `extract` puts this together with what the page says.
 */
import type { NormalizedUrl, RobotsDirectives, TdmReservation } from '../../model/index.ts'
import { createResolver } from '../../url/index.ts'
import { parseDirectives } from './directives.ts'
import { languageOfList } from './language.ts'
import { parseLinkHeader } from './link-header.ts'
import {
  canonicalOf,
  createLinkCollector,
  MAX_LINKS,
  targetOfRelation,
  type LinkSource,
  type PageLinks,
} from './links.ts'
import { tdmOf } from './tdm.ts'

export interface HeaderContext {
  /** The URL that the page came from, after redirects. */
  readonly url: NormalizedUrl
  /** Our name, for directives that are meant for one robot. */
  readonly productToken: string
  /** Values of the X-Robots-Tag header. */
  readonly xRobotsTag?: readonly string[]
  /** Values of the Link header. */
  readonly link?: readonly string[]
  readonly contentLanguage?: string | null
  readonly tdmReservation?: string | null
  readonly tdmPolicy?: string | null
}

export interface HeaderFacts {
  readonly robots: RobotsDirectives
  readonly lang: string | null
  readonly canonical: NormalizedUrl | null
  readonly tdm: TdmReservation | null
  readonly links: PageLinks
}

export function readHeaders(context: HeaderContext): HeaderFacts {
  const { url, productToken } = context
  const named = readHeaderLinks(context.link ?? [], url)
  const collector = createLinkCollector(url, 'utf-8')
  for (const link of named.links) collector.add(link.source, link.url, link.rel)
  return {
    robots: parseDirectives([], context.xRobotsTag ?? [], productToken),
    lang: languageOfList(context.contentLanguage) ?? null,
    canonical: canonicalOf(named.canonicals),
    tdm: tdmOf([{ reservation: context.tdmReservation, policy: context.tdmPolicy }], url),
    links: collector.resolve(MAX_LINKS, url).links,
  }
}

export interface HeaderLinks {
  readonly canonicals: readonly NormalizedUrl[]
  readonly links: readonly {
    readonly url: NormalizedUrl
    readonly rel: readonly string[]
    readonly source: LinkSource
  }[]
}

export const NO_HEADER_LINKS: HeaderLinks = { canonicals: [], links: [] }

/** The links of a header are relative to the URL of the answer, whatever a `<base>` in the page says (RFC 8288 §3.2). */
export function readHeaderLinks(values: readonly string[], url: NormalizedUrl): HeaderLinks {
  if (values.length === 0) return NO_HEADER_LINKS
  const resolve = createResolver(url)
  const canonicals: NormalizedUrl[] = []
  const links: HeaderLinks['links'][number][] = []
  for (const { reference, rel, type } of parseLinkHeader(values)) {
    const target = targetOfRelation(rel, type)
    const resolved = target === undefined ? undefined : resolve(reference)
    if (resolved === undefined) continue
    if (rel.includes('canonical')) canonicals.push(resolved)
    links.push({ url: resolved, rel, source: target === 'feed' ? 'feed' : 'link-header' })
  }
  return { canonicals, links }
}
