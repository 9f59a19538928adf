import { constants, gunzipSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseSitemap, SITEMAP_MAX_DECODED_BYTES, type SitemapEntry, type SitemapOptions } from '../index.ts'

const URL = 'https://example.com/dir/sitemap.xml'
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

async function read(
  input: string | Uint8Array | AsyncIterable<Uint8Array>,
  options?: SitemapOptions,
): Promise<SitemapEntry[]> {
  return collect(parseSitemap(typeof input === 'string' ? bytesOf(input) : input, URL, options))
}
const locs = async (input: Parameters<typeof read>[0]): Promise<string[]> => (await read(input)).map(({ loc }) => loc)
const page = (path: string) => ({ loc: `https://example.com/${path}`, kind: 'page' })
const urlset = (...paths: string[]): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` +
  paths.map((path) => `<url><loc>https://example.com/${path}</loc></url>`).join('\n') +
  '</urlset>'

async function collect(reading: AsyncIterable<SitemapEntry>): Promise<SitemapEntry[]> {
  const entries: SitemapEntry[] = []
  for await (const entry of reading) entries.push(entry)
  return entries
}

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

describe('formats', () => {
  test('a urlset gives pages with their dates', async () => {
    const xml = `<urlset>
      <url><loc>
        https://example.com/a </loc><lastmod>2024-02-29</lastmod><priority>1</priority></url>
      <url><lastmod> 2024-01-01T10:00:00+02:00 </lastmod><loc>https://example.com/b</loc></url>
      <url><loc>https://example.com/c</loc><lastmod>yesterday</lastmod></url></urlset>`
    expect(await read(xml)).toEqual([
      { ...page('a'), lastmod: '2024-02-29' },
      { ...page('b'), lastmod: '2024-01-01T10:00:00+02:00' },
      page('c'),
    ])
  })

  test('a sitemap index gives sitemaps', async () => {
    const xml =
      '<sitemapindex><sitemap><loc>https://example.com/1.xml.gz</loc><lastmod>2024</lastmod></sitemap></sitemapindex>'
    expect(await read(xml)).toEqual([{ loc: 'https://example.com/1.xml.gz', lastmod: '2024', kind: 'sitemap' }])
  })

  test('RSS 2.0 gives the links of its items', async () => {
    const xml = `<rss version="2.0" xmlns:atom="a" xmlns:dc="d"><channel><link>https://example.com/</link>
      <atom:link href="https://example.com/feed" rel="self"/>
      <item><atom:link href="https://example.com/no"/><link><![CDATA[https://example.com/a?x=1&y=2]]></link>
      <pubDate>Mon, 01 Jan 2024 00:00:00 GMT</pubDate><dc:date>2024-01-01</dc:date></item>
      <item><guid isPermaLink="false">https://example.com/b</guid><pubDate>yesterday</pubDate></item>
      <item><guid>c</guid></item><item><guid>https://example.com/no</guid><link>/d</link></item></channel></rss>`
    expect(await read(xml)).toEqual([{ ...page('a?x=1&y=2'), lastmod: '2024-01-01' }, page('b'), page('d')])
  })

  test('RSS 1.0 gives the links of its items', async () => {
    const xml = `<rdf:RDF xmlns:rdf="r" xmlns="p"><channel><link>https://example.com/</link></channel>
      <item rdf:about="x"><link>https://example.com/a</link></item></rdf:RDF>`
    expect(await read(xml)).toEqual([page('a')])
  })

  test('Atom gives the alternates of its entries', async () => {
    const xml = `<feed xmlns="http://www.w3.org/2005/Atom"><link href="https://example.com/"/>
      <entry><link rel="enclosure" href="/no"/><link title='a > b' rel='alternate' href='/a?x=1&amp;y=2'/>
      <updated>2024-01-01T00:00:00Z</updated><content><link href="/no"/></content></entry>
      <entry><link href="/b" /></entry>
      <entry><issued>2023</issued><modified>2024</modified><link href="/c" /></entry></feed>`
    expect(await read(xml)).toEqual([
      { ...page('a?x=1&y=2'), lastmod: '2024-01-01T00:00:00Z' },
      page('b'),
      { ...page('c'), lastmod: '2024' },
    ])
  })

  test('a plain list gives a URL a line, and nothing else', async () => {
    const text =
      '\ufeffhttps://example.com/a\r\nNot Found\r\n\n  HTTP://example.com/b  \nexample.com/c\nhttps://example.com/d'
    expect(await locs(text)).toEqual(['https://example.com/a', 'http://example.com/b', 'https://example.com/d'])
  })

  test('prefixed elements count by the prefix of the root', async () => {
    const xml = `<sm:urlset xmlns:sm="s"><sm:url><loc>https://example.com/no</loc><sm:loc>https://example.com/a</sm:loc>
      <sm:lastmod>2024-05</sm:lastmod></sm:url></sm:urlset>`
    expect(await read(xml)).toEqual([{ ...page('a'), lastmod: '2024-05' }])
  })

  test('extensions are read past', async () => {
    const xml = `<urlset><url><image:image><image:loc>https://example.com/i.png</image:loc><loc>https://example.com/no</loc>
      </image:image><image:loc>https://example.com/no</image:loc><xhtml:link rel="alternate" hreflang="de" href="/de"/>
      <loc>https://example.com/a</loc><video:video><lastmod>2020</lastmod></video:video>
      <news:news><news:publication_date>2020</news:publication_date><news:title>x</news:title></news:news>
      <mobile:mobile/><PageMap xmlns="x"><DataObject><loc>https://example.com/no</loc></DataObject></PageMap></url></urlset>`
    expect(await read(xml)).toEqual([page('a')])
  })

  test('a relative loc is resolved against the sitemap', async () => {
    expect(await locs('<urlset><url><loc>a</loc></url><url><loc>/b</loc></url></urlset>')).toEqual([
      'https://example.com/dir/a',
      'https://example.com/b',
    ])
  })

  test("a loc that begins with the sitemap's host lacks its scheme", async () => {
    const xml = `<urlset><url><loc>example.com/a</loc></url><url><loc>WWW.example.com?b</loc></url>
      <url><loc>example.company/c</loc></url></urlset>`
    expect(await locs(xml)).toEqual([
      'https://example.com/a',
      'https://www.example.com/?b',
      'https://example.com/dir/example.company/c',
    ])
  })

  test.each([
    ['an HTML page', '<!DOCTYPE html><html><body><url><loc>https://example.com/</loc></url></body></html>'],
    ['HTML without a doctype', '<html><a href="https://example.com/">x</a></html>'],
    ['an error message', 'Not found'],
    ['nothing', ''],
    ['white space', ' \n '],
    ['other schemes', '<urlset><url><loc>ftp://example.com/</loc></url><url><loc>javascript:1</loc></url></urlset>'],
    ['entries without a loc', '<urlset><url><lastmod>2024</lastmod></url><url><loc> </loc></url><url/></urlset>'],
  ])('%s gives nothing', async (_, text) => {
    expect(await read(text)).toEqual([])
  })
})

