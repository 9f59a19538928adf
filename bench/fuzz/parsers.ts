/** The parsers that read what strangers wrote, each with inputs to begin from and the pieces of its language. */
import { gzipSync } from 'node:zlib'
import {
  decodeBody,
  extract,
  parseDirectives,
  parseFeed,
  parseLinkHeader,
  parseSitemap,
  sniffMediaType,
} from '../../src/parse/index.ts'
import { parseRobots } from '../../src/robots/index.ts'
import { createResolver, normalizeUrl, urlKey } from '../../src/url/index.ts'
import type { NormalizedUrl } from '../../src/model/index.ts'

export interface FuzzedParser {
  readonly name: string
  /** How the names of files to begin from end. */
  readonly files: RegExp
  readonly inputs: readonly (string | Uint8Array)[]
  /** Inserted, and repeated: what nests, opens and never closes. */
  readonly words: readonly string[]
  /** Longer inputs are cut: what its caller has never more of. */
  readonly maxBytes: number
  /** Where it is not 50: what is packed may be unpacked to a thousand times as much. */
  readonly maxMsPer100Kb?: number
  run(bytes: Uint8Array): void | Promise<void>
}

const PAGE = 'https://example.com/dir/page?q=1' as NormalizedUrl
const MAX_DOCUMENT_BYTES = 400_000
const text = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')

/** `|` stands between them. */
const pieces = (text: string): string[] => text.split('|')

const XML_WORDS = pieces(
  '<|>|</|/>|<!--|-->|<![CDATA[|]]>|<?|?>|<!DOCTYPE x [|]>|&|&amp;|&#x|;|"|\'|=|' +
    ' xml:base="y/"| href="|<x>|</x>|<!ENTITY a "b">|\0|\ufeff| |\n',
)

async function readSitemap(bytes: Uint8Array): Promise<void> {
  for await (const _ of parseSitemap(bytes, PAGE));
}

const SITEMAPS = [
  '<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>https://example.com/a' +
    '</loc><lastmod>2024-05-01</lastmod><image:image><image:loc>/i</image:loc></image:image></url></urlset>',
  '<sitemapindex><sitemap><loc>/s.xml.gz</loc></sitemap></sitemapindex>',
  'https://example.com/a\nhttps://example.com/b\n',
]

