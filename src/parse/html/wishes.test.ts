import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { normalizeUrl } from '../../url/index.ts'
import { extract, parseLinkHeader, readHeaders, spelledOut, type ExtractContext } from '../index.ts'

const PAGE = normalizeUrl('https://example.com/dir/page')!
const read = (html: string, more: Partial<ExtractContext> = {}) =>
  extract(new TextEncoder().encode(html), { url: PAGE, contentType: 'text/html', productToken: 'Tiptoe', ...more })

describe('canonical', () => {
  const canonical = (html: string, ...link: string[]): string | null => read(html, { link }).canonical
  const C = 'https://example.com/dir/c'

  test.each([
    ['a relative one', '<link rel=canonical href=c>'],
    ['among other words', '<link rel="x CANONICAL" href="c#f">'],
    ['one that cannot be resolved does not count', '<link rel=canonical href="data:,"><link rel=canonical href=c>'],
    ['the same twice', `<link rel=canonical href=c><link rel=canonical href="${C}">`],
    ['after the title and scripts', '<html><head><title>x</title><script>"<p>"</script><link rel=canonical href=c>'],
    ['after a pixel in noscript', '<noscript><img src=x>text</noscript><link rel=canonical href=c>'],
    ['after the end of the head', '<head></head><link rel=canonical href=c><body>'],
    ['without a head', '<meta charset=utf-8>\n<link rel=canonical href=c>text'],
  ])('is found: %s', (_, html) => {
    expect(canonical(html)).toBe(C)
  })

  test.each([
    ['a page names two', '<link rel=canonical href=a><link rel=canonical href=b>'],
    ['it stands in the body', '<body><link rel=canonical href=c>'],
    ['it stands in a body that no tag opens', '<title>x</title>text<link rel=canonical href=c>'],
    ['it stands behind an element of the body', '<p></p><link rel=canonical href=c>'],
    ['it stands in svg', '<svg><link rel=canonical href=c></svg>'],
    ['it stands in noscript', '<noscript><link rel=canonical href=c></noscript>'],
    ['it stands in a template', '<template><link rel=canonical href=c></template>'],
    ['it names nothing', '<link rel=canonical>'],
  ])('is none where %s', (_, html) => {
    expect(canonical(html)).toBeNull()
  })

  test('is resolved by the base of the page, and in a header by its URL', () => {
    expect(canonical('<base href=/b/><link rel=canonical href=c>')).toBe('https://example.com/b/c')
    expect(canonical('<base href=/b/>', '<c>; rel=canonical')).toBe(C)
  })

  test('of header and page count together', () => {
    expect(canonical('<link rel=canonical href=c>', '</dir/c>; rel="canonical"')).toBe(C)
    expect(canonical('<link rel=canonical href=c>', '<d>; rel="canonical"')).toBeNull()
    expect(canonical('', '<c>; rel=canonical, <c>; rel=next')).toBe(C)
  })

  test('is a link as well, wherever it stands', () => {
    const { links } = read('<p><link rel=canonical href=c>', { link: ['<d>; rel=canonical'] })
    expect(spelledOut(links).map(({ url, source }) => [url, source])).toEqual([
      ['https://example.com/dir/d', 'link-header'],
      ['https://example.com/dir/c', 'link'],
    ])
  })
})

describe('feeds', () => {
  const sources = (html: string, ...link: string[]): string[] =>
    spelledOut(read(html, { link }).links).map(({ source }) => source)

  test.each([
    '<link rel=alternate type=application/rss+xml href=f>',
    '<link rel="Alternate home" type=" Application/Atom+XML ; charset=utf-8" href=f>',
    '<link rel=alternate type=application/feed+json href=f>',
    '<a href=f><link rel=alternate type=application/rss+xml href=f><a href=f>',
  ])('are told from other links: %s', (html) => {
    expect(sources(html)).toEqual(['feed'])
  })

  test('in a header are feeds too', () => {
    expect(sources('', '<f>; rel=alternate; type="application/rss+xml"')).toEqual(['feed'])
  })

  test.each([
    '<link rel=alternate type=text/html href=f>',
    '<link rel=alternate hreflang=de href=f>',
    '<link rel=next type=application/rss+xml href=f>',
  ])('are not other alternates: %s', (html) => {
    expect(sources(html)).toEqual(['link'])
  })
})

