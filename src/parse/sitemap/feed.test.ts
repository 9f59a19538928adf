import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LIMITS } from '../../model/index.ts'
import { normalizeUrl } from '../../url/index.ts'
import { FEED_MAX_ENTRIES, MAX_LINKS, parseFeed, parseSitemap, type Feed, type SitemapEntry } from '../index.ts'

const FEED = normalizeUrl('https://example.com/blog/feed.xml')!
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const read = (text: string | Uint8Array, contentType: string | null = null): Feed | null =>
  parseFeed(typeof text === 'string' ? bytesOf(text) : text, contentType, FEED)
const urls = (text: string): string[] | undefined => read(text)?.entries.map(({ url }) => url)

describe('formats', () => {
  test('RSS 2.0', () => {
    const xml = `<?xml version="1.0"?><rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"
      xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel>
      <title> A
        blog </title><link>https://example.com/blog/</link><atom:link rel="self" href="https://example.com/blog/feed.xml"/>
      <image><title>no</title><link>https://example.com/no</link></image>
      <item><title>First &amp; <![CDATA[best]]></title><link>https://example.com/blog/1</link>
        <pubDate>Wed, 01 May 2024 10:00:00 +0200</pubDate><guid isPermaLink="false">x</guid>
        <description>See &lt;a href="2?x=1&amp;amp;y=2"&gt;this&lt;/a&gt;</description>
        <content:encoded><![CDATA[<p><a href="/about">a</a> <a rel=nofollow href="/ad">b</a></p>]]></content:encoded></item>
      <item><guid>https://example.com/blog/2</guid></item>
      </channel></rss>`
    expect(read(xml)).toEqual({
      title: 'A blog',
      entries: [
        { url: 'https://example.com/blog/1', title: 'First & best', modified: '2024-05-01T10:00:00+02:00' },
        { url: 'https://example.com/blog/2' },
      ],
      links: ['https://example.com/blog/', 'https://example.com/blog/2?x=1&y=2', 'https://example.com/about'],
      limits: [],
    })
  })

  test('RSS 0.91 and 1.0', () => {
    expect(
      urls('<rss version="0.91"><channel><title>x</title><item><title>a</title><link>a</link></item></channel></rss>'),
    ).toEqual(['https://example.com/blog/a'])
    const rdf = `<rdf:RDF xmlns:rdf="r" xmlns="http://purl.org/rss/1.0/"><channel rdf:about="c"><title>T</title></channel>
      <item rdf:about="https://example.com/a"><title>a</title></item>
      <item rdf:about="x"><link>https://example.com/b</link><dc:date>2024-05</dc:date></item></rdf:RDF>`
    expect(read(rdf)).toMatchObject({
      title: 'T',
      entries: [
        { url: 'https://example.com/a', title: 'a' },
        { url: 'https://example.com/b', modified: '2024-05' },
      ],
    })
  })

  test('Atom', () => {
    const xml = `<feed xmlns="http://www.w3.org/2005/Atom" xml:base="/x/"><title type="html">A &amp; b</title>
      <link href="home"/><link rel="self" href="self"/><link rel="next" href="?page=2"/>
      <entry><title>One</title><link rel="alternate" type="text/html" href="1"/><link rel="enclosure" href="a.mp3"/>
        <updated>2024-05-01T10:00:00Z</updated><source><title>no</title><link href="no"/></source>
        <content type="html">&lt;a href="c"&gt;x&lt;/a&gt;</content></entry>
      <entry xml:base="https://other.example/y/"><link href="2"/>
        <content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p><a href="d">x</a></p></div></content></entry>
      <entry><content type="text">&lt;a href="no"&gt;</content><summary>&lt;a href="no"&gt;</summary>
        <link xml:base="z/" href="3"/></entry>
      <entry><content src="4"/></entry><entry><id>tag:x</id></entry></feed>`
    expect(read(xml)).toEqual({
      title: 'A & b',
      entries: [
        { url: 'https://example.com/x/1', title: 'One', modified: '2024-05-01T10:00:00Z' },
        { url: 'https://other.example/y/2' },
        { url: 'https://example.com/x/z/3' },
        { url: 'https://example.com/x/4' },
      ],
      links: [
        'https://example.com/x/home',
        'https://example.com/x/?page=2',
        'https://example.com/x/c',
        'https://other.example/y/d',
      ],
      limits: [],
    })
  })

  test('Atom inside RSS, and with a prefix of its own', () => {
    const rss =
      '<rss xmlns:a="x"><channel><a:link rel="next" href="p2"/><item><a:link href="1"/></item></channel></rss>'
    expect(read(rss)).toMatchObject({
      entries: [{ url: 'https://example.com/blog/1' }],
      links: ['https://example.com/blog/p2'],
    })
    const atom =
      '<a:feed><a:title>T</a:title><a:entry><a:title>t</a:title><a:link href="1"/><link href="no"/></a:entry></a:feed>'
    expect(read(atom)).toMatchObject({ title: 'T', entries: [{ url: 'https://example.com/blog/1', title: 't' }] })
  })

  test('JSON Feed', () => {
    const json = JSON.stringify({
      version: 'https://jsonfeed.org/version/1.1',
      title: ' T ',
      home_page_url: 'https://example.com/',
      next_url: '?p=2',
      items: [
        { id: '1', url: '/1', title: 'One', date_published: '2023', date_modified: '2024', content_html: '<a href=x>' },
        { id: 'https://example.com/2', date_published: 'soon' },
        { id: '3', external_url: 'https://other.example/' },
        { id: '4' },
        null,
        'x',
      ],
    })
    expect(read(`\ufeff${json}`)).toEqual({
      title: 'T',
      entries: [
        { url: 'https://example.com/1', title: 'One', modified: '2024' },
        { url: 'https://example.com/2' },
        { url: 'https://other.example/' },
      ],
      links: ['https://example.com/', 'https://example.com/x', 'https://example.com/blog/feed.xml?p=2'],
      limits: [],
    })
  })

  test.each([
    ['a sitemap', '<urlset><url><loc>/a</loc></url></urlset>'],
    ['an HTML page', '<!doctype html><html><feed><entry><link href="/a"/></entry></feed></html>'],
    ['a list', 'https://example.com/a'],
    ['other JSON', '{"items":[{"url":"https://example.com/"}]}'],
    ['broken JSON', '{"version":"https://jsonfeed.org/version/1"'],
    ['nothing', ''],
  ])('%s is no feed', (_, text) => {
    expect(read(text)).toBeNull()
  })

  test.each([
    [
      'latin1 as declared',
      Buffer.from('<?xml version="1.0" encoding="latin1"?><rss><channel><title>é</title>', 'latin1'),
    ],
    ['UTF-16', Buffer.from('\ufeff<rss><channel><title>é</title>', 'utf16le')],
  ])('%s is decoded', (_, bytes) => {
    expect(read(bytes)?.title).toBe('é')
    expect(read(Buffer.from('<rss><channel><title>é</title>', 'latin1'), 'text/xml; charset=latin1')?.title).toBe('é')
  })
})