export const PARSERS: readonly FuzzedParser[] = [
  {
    name: 'robots',
    files: /robots.*\.txt$/,
    inputs: [
      'User-agent: *\nDisallow: /a/*b$\nAllow: /a/\nCrawl-delay: 1.5\nSitemap: https://example.com/s.xml\n',
      'User-agent: Tiptoe\nUser-agent: x\nContent-Signal: search=yes, ai-train=no\nContent-Usage: /a* train-ai=n\n',
    ],
    words: pieces('User-agent: |Disallow: |Allow: |*|$|/|%2F|%|\n|\r|#|:|Content-Signal: |=no,|\0|é'),
    maxBytes: 600_000,
    run(bytes) {
      const robots = parseRobots(bytes)
      for (const url of ['/', '/a/xb', `/${'ab/'.repeat(2_000)}`, '/%2F?a*$']) {
        robots.check('Tiptoe', url)
        robots.contentSignals('Tiptoe', url)
      }
      robots.crawlDelayMs('x')
    },
  },
  {
    name: 'url',
    files: /\.urls$/,
    inputs: [
      'https://user:pass@example.com:8080/a/../b/./c?x=1&y=2#f',
      '//b.example/ä?ö',
      '../../x',
      '?q',
      'http://[::1]/',
      'http://0x7f.1/%zz',
    ],
    words: pieces('/|..|/../|./|?|#|%|%2e|:|@|[|]|\\|http://|\t| |é|xn--|\0|&|='),
    maxBytes: 70_000,
    run(bytes) {
      const reference = text(bytes)
      normalizeUrl(reference)
      createResolver(PAGE)(reference)
      urlKey(reference)
    },
  },
  {
    name: 'html',
    files: /\.html?$/,
    inputs: [
      '<!DOCTYPE html><html lang=en><head><title>T &amp; t</title><meta name=robots content="noindex"><link rel=canonical href=c>' +
        '<script type="application/ld+json">{"@type":"Article","datePublished":"2024-05-01"}</script></head><body><p>text ' +
        '<a href="x?y=1&amp;z" rel="nofollow ugc">l</a><svg><a xlink:href=y /><![CDATA[x]]></svg><template><a href=z></template>',
    ],
    words: pieces(
      '<a href="|">|<|>|</|<svg>|<math>|<template>|<title>|<!--|-->|<![CDATA[|]]>|<script>|' +
        '</script>|<meta name=robots content="|<link rel=canonical href=|&|&#|&notin|"|\'|=| |\0|' +
        '<div |<script type=application/ld+json>[|{"@graph":[|<time datetime=|<base href=|' +
        '<plaintext>|<meta charset=x>|<font ',
    ),
    maxBytes: MAX_DOCUMENT_BYTES,
    run(bytes) {
      extract(bytes, { url: PAGE, contentType: 'text/html', productToken: 'Tiptoe' })
    },
  },
  {
    name: 'sitemap',
    files: /sitemap.*\.xml$/,
    inputs: SITEMAPS,
    words: [...XML_WORDS, ...pieces('<url>|</url>|<loc>|</loc>|<urlset>|https://example.com/')],
    maxBytes: MAX_DOCUMENT_BYTES,
    run: readSitemap,
  },
  {
    name: 'sitemap.gz',
    files: /\.xml\.gz$/,
    inputs: SITEMAPS.map((text) => gzipSync(text.repeat(100))),
    words: pieces('\x1f\x8b\x08|\0|\xff|\0\0\0\xff\xff'),
    maxBytes: MAX_DOCUMENT_BYTES,
    maxMsPer100Kb: 500,
    run: readSitemap,
  },
  {
    name: 'feed',
    files: /\.(?:rss|atom|xml)$/,
    inputs: [
      '<rss version="2.0"><channel><title>T</title><link>/</link><item><title>t</title><link>/1</link><guid>x</guid><pubDate>Wed, 01 May ' +
        '2024 10:00:00 GMT</pubDate><description>&lt;a href="x"&gt;</description></item></channel></rss>',
      '<feed xmlns="http://www.w3.org/2005/Atom" xml:base="/x/"><entry><title>t</title><link href="1"/><updated>2024</updated><content ' +
        'type="xhtml"><div><a href="d">x</a></div></content></entry></feed>',
      '{"version":"https://jsonfeed.org/version/1","items":[{"url":"/1","title":"t","content_html":"<a href=x>"}]}',
    ],
    words: [
      ...XML_WORDS,
      ...pieces('<item>|</item>|<entry>|</entry>|<link href="1"/>|<description>|<content type="html">|{|[|"items":['),
    ],
    maxBytes: MAX_DOCUMENT_BYTES,
    run(bytes) {
      parseFeed(bytes, null, PAGE)
    },
  },
  {
    name: 'headers',
    files: /\.headers$/,
    inputs: [
      '<a>; rel="next prev"; title="x, y", </b>; rel=canonical; type=text/html',
      'text/html; charset="utf-8", text/plain;charset=x',
      'googlebot: noindex, tiptoe: nofollow, unavailable_after: 25 Jun 2010 15:00:00 PST',
    ],
    words: pieces('<|>|;|,|"|\\|=| |\t|rel|charset|:|text/html|*/*|noindex|tiptoe:|\0|é'),
    maxBytes: 100_000,
    run(bytes) {
      const value = text(bytes)
      parseLinkHeader([value, value])
      parseDirectives([value], [value], 'Tiptoe')
      sniffMediaType(value, bytes)
    },
  },
  {
    name: 'charset',
    files: /\.(?:html?|txt|xml)$/,
    inputs: [
      '<meta charset=gb18030>text',
      '<?xml version="1.0" encoding="utf-16"?><x>',
      '<meta http-equiv=content-type content="text/html; charset=big5">',
    ],
    words: pieces(
      '<meta |charset|=|"|>|<!--|\xff\xfe|\xfe\xff|\xef\xbb\xbf|\x1b$B|\x81\x30|iso-2022-jp|\0|<?xml encoding=',
    ),
    maxBytes: MAX_DOCUMENT_BYTES,
    run(bytes) {
      decodeBody(bytes, null)
      decodeBody(bytes, 'text/xml')
    },
  },
]