describe('markup', () => {
  test('predefined and numeric references are decoded, others stay', async () => {
    const xml = '<urlset><url><loc>/?a&amp;b&#38;c&#x26;d&apos;&lt;&gt;&quot;&nbsp;&#0;&#xD800;</loc></url></urlset>'
    expect(await locs(xml)).toEqual([new globalThis.URL('/?a&b&c&d\'<>"&nbsp;\ufffd\ufffd', URL).href])
  })

  test('where entities may be declared, a reference to one stands for nothing', async () => {
    const xml = `<!DOCTYPE urlset SYSTEM "https://example.com/x.dtd"><urlset><url><loc>&x;</loc></url>
      <url><loc>/a&x;&amp;&é.1;b&#38;&-;</loc></url></urlset>`
    expect(await locs(xml)).toEqual(['https://example.com/a&b&&-;'])
    const feed = '<!DOCTYPE feed><feed><entry><link href="/a&x;?b&amp;c"/></entry></feed>'
    expect(await locs(feed)).toEqual(['https://example.com/a?b&c'])
  })

  test('declared entities are never expanded', async () => {
    const lol = Array.from({ length: 9 }, (_, at) => `<!ENTITY l${at + 1} "${`&l${at};`.repeat(10)}">`).join('')
    const xml = `<?xml version="1.0"?><!DOCTYPE urlset [<!ENTITY l0 "lol>"><!ENTITY x SYSTEM 'file:///etc/passwd'>${lol}]>
      <urlset><url><loc>/&l9;&x;</loc></url></urlset>`
    expect(await locs(xml)).toEqual(['https://example.com/'])
  })

  test.each([
    ['comments with quotes', `<!-- don't --><!ENTITY a "b">`],
    ['comments with brackets', '<!-- ]> <urlset> --><?x ]> "?>'],
    ['parameter entities', `<!ENTITY % p SYSTEM 'http://example.com/x.dtd'> %p; <!ENTITY q "%p;">`],
    ['conditional sections', '<![IGNORE[ <!ENTITY x ">"> ]]>'],
    ['ten megabytes', '<!ENTITY a "aaaaaaaaaaaaaaaa">'.repeat(350_000)],
    ['quadratic blow-up', `<!ENTITY a "${'a'.repeat(100_000)}">`],
  ])('a DOCTYPE may hold %s', async (_, declarations) => {
    const xml = `<!DOCTYPE urlset [${declarations}]><urlset><url><loc>/b${'&a;'.repeat(1000)}</loc></url></urlset>`
    expect(await read(xml)).toEqual([page('b')])
    if (xml.length < 10_000)
      for (let size = 1; size < 9; size++) expect(await read(inPieces(bytesOf(xml), size))).toEqual([page('b')])
  })

  test.each([
    ['a comment', '<loc>/a<!-- b --></loc>', 'a'],
    ['an instruction', '<loc>/a<?x y?></loc>', 'a'],
    ['CDATA and text', '<loc>/<![CDATA[a]]>b</loc>', 'ab'],
    ['line breaks', '<loc>\n\t/a\r\n</loc>', 'a'],
    ['attributes', '<loc x="y" >/a</loc >', 'a'],
    ['a no-break space around it', '<loc>\u00a0/a\u00a0</loc>', 'a'],
  ])('a loc may hold %s', async (_, loc, path) => {
    expect(await read(`<urlset><url>${loc}</url></urlset>`)).toEqual([page(path)])
  })

  test('XInclude, XSLT and external references load nothing', async () => {
    const xml = `<?xml-stylesheet type="text/xsl" href="http://example.com/x.xsl"?>
      <urlset xmlns:xi="http://www.w3.org/2001/XInclude" xsi:schemaLocation="http://example.com/x.xsd">
      <xi:include href="http://example.com/other.xml"/><url><loc>/a</loc></url></urlset>`
    expect(await read(xml)).toEqual([page('a')])
  })

  test('UTF-7 is no encoding, and what is written in it no markup', async () => {
    const xml = '+ADw-urlset+AD4APA-url+AD4APA-loc+AD4-/a+ADw-/loc+AD4-'
    expect(await read(xml, { contentType: 'text/xml; charset=utf-7' })).toEqual([])
    expect(await read(`<?xml version="1.0" encoding="utf-7"?><urlset><url><loc>/a</loc></url>${xml}</urlset>`)).toEqual(
      [page('a')],
    )
  })

  test('comments, instructions and CDATA may hold markup', async () => {
    const xml = `<?xml-stylesheet href="<urlset>"?><!-- <rss> --><urlset><!-- <url><loc>/no</loc></url> -->
      <url><loc><![CDATA[/a?<b>&amp;]]]]><![CDATA[>]]></loc></url></urlset>`
    expect(await locs(xml)).toEqual([new globalThis.URL('/a?<b>&amp;]]>', URL).href])
  })

  test.each([
    ['cut off after a loc', '<urlset><url><loc>/a</loc></url><url><loc>/b</loc><lastm', ['a', 'b']],
    ['cut off inside a loc', '<urlset><url><loc>/a</loc></url><url><loc>/b', ['a']],
    ['an end tag missing', '<urlset><url><loc>/a</url><url><loc>/b</loc></url></urlset>', ['a', 'b']],
    ['a stray end tag', '<urlset></x><url></y><loc>/a</loc></url></urlset>', ['a']],
    ['a bare ampersand', '<urlset><url><loc>/?a&b</loc></url></urlset>', ['?a&b']],
    ['an element inside the loc', '<urlset><url><loc>/a<b>x</b></loc></url></urlset>', ['a']],
    ['two locs', '<urlset><url><loc>/a</loc><loc>/b</loc></url></urlset>', ['a', 'b']],
    ['no loc', '<urlset><url> https://example.com/a </url><url>/b</url></urlset>', ['a']],
    ['an element around the URL', '<urlset><url><loc> <url>/a</url></loc></url></urlset>', ['a']],
    ['an included file', '<urlset><url><loc><xi:include href="file:///etc/passwd"/></loc></url></urlset>', []],
    ['cut off in the end of a loc', '<urlset><url><loc>/a</lo', ['a']],
    ['cut off in the end of another', '<urlset><url><loc>/a</x', []],
    ['text after the end', '<urlset><url><loc>/a</loc></url></urlset><urlset><url><loc>/b</loc></url></urlset>', ['a']],
  ])('%s: what can be read is read', async (_, xml, paths) => {
    expect(await locs(xml)).toEqual(paths.map((path) => `https://example.com/${path}`))
  })

  test('a date belongs to the loc before it', async () => {
    const xml = `<sitemapindex><sitemap><loc>/a</loc><lastmod>2004</lastmod><loc>/b</loc><loc>/c</loc>
      <lastmod>2005</lastmod></sitemap></sitemapindex>`
    expect((await read(xml)).map(({ lastmod }) => lastmod)).toEqual(['2004', undefined, '2005'])
  })

  test('any split into pieces, packed or not, gives the same entries', async () => {
    const xml = `<?xml version="1.0"?><!DOCTYPE u [<!ENTITY a "b>">]><!-- - --><urlset><url><loc>/é?a&amp;b</loc>
      <lastmod>2024</lastmod></url><url><loc><![CDATA[/x]]]></loc><image:image x='>'/></url></urlset>`
    const whole = await read(xml)
    expect(whole).toHaveLength(2)
    for (const bytes of [bytesOf(xml), gzipSync(xml)]) {
      for (let size = 1; size < 12; size++) expect(await read(inPieces(bytes, size))).toEqual(whole)
    }
  })

  test('never throws, whatever the bytes', async () => {
    const part = fc.constantFrom(
      '<urlset>',
      '<url>',
      '<loc>',
      '/a',
      '</loc>',
      '</url>',
      '<',
      '>',
      '<!',
      '<!--',
      ']]>',
      '<![CDATA[',
      '&',
      '&#',
      "'",
      '"',
      '<?',
      '/',
      'é',
      '\0',
    )
    await fc.assert(
      fc.asyncProperty(fc.array(part), fc.uint8Array(), async (parts, bytes) => {
        await read(Buffer.concat([bytesOf(parts.join('')), bytes]))
        await read(Buffer.concat([Uint8Array.of(0x1f, 0x8b, 8), bytes]))
      }),
    )
  })

  test.each([
    ['deep nesting', '<urlset>' + '<a>'.repeat(1_000_000)],
    ['stray ends', '<urlset>' + '</a>'.repeat(1_000_000)],
    ['a tag without an end', '<urlset><url x="' + '>'.repeat(3_000_000)],
    ['attributes without values', '<feed><entry>' + `<link ${'a='.repeat(30_000)}/>`.repeat(50)],
    ['one long loc', '<urlset><url><loc>' + 'x'.repeat(3_000_000)],
    ['one long line', 'https://example.com/' + 'x'.repeat(3_000_000)],
    ['ampersands', '<urlset><url><loc>' + '&'.repeat(3_000_000)],
  ])('%s costs no more than its length', async (_, text) => {
    expect(await read(text)).toEqual([])
  })
})