async function entriesOf(text: string): Promise<SitemapEntry[]> {
  const entries: SitemapEntry[] = []
  for await (const entry of parseSitemap(bytesOf(text), FEED)) entries.push(entry)
  return entries
}

test('the sitemap reader names the same pages, and further parts as sitemaps', async () => {
  const xml = '<feed><link rel="next" href="p2"/><entry><link href="1"/><updated>2024</updated></entry></feed>'
  expect(await entriesOf(xml)).toEqual([
    { loc: 'https://example.com/blog/p2', kind: 'sitemap' },
    { loc: 'https://example.com/blog/1', lastmod: '2024', kind: 'page' },
  ])
  const json = '{"version":"https://jsonfeed.org/version/1","items":[{"url":"/1"}]}'
  expect(await entriesOf(json)).toEqual([{ loc: 'https://example.com/1', kind: 'page' }])
})

describe('hostile feeds', () => {
  test('declared entities are never expanded or loaded', () => {
    const lol = Array.from({ length: 9 }, (_, at) => `<!ENTITY l${at + 1} "${`&l${at};`.repeat(10)}">`).join('')
    const xml = `<!DOCTYPE rss [<!ENTITY l0 "lol"><!ENTITY x SYSTEM "file:///etc/passwd"><!ENTITY % p SYSTEM "http://e/">%p;${lol}]>
      <rss><channel><title>a&l9;&x;b</title><item><link>/&l9;1</link></item></channel></rss>`
    expect(read(xml)).toMatchObject({ title: 'ab', entries: [{ url: 'https://example.com/1' }] })
  })

  test('a base that cannot be one is ignored', () => {
    expect(urls('<feed xml:base="javascript:0"><entry xml:base="http://["><link href="1"/></entry></feed>')).toEqual([
      'https://example.com/blog/1',
    ])
  })

  test('entries, links and titles are bounded, and the feed says so', () => {
    const many = '<entry><link href="1"/></entry>'.repeat(FEED_MAX_ENTRIES + 1)
    expect(read(`<feed>${many}</feed>`)).toMatchObject({
      entries: { length: FEED_MAX_ENTRIES },
      limits: ['feed-entries'],
    })
    const links = Array.from({ length: MAX_LINKS + 1 }, (_, at) => `&lt;a href=${at}>`)
    const halves = [links.slice(0, 15_000), links.slice(15_000)].map(
      (half) => `<description>${half.join('')}</description>`,
    )
    expect(
      read(
        `<rss><channel><item><link>a</link>${halves[0]}</item><item><link>b</link>${halves[1]}</item></channel></rss>`,
      ),
    ).toMatchObject({
      links: { length: MAX_LINKS },
      limits: ['links'],
    })
    const numbered = Array.from({ length: 2_000 }, (_, at) => `<entry><link href="${1_000 + at}"/></entry>`).join('')
    const folder = `http://a.test/${'x'.repeat(4_000)}/`
    const long = read(`<feed xml:base="${folder}">${numbered}</feed>`)
    expect(long).toMatchObject({ limits: ['links-size'] })
    expect(long?.entries).toHaveLength(Math.floor(LIMITS['links-size'].value / `${folder}1000`.length))
    expect(read(`<feed><title>${'x'.repeat(100_000)}</title></feed>`)?.title).toHaveLength(1000)
  })

  test.each([
    ['deep nesting', '<feed><entry>' + '<a>'.repeat(500_000)],
    ['deep bases', '<feed>' + '<x xml:base="y/">'.repeat(200_000)],
    ['bases that alternate', '<feed>' + '<entry xml:base="y/"><link href="?"/></entry>'.repeat(20_000)],
    ['one long text', '<rss><channel><item><description>' + 'x'.repeat(5_000_000)],
    ['an endless doctype', `<!DOCTYPE rss [${'<!ENTITY a "b">'.repeat(200_000)}`],
    ['deep JSON', '{"version":"https://jsonfeed.org/version/1","items":' + '['.repeat(500_000)],
    ['ampersands', '<rss><channel><title>' + '&'.repeat(2_000_000)],
  ])('%s costs no more than its length', (_, text) => {
    expect(read(text)?.entries.length ?? 0).toBeLessThanOrEqual(20_000)
  })

  test('never throws, whatever the text', () => {
    const part = fc.constantFrom(
      ...'<rss>|<feed>|<channel>|<item>|<entry>|</item>|</entry>|<link>|</link>|<link href="/a"/>|<title>|</title>'.split(
        '|',
      ),
      ...'<content type="xhtml">|<description>|</description>|&lt;a href=b>|<a href="c">|<![CDATA[|]]>|<!--|-->|&|"|\0|é'.split(
        '|',
      ),
      ...'<!DOCTYPE|[|]>|<?|?>|<x xml:base="y">|{|}|<guid>|<updated>2024</updated>'.split('|'),
    )
    fc.assert(
      fc.property(fc.array(part, { maxLength: 60 }), fc.uint8Array({ maxLength: 20 }), (parts, bytes) => {
        const feed = read(Buffer.concat([bytesOf(parts.join('')), bytes]))
        for (const { url } of feed?.entries ?? []) expect(url).toMatch(/^https?:\/\//)
      }),
    )
  })
})
