/** What a response says: text, links, title and wishes of an HTML page; the URLs of a sitemap or feed. */
export { bodyHash } from './body-hash.ts'
export { decodeBody, encodingOfBody, type DecodedBody } from './charset/decode-body.ts'
export { decodeText } from './charset/decoders.ts'
export { parseDirectives } from './html/directives.ts'
export { extract, extractLinks, type ExtractContext, type Extracted } from './html/extract.ts'
export { readHeaders, type HeaderContext, type HeaderFacts } from './html/header-facts.ts'
export { parseLinkHeader, type HeaderLink } from './html/link-header.ts'
export { MAX_LINKS, spelledOut, type Link, type LinkLimit, type LinkSource, type PageLinks } from './html/links.ts'
export {
  isNosniff,
  sniffMediaType,
  type MediaKind,
  type SniffedType,
  type SniffOptions,
} from './media/sniff-media-type.ts'
export { FEED_MAX_ENTRIES, parseFeed, type Feed, type FeedEntry, type FeedLimit } from './sitemap/feed.ts'
export {
  parseSitemap,
  SITEMAP_MAX_DECODED_BYTES,
  SITEMAP_MAX_ENTRIES,
  type SitemapEntry,
  type SitemapOptions,
  type SitemapReading,
} from './sitemap/sitemap.ts'