describe('encodings', () => {
  const xml = '<urlset><url><loc>/é</loc></url></urlset>'
  const found = [page('%C3%A9')]
  test.each([
    ['UTF-8', bytesOf(xml)],
    ['UTF-8 with a mark', bytesOf('\ufeff' + xml)],
    ['UTF-16 with a mark', Buffer.from('\ufeff' + xml, 'utf16le')],
    ['UTF-16 without one', Buffer.from(xml, 'utf16le')],
    ['big-endian UTF-16', Buffer.from(`<?xml version="1.0"?>${xml}`, 'utf16le').swap16()],
    ['latin1 after blank lines', Buffer.from(`\n \n<?xml version="1.0" encoding="ISO-8859-1"?>${xml}`, 'latin1')],
    ['latin1 as declared', Buffer.from(`<?xml version="1.0" encoding="ISO-8859-1"?>${xml}`, 'latin1')],
  ])('%s', async (_, bytes) => {
    expect(await read(bytes)).toEqual(found)
  })

  test('the header goes before the declaration', async () => {
    const bytes = Buffer.from(`<?xml version="1.0" encoding="utf-8"?>${xml}`, 'latin1')
    expect(await read(bytes, { contentType: 'text/xml; charset=latin1' })).toEqual(found)
  })
})