describe('the Link header', () => {
  test.each([
    ['<a>; rel=next', [['a', ['next']]]],
    ['<a>;rel="Next prev"', [['a', ['next', 'prev']]]],
    [
      ' , <a> ; rel = next , , <b?x=1,2;3> ; rel="prev"',
      [
        ['a', ['next']],
        ['b?x=1,2;3', ['prev']],
      ],
    ],
    ['<a>; rel=next; rel=prev', [['a', ['next']]]],
    ['<a>; title="x, <b>; rel=prev \\" y"; rel=next', [['a', ['next']]]],
    ['<a>; rel=next; anchor="#x"', []],
    ['<a>; rel=next; anchor="/other"', []],
    ['<a>; crossorigin; rel=next', [['a', ['next']]]],
    ['<a>', []],
    ['<a; rel=next', []],
    ['a; rel=next', []],
    ['<a>; rel="next', [['a', ['next']]]],
    ['<a>; rel=next x <b>; rel=prev', [['a', ['next']]]],
    ['', []],
    ['<>; rel=next', [['', ['next']]]],
  ])('%j', (value, expected) => {
    expect(parseLinkHeader([value]).map(({ reference, rel }) => [reference, rel])).toEqual(expected)
  })

  test('is bounded', () => {
    expect(parseLinkHeader(['<a>; rel=next,'.repeat(1_000)])).toHaveLength(256)
    expect(parseLinkHeader(Array.from({ length: 1_000 }, () => '<a>; rel=next'))).toHaveLength(256)
    expect(parseLinkHeader([`<a>; x="${'y'.repeat(70_000)}"; rel=next`, '<b>; rel=next'])).toEqual([])
  })

  test('never throws, and gives nothing that is not in it', () => {
    const part = fc.constantFrom('<', '>', ';', ',', '"', '\\', '=', ' ', 'rel', 'next', 'a', 'anchor', '\t', 'é', '\0')
    fc.assert(
      fc.property(fc.array(part, { maxLength: 60 }), (parts) => {
        const value = parts.join('')
        for (const { reference } of parseLinkHeader([value])) expect(value).toContain(reference)
      }),
    )
  })
})

