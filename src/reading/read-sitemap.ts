/** A sitemap or feed: what it names, in columns. Which of it belongs to the crawl is left to others. */
import { contentHash } from '../content/index.ts'
import type { NormalizedUrl } from '../model/index.ts'
import { parseSitemap } from '../parse/index.ts'
import type { SitemapContents, SitemapInput } from './document.ts'

export async function readSitemap(input: SitemapInput): Promise<SitemapContents> {
  const { body, url, headers, knownHash } = input
  const hash = contentHash(body)
  const urls: NormalizedUrl[] = []
  const isSitemap: boolean[] = []
  const modifiedAt: number[] = []
  const entries = parseSitemap(body, url, { contentType: headers['content-type']?.join(', ') ?? null })
  if (hash !== knownHash) {
    for await (const entry of entries) {
      urls.push(entry.loc)
      isSitemap.push(entry.kind === 'sitemap')
      modifiedAt.push(entry.lastmod === undefined ? NaN : Date.parse(entry.lastmod))
    }
  }
  return {
    kind: 'sitemap',
    contentHash: hash,
    urls,
    isSitemap: Uint8Array.from(isSitemap, Number),
    modifiedAt: Float64Array.from(modifiedAt),
    limits: entries.truncated ? ['sitemap-size'] : [],
  }
}