describe('gzip', () => {
  const xml = urlset(...Array.from({ length: 2000 }, (_, at) => `${at}`))

  test('is unpacked by its first bytes, twice at the most', async () => {
    const once = gzipSync(xml)
    const twice = gzipSync(once)
    expect(await read(once)).toHaveLength(2000)
    expect(await read(twice)).toHaveLength(2000)
    expect(await read(gzipSync(twice))).toEqual([])
  })

  test('that is cut off gives all that can be unpacked', async () => {
    const packed = gzipSync(xml)
    for (const end of [20, 300, 1024, 3000, packed.length - 9]) {
      const cut = packed.subarray(0, end)
      const unpacked = gunzipSync(cut, { finishFlush: constants.Z_SYNC_FLUSH })
      expect(await read(cut)).toEqual(await read(unpacked))
      expect(await read(inPieces(cut, 100))).toEqual(await read(unpacked))
    }
  })

  test('that is damaged gives what came before the damage', async () => {
    const packed = gzipSync(xml)
    const at = packed.length >> 1
    const before = await read(packed.subarray(0, at))
    expect(before.length).toBeGreaterThan(500)
    const damaged = Buffer.from(packed).fill(0xff, at)
    expect((await read(damaged)).slice(0, before.length)).toEqual(before)
  })

  test('with a wrong checksum or length gives everything, once', async () => {
    for (const fromEnd of [1, 5]) {
      const wrong = gzipSync(xml)
      wrong[wrong.length - fromEnd]! ^= 1
      expect(await read(wrong)).toEqual(await read(xml))
    }
  })

  test('may have several members, and padding or garbage after them', async () => {
    const half = xml.length >> 1
    const members = Buffer.concat([gzipSync(xml.slice(0, half)), gzipSync(xml.slice(half))])
    expect(await read(members)).toHaveLength(2000)
    expect(await read(Buffer.concat([members, Buffer.alloc(9000)]))).toHaveLength(2000)
    const garbage = Buffer.concat([members, Buffer.alloc(9000, 0x78)])
    expect(await read(inPieces(garbage, 100))).toHaveLength(2000)
    expect(await read(Buffer.concat([gzipSync(urlset('a')), bytesOf('x')]))).toEqual([page('a')])
  })
})