describe('dates', () => {
  const published = (html: string): string | null => read(html).published
  const modified = (html: string): string | null => read(html).modified
  const jsonLd = (value: unknown): string => `<script type="application/ld+json">${JSON.stringify(value)}</script>`

  test.each([
    ['2024', '2024'],
    ['2024-05', '2024-05'],
    [' 2024-05-01 ', '2024-05-01'],
    ['2024-5-1', '2024-05-01'],
    ['2024/05/01', '2024-05-01'],
    ['20240501', '2024-05-01'],
    ['2024-05-01T10:00:00Z', '2024-05-01T10:00:00Z'],
    ['2024-05-01t10:00:00.123z', '2024-05-01T10:00:00.123Z'],
    ['2024-05-01T10:00:00', '2024-05-01T10:00:00'],
    ['2024-05-01 10:00', '2024-05-01T10:00'],
    ['2024-05-01T10:00:00+0200', '2024-05-01T10:00:00+02:00'],
    ['2024-05-01T10:00:00,5-05', '2024-05-01T10:00:00.5-05:00'],
    ['20240501T100000Z', '2024-05-01T10:00:00Z'],
    ['2024-05-01 10:00:00 UTC', '2024-05-01T10:00:00Z'],
    ['Wed, 01 May 2024 10:00:00 GMT', '2024-05-01T10:00:00Z'],
    ['May 1, 2024', '2024-05-01'],
    ['Sept. 3rd, 2024', '2024-09-03'],
    ['1 May 2024', '2024-05-01'],
    ['1867', '1867'],
    ['', null],
    ['today', null],
    ['05/01/2024', null],
    ['202405', null],
    ['2024-13-01', null],
    ['2024-02-30', null],
    ['2024-05-01T25:00:00Z', null],
    ['2024-05T10:00', null],
    ['May 32, 2024', null],
    ['0001-01-01T00:00:00Z', null],
    ['1970-01-01T00:00:00Z', null],
    ['9999-12-31', null],
    [`2024-05-01${' '.repeat(500)}`, null],
  ])('%j is %j', (text, date) => {
    expect(published(`<meta property="article:published_time" content="${text}">`)).toBe(date)
  })

  test.each([
    '<meta property="article:published_time" content=2024>',
    '<meta name=DC.date.issued content=2024>',
    '<meta name="dcterms.created" content=2024>',
    '<meta name=date content=2024>',
    '<meta itemprop="datePublished" content=2024>',
    '<time itemprop="x datePublished" datetime=2024>x</time>',
    '<time pubdate datetime=2024>x</time>',
    jsonLd({ '@type': 'Article', datePublished: '2024' }),
    jsonLd({ '@graph': [{ '@type': 'Person' }, { '@type': ['WebPage'], datePublished: '2024' }] }),
    jsonLd([{ mainEntity: { datePublished: '2024' } }]),
  ])('of publication: %s', (html) => {
    expect(read(html)).toMatchObject({ published: '2024', modified: null })
  })

  test.each([
    '<meta property="article:modified_time" content=2024>',
    '<meta property="og:updated_time" content=2024>',
    '<meta name=DCTERMS.modified content=2024>',
    '<meta http-equiv=last-modified content=2024>',
    '<time itemprop=dateModified datetime=2024>',
    jsonLd({ '@type': 'WebPage', dateModified: '2024' }),
  ])('of modification: %s', (html) => {
    expect(read(html)).toMatchObject({ published: null, modified: '2024' })
  })

  test('are taken from the surest place, and of equals the first', () => {
    const meta = '<meta property=article:published_time content=2020>'
    const ld = jsonLd([
      { '@type': 'WebPage', datePublished: '2021' },
      { '@type': 'BlogPosting', datePublished: '2022' },
    ])
    expect(published(`<meta name=date content=2023>${ld}${meta}`)).toBe('2020')
    expect(published(`<meta name=date content=2023>${ld}`)).toBe('2022')
    expect(
      published('<meta name=date content=nonsense><meta name=date content=2023><meta name=date content=2024>'),
    ).toBe('2023')
    expect(modified('<time itemprop=dateModified datetime=2020><time itemprop=dateModified datetime=2021>')).toBe(
      '2020',
    )
  })

  test.each([
    ['of a comment', jsonLd({ '@type': 'Article', comment: [{ datePublished: '2024' }] })],
    ['that is no text', jsonLd({ datePublished: 2024 })],
    ['in broken JSON', '<script type=application/ld+json>{"datePublished":"2024"</script>'],
    ['in a script of another type', '<script>{"datePublished":"2024"}</script>'],
    ['in a block that never ends', '<script type=application/ld+json>{"datePublished":"2024"}'],
    ['in a block that is too long', jsonLd({ x: 'x'.repeat(300_000), datePublished: '2024' })],
    ['of any time element', '<time datetime=2024>'],
    ['in a template', '<template><time pubdate datetime=2024></template>'],
  ])('%s are not taken', (_, html) => {
    expect(published(html)).toBeNull()
  })

  test('in hostile JSON cost no more than its length', () => {
    const hostile = [
      '['.repeat(200_000),
      `{"@graph":${'['.repeat(50_000)}${']'.repeat(50_000)}}`,
      '[{},'.repeat(50_000),
    ]
    hostile.push(JSON.stringify(Array.from({ length: 20_000 }, () => ({ '@graph': [[], [], []] }))))
    for (const json of hostile) expect(published(`<script type=application/ld+json>${json}</script>`)).toBeNull()
    const polluting = '{"__proto__":{"datePublished":"2024"},"constructor":{"datePublished":"2024"}}'
    expect(published(`<script type=application/ld+json>${polluting}</script>`)).toBeNull()
  })
})

test('the language is the one of the page, else of its pragma, else of the header', () => {
  expect(read('<html lang=de>', { contentLanguage: 'en' }).lang).toBe('de')
  expect(read('<meta http-equiv=content-language content=fr>', { contentLanguage: 'en' }).lang).toBe('fr')
  expect(read('', { contentLanguage: 'en-GB' }).lang).toBe('en-GB')
  expect(read('', { contentLanguage: 'en, de' }).lang).toBeNull()
  expect(read('', { contentLanguage: null }).lang).toBeNull()
})

