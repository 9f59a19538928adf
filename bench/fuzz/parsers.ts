/** The parsers that read what strangers wrote, each with inputs to begin from and the pieces of its language. */
import { gzipSync } from 'node:zlib'
import {
  decodeBody,
  extract,
  parseDirectives,
  parseFeed,
  parseLinkHeader,
  parseSitemap,
  SITEMAP_MAX_DECODED_BYTES,
  sniffMediaType,
} from '../../src/parse/index.ts'
import { readContent } from '../../src/content/index.ts'
import { parseSetCookie } from '../../src/fetch/set-cookie.ts'
import type { NormalizedUrl } from '../../src/model/index.ts'
import { readSitemapText } from '../../src/parse/sitemap/sitemap-text.ts'
import { longestRetryAfter } from '../../src/politeness/index.ts'
import { parseRobots } from '../../src/robots/index.ts'
import { createResolver, normalizeUrl, urlKey } from '../../src/url/index.ts'
import { compareAnswers } from './answers.ts'
import { compareTokens } from './html-tokens.ts'

export interface FuzzedParser {
  readonly name: string
  /** How the names of files to begin from end. */
  readonly files: RegExp
  readonly inputs: readonly (string | Uint8Array)[]
  /** Inserted, and repeated: what nests, opens and never closes. */
  readonly words: readonly string[]
  /** Longer inputs are cut: what its caller has never more of. */
  readonly maxBytes: number
  /** Where it is not 50. */
  readonly maxMsPer100Kb?: number
  /** How much there is to read, where it is packed. */
  bytesIn?(bytes: Uint8Array): Promise<number>
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

async function unpackedBytes(bytes: Uint8Array): Promise<number> {
  let size = 0
  for await (const { length } of readSitemapText(bytes, null, SITEMAP_MAX_DECODED_BYTES).pieces) size += length
  return size
}

const SITEMAPS = [
  '<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>https://example.com/a' +
    '</loc><lastmod>2024-05-01</lastmod><image:image><image:loc>/i</image:loc></image:image></url></urlset>',
  '<sitemapindex><sitemap><loc>/s.xml.gz</loc></sitemap></sitemapindex>',
  'https://example.com/a\nhttps://example.com/b\n',
]

const PAGES = [
  '<!DOCTYPE html><html lang=en><head><title>T &amp; t</title><meta name=robots content="noindex"><link rel=canonical href=c>' +
    '<script type="application/ld+json">{"@type":"Article","datePublished":"2024-05-01"}</script></head><body><p>text ' +
    '<a href="x?y=1&amp;z" rel="nofollow ugc">l</a><svg><a xlink:href=y /><![CDATA[x]]></svg><template><a href=z></template>',
  '<nav><ul><li><a href=/>Home</a></ul></nav><main><h1>T</h1><p>One <b>two</b> <code>three</code>.</p><pre><code class="language-c">' +
    'int x;\n</code></pre><table><tr><th>a<th>b<tr><td>1<td>2</table><ol><li>x<ul><li>y</ul></ol><blockquote>q</blockquote></main>',
]
const HTML_WORDS = pieces(
  '<a href="|">|<|>|</|<svg>|<math>|<template>|<title>|<!--|-->|--!>|<!|<?|<![CDATA[|]]>|<script>|' +
    '</script>|<script|<style>|</style>|<textarea>|</textarea|<meta name=robots content="|<link rel=canonical href=|' +
    '&|&#|&notin|&#x1f600;|"|\'|=| |\n|\r|\f|\0|/>|<A HREF=|<!DOCTYPE |' +
    '<div |<script type=application/ld+json>[|{"@graph":[|<time datetime=|<base href=|' +
    '<plaintext>|<meta charset=x>|<font |<noscript>|<iframe>|\xc3\xa9|\xff',
)
const CONTENT_WORDS = pieces(
  '<p>|</p>|<div>|</div>|<table>|<tr>|<td>|<td colspan=9>|</table>|<ul>|<ol start=9>|<li>|</ul>|<h1>|<h2>|</h2>|<pre>|</pre>|' +
    '<code>|</code>|<b>|<i>|</b>|</i>|<blockquote>|<br>|<hr>|<dl>|<dt>|<dd>|*|_|`|[|](|#|\\||<img alt="|<main>|<nav>|<footer>|' +
    '<section>|<article>|<sup>|<details>|<summary>|<select>|<option>|. |, |\xe4\xb8\xad|\xf0\x9f\x98\x80',
)

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
    inputs: PAGES,
    words: HTML_WORDS,
    maxBytes: MAX_DOCUMENT_BYTES,
    run(bytes) {
      extract(bytes, { url: PAGE, contentType: 'text/html', productToken: 'Tiptoe' })
    },
  },
  {
    name: 'html-tokens',
    files: /\.html?$/,
    inputs: PAGES,
    words: HTML_WORDS,
    maxBytes: MAX_DOCUMENT_BYTES,
    // parse5 takes most of it.
    maxMsPer100Kb: Infinity,
    run: compareTokens,
  },
  {
    name: 'content',
    files: /\.html?$/,
    inputs: PAGES,
    words: [...HTML_WORDS, ...CONTENT_WORDS],
    maxBytes: MAX_DOCUMENT_BYTES,
    run(bytes) {
      readContent(text(bytes), { url: PAGE, title: 'T' })
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
    bytesIn: unpackedBytes,
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
      parseSetCookie(value, { secure: true, path: '/', now: 0 })
      longestRetryAfter([value], 0)
    },
  },
  {
    name: 'answer',
    files: /\.http$/,
    inputs: [
      'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\nSet-Cookie: a=b\r\n\r\nhello',
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x="y"\r\nhello\r\n0\r\nA: b\r\n\r\n',
      'HTTP/1.0 404 Not Found\nA: b\n c\nConnection: keep-alive\n\nnothing',
    ],
    words: pieces(
      'HTTP/1.1 200 OK\r\n|HTTP/1.1 100 C\r\n\r\n|HTTP/|Content-Length: |Transfer-Encoding: chunked\r\n|Connection: close\r\n|' +
        'A: b\r\n| c\r\n|\r\n|\r|\n|\r\n\r\n|5\r\nhello\r\n|1\r\nx\r\n|0\r\n|;x=y|\0| |:|ffffffffffffffff\r\n|-1',
    ),
    maxBytes: MAX_DOCUMENT_BYTES,
    run: compareAnswers,
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