describe('limits', () => {
  test('entries beyond the maximum are not read, and the reading says so', async () => {
    const xml = urlset('1', '2', '3')
    const cut = parseSitemap(bytesOf(xml), URL, { maxEntries: 2 })
    expect(await collect(cut)).toEqual([page('1'), page('2')])
    expect(cut.truncated).toBe(true)
    const exact = parseSitemap(bytesOf(xml), URL, { maxEntries: 3 })
    expect(await collect(exact)).toHaveLength(3)
    expect(exact.truncated).toBe(false)
  })

  test('a long address of the file makes no more of its entries than the file may have bytes', async () => {
    const folder = `https://example.com/${'x'.repeat(8_000)}/`
    const locs = Array.from({ length: 9_000 }, (_, at) => `<url><loc>${1_000 + at}</loc></url>`)
    const reading = parseSitemap(bytesOf(`<urlset>${locs.join('')}</urlset>`), `${folder}sitemap.xml`)
    expect(await collect(reading)).toHaveLength(Math.floor(SITEMAP_MAX_DECODED_BYTES / `${folder}1000`.length))
    expect(reading.truncated).toBe(true)
  })

  test('bytes beyond the maximum are not unpacked, and the source is closed', async () => {
    let asked = 0
    let isClosed = false
    const packed = gzipSync(
      Buffer.concat([bytesOf('<urlset><url><loc>/a</loc></url>'), Buffer.alloc(64 * 1024 * 1024, 0x20)]),
    )
    async function* source(): AsyncGenerator<Uint8Array> {
      try {
        for await (const piece of inPieces(packed, 4096)) {
          asked += piece.length
          yield piece
        }
      } finally {
        isClosed = true
      }
    }
    const reading = parseSitemap(source(), URL, { maxDecodedBytes: 1024 * 1024 })
    expect(await collect(reading)).toEqual([page('a')])
    expect(reading.truncated).toBe(true)
    expect(isClosed).toBe(true)
    expect(asked).toBeLessThan(packed.length)
  })

  test('a consumer that stops early closes the source', async () => {
    let isClosed = false
    async function* source(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) yield bytesOf('<urlset>' + '<url><loc>/a</loc></url>'.repeat(5000))
      } finally {
        isClosed = true
      }
    }
    for await (const entry of parseSitemap(source(), URL)) {
      expect(entry).toEqual(page('a'))
      break
    }
    expect(isClosed).toBe(true)
  })

  test("an error of the source is the caller's", async () => {
    async function* source(): AsyncGenerator<Uint8Array> {
      yield bytesOf('<urlset>')
      throw new Error('reset')
    }
    await expect(read(source())).rejects.toThrow('reset')
  })
})