describe('a reservation of text and data mining', () => {
  const meta = (reservation: string, policy?: string): string =>
    `<meta name=TDM-Reservation content="${reservation}">` +
    (policy === undefined ? '' : `<meta name=tdm-policy content="${policy}">`)

  test.each([
    [{ tdmReservation: '1' }, '', { reserved: true }],
    [{ tdmReservation: ' 0 ' }, '', { reserved: false }],
    [{ tdmReservation: '1', tdmPolicy: '/p' }, '', { reserved: true, policy: 'https://example.com/p' }],
    [{ tdmReservation: '0', tdmPolicy: '/p' }, '', { reserved: false }],
    [{}, meta('1', 'https://example.com/p.json'), { reserved: true, policy: 'https://example.com/p.json' }],
    [{ tdmReservation: '0' }, meta('1'), { reserved: true }],
    [{ tdmReservation: '1', tdmPolicy: 'javascript:0' }, meta('0'), { reserved: true }],
    [{ tdmPolicy: '/p' }, meta('1'), { reserved: true, policy: 'https://example.com/p' }],
    [{ tdmReservation: '0, 1' }, '', { reserved: true }],
    [{ tdmReservation: 'true' }, '', null],
    [{ tdmReservation: null, tdmPolicy: '/p' }, '', null],
    [{}, meta(''), null],
  ])('%j and %j', (headers, html, tdm) => {
    expect(read(html, headers).tdm).toEqual(tdm)
  })
})

test('headers speak for bodies of any type', () => {
  const spoken = (context: Parameters<typeof readHeaders>[0]): object => {
    const { links, ...facts } = readHeaders(context)
    return { ...facts, links: spelledOut(links) }
  }
  expect(
    spoken({
      url: PAGE,
      productToken: 'Tiptoe',
      xRobotsTag: ['otherbot: none', 'tiptoe: nofollow'],
      link: ['<c>; rel=canonical', '<f>; rel=alternate; type=application/atom+xml', '<page>; rel=alternate'],
      contentLanguage: 'de',
      tdmReservation: '1',
    }),
  ).toEqual({
    robots: { index: true, follow: false },
    lang: 'de',
    canonical: 'https://example.com/dir/c',
    tdm: { reserved: true },
    links: [
      { url: 'https://example.com/dir/c', rel: ['canonical'], source: 'link-header', nofollow: false },
      { url: 'https://example.com/dir/f', rel: ['alternate'], source: 'feed', nofollow: false },
    ],
  })
  expect(spoken({ url: PAGE, productToken: 'x' })).toEqual({
    robots: { index: true, follow: true },
    lang: null,
    canonical: null,
    tdm: null,
    links: [],
  })
})

test('never throws over headers and pages, and gives no more than its limits', () => {
  const word = fc.constantFrom(
    ...'<link rel=canonical href=|<meta name=robots content=|<meta name=tdm-reservation content=1>|<html lang=|<time pubdate datetime='.split(
      '|',
    ),
    ...'<script type=application/ld+json>|</script>|{"datePublished":"2024"}|<title>|</title>|<a href=|<svg>|<template>|>|"|<|,|;|='.split(
      '|',
    ),
    ...'<x>; rel=canonical|<y>; rel=alternate; type=application/rss+xml|noindex|tiptoe: none|2024-05-01|1|0|\0|é|\ud800| '.split(
      '|',
    ),
  )
  const text = fc.array(word, { maxLength: 30 }).map((words) => words.join(''))
  fc.assert(
    fc.property(text, text, text, (html, one, other) => {
      const found = read(html, {
        link: [one, other],
        xRobotsTag: [other],
        contentLanguage: one,
        tdmReservation: other,
        tdmPolicy: one,
        maxLinks: 3,
      })
      expect(found.links.urls.length).toBeLessThanOrEqual(3)
      expect(found.title?.length ?? 0).toBeLessThanOrEqual(1_000)
      expect(found.lang?.length ?? 0).toBeLessThanOrEqual(64)
      for (const date of [found.published, found.modified]) if (date !== null) expect(date).toMatch(/^\d{4}/)
    }),
  )
})
