/**
 * Pages that are meant to take as much memory as they can for their size: short pieces that come to much, many of
 * them, deep, wide, or made long by what stands before them.
 */
import type { NormalizedUrl } from '../../model/index.ts'
import type { PageInput } from '../document.ts'

interface Shape {
  /** Stands once at the beginning. */
  readonly head?: string
  /** Repeated until the page is full; a function is told how often it was asked. */
  readonly piece: string | ((index: number) => string)
  readonly tail?: string
  readonly type?: string
  readonly url?: string
}

const LONG_FOLDER = 'folder/'.repeat(1_100)
const LONG_URL = `https://a.test/${LONG_FOLDER}`
const LONG_BASE = `<base href="/${LONG_FOLDER}">`
const TABLE = '<table><tr><th>head<tr>'
const DEEP_LIST = '<ol start=999999999><li>'.repeat(12)
const RSS = { head: '<rss version="2.0"><channel>', type: 'application/rss+xml' }
const JSON_FEED = {
  head: '{"version":"https://jsonfeed.org/version/1","items":[',
  tail: '0]}',
  type: 'application/json',
}
const number = (index: number): string => index.toString(36)
const script = (json: string): string => `<script type="application/ld+json">${json}</script>`

const SHAPES: Readonly<Record<string, Shape>> = {
  'one-letter words': { piece: 'a ' },
  'words that differ': { piece: (index) => `${number(index)} ` },
  ideographs: { piece: '字' },
  emoji: { piece: '😀' },
  'ligatures that fold to eighteen letters': { piece: 'ﷺ' },
  'the same as references': { piece: '&#xfdfa;' },
  'marks that combine': { piece: '\u0344' },
  'references to signs': { piece: '&lt;' },
  ampersands: { piece: '&' },
  asterisks: { piece: '*' },
  'asterisks in a heading': { head: '<h1>', piece: '*' },
  backticks: { piece: '`' },
  'backticks in code': { head: '<pre>', piece: '`' },
  'code of one backtick': { piece: '<code>`</code> ' },
  'carriage returns': { piece: 'x\r' },
  'angle brackets': { piece: '<' },
  'unknown tags': { piece: '<x>' },
  'empty paragraphs': { piece: '<p>' },
  'short paragraphs': { piece: '<p>x' },
  'rules and breaks': { head: '<section>'.repeat(100), piece: '<hr>](<br>é' },
  'elements in each other': { piece: '<div>x' },
  'marks in each other': { piece: '<b>x<i>y<del>z' },
  'paragraphs in many marks': { head: '<b><i><del><sup><sub>'.repeat(39), piece: '<p>x' },
  'quotations in each other': { piece: '<blockquote>x' },
  'paragraphs in many quotations': { head: '<blockquote>'.repeat(150), piece: '<p>x' },
  'breaks in many quotations': { head: '<blockquote>'.repeat(150), piece: 'x<br>' },
  'code in many quotations': { head: `${'<blockquote>'.repeat(12)}<pre>`, piece: 'x\n' },
  'lists in each other': { piece: '<ul><li>x' },
  'items with long numbers': { head: DEEP_LIST, piece: '<li>x' },
  'code in items with long numbers': { head: `${DEEP_LIST}<pre>`, piece: 'x\n' },
  'definitions in each other': { piece: '<dl><dt>x<dd>' },
  'tables in each other': { piece: '<table><tr><th>x<tr><td>' },
  'rows of one cell': { head: TABLE, piece: '<tr><td>x' },
  'rows below a wide one': { head: `${TABLE}${'<td>'.repeat(50_000)}`, piece: '<tr><td>x' },
  'a row of many cells': { head: TABLE, piece: '<td>x' },
  'cells without end in both directions': { head: TABLE, piece: '<td rowspan=1000000000 colspan=1000000000>x<tr>' },
  'cells that span what they may': { head: TABLE, piece: '<td rowspan=65534 colspan=50>x<tr>' },
  'code in a cell': { head: `${TABLE}<td><pre>`, piece: '`\n' },
  'bars in a cell': { head: `${TABLE}<td>`, piece: '|' },
  'cells in many marks': { head: `<b><i><del><sup><sub>${TABLE}`, piece: '<td>x' },
  'tags with many attributes': { piece: '<p alt alttext class colspan href id role src style width>x' },
  'a tag with many attributes': { head: '<p ', piece: (index) => `a${index} `, tail: '>x' },
  'classes that differ': { piece: (index) => `<p class=c${index}>x` },
  'links that differ': { piece: (index) => `<a href=${number(index)}>x</a>` },
  'links with a long base': { head: LONG_BASE, piece: (index) => `<a href=${number(index)}>x</a>` },
  'links of a page with a long address': { piece: (index) => `<a href=?${number(index)}>`, url: LONG_URL },
  'links to the same, with other relations': { piece: (index) => `<a rel=r${index} href=x>x` },
  'images with a long base': { head: LONG_BASE, piece: '<img src=x alt=y>' },
  'canonical links': { piece: (index) => `<link rel=canonical href=${index}>` },
  'letters outside of ASCII in links': { piece: (index) => `<a href=${index}${'é'.repeat(500)}>x` },
  'numbers in JSON-LD': { piece: script(`[${'1,'.repeat(30_000)}1]`) },
  'objects in JSON-LD': { piece: script(`[${'{},'.repeat(20_000)}1]`) },
  'brackets in JSON-LD': { piece: script('['.repeat(60_000)) },
  'formulas and drawings': { piece: '<math><mi>x<svg><a href=y>' },
  'entries of a feed': { ...RSS, piece: (index) => `<item><link>${number(index)}</link></item>` },
  'entries of a feed with a long address': {
    ...RSS,
    piece: (index) => `<item><link>${number(index)}</link></item>`,
    url: LONG_URL,
  },
  'entries with a long base': {
    head: `<feed xmlns="http://www.w3.org/2005/Atom" xml:base="${LONG_URL}">`,
    piece: (index) => `<entry><link href="${number(index)}"/></entry>`,
    type: 'application/atom+xml',
  },
  'items of a feed in JSON': { ...JSON_FEED, piece: '{},' },
  'items with a long address': { ...JSON_FEED, piece: (index) => `{"url":"${number(index)}"},`, url: LONG_URL },
  'plain text': { piece: '* ', type: 'text/plain' },
}

/** All of them, none larger than so many bytes; one is made at a time. */
export function* hungryPages(bytes: number): Generator<{ readonly name: string; readonly input: PageInput }> {
  for (const [name, shape] of Object.entries(SHAPES)) yield { name, input: inputOf(shape, bytes) }
}

function inputOf({ head = '', piece, tail = '', type = 'text/html', url }: Shape, bytes: number): PageInput {
  const parts: string[] = [head]
  let left = bytes - head.length - tail.length
  for (let index = 0; ; index++) {
    const part = typeof piece === 'string' ? piece : piece(index)
    left -= Buffer.byteLength(part)
    if (left < 0) break
    parts.push(part)
  }
  return {
    kind: 'page',
    url: (url ?? 'https://a.test/folder/page') as NormalizedUrl,
    body: Buffer.from([...parts, tail].join('')),
    headers: { 'content-type': [`${type}; charset=utf-8`] },
    productToken: 'Tiptoe',
    followNofollow: false,
    wants: { content: true, markdown: true, sample: true, outlinks: true },
  }
}