test.each([
  ['2024', true],
  ['2024-12', true],
  ['2024-02-29', true],
  ['2024-02-29T23:59Z', true],
  ['2024-02-29T23:59:60.123+14:00', true],
  ['2023-02-29', false],
  ['2024-13', false],
  ['2024-04-31', false],
  ['2024-01-01T10:00', false],
  ['2024-01-01T24:00Z', false],
  ['2024-01-01 10:00:00', false],
  ['24-01-01', false],
])('the date %j is valid: %j', async (date, isValid) => {
  const [entry] = await read(`<urlset><url><loc>/a</loc><lastmod>${date}</lastmod></url></urlset>`)
  expect(entry?.lastmod).toBe(isValid ? date : undefined)
})

test.each([
  ['Thu, 05 Jan 2017 12:34:50 GMT', '2017-01-05T12:34:50Z'],
  ['Thu, 5 Jan 17 13:34 +0100', '2017-01-05T13:34:00+01:00'],
  ['05 January 1999 12:34:50 EST', '1999-01-05T12:34:50-05:00'],
  ['05 Jan 99 12:34:50 -0000', '1999-01-05T12:34:50-00:00'],
  ['Thu, 05 Jan 2017 12:34:50', undefined],
  ['Thu, 05 Jan 2017 12:34:50 A', undefined],
  ['Thu, 32 Jan 2017 12:34:50 GMT', undefined],
  ['Thu, 05 Foo 2017 12:34:50 GMT', undefined],
])('the RSS date %j is %j', async (date, lastmod) => {
  const [entry] = await read(`<rss><channel><item><link>/a</link><pubDate>${date}</pubDate></item></channel></rss>`)
  expect(entry?.lastmod).toBe(lastmod)
})
