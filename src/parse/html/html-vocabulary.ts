/** The elements and attributes that a page is read for; all others are told from these, and not from one another. */
import { createNameTable } from './name-table.ts'
import type { HtmlScanner, Vocabulary } from './html-scanner.ts'

/** Elements whose attributes say something. */
const ATTRIBUTED = [
  'a',
  'annotation-xml',
  'area',
  'base',
  'font',
  'frame',
  'html',
  'iframe',
  'link',
  'meta',
  'script',
  'template',
  'time',
]

/** Elements that say something by being there. */
const BARE = [
  'basefont',
  'bgsound',
  'body',
  'head',
  'math',
  'noembed',
  'noframes',
  'noscript',
  'plaintext',
  'style',
  'svg',
  'textarea',
  'title',
  'xmp',
]

const ELEMENTS = [...ATTRIBUTED, ...BARE]

const ATTRIBUTES = [
  'charset',
  'color',
  'content',
  'datetime',
  'encoding',
  'face',
  'href',
  'http-equiv',
  'itemprop',
  'lang',
  'name',
  'property',
  'pubdate',
  'rel',
  'shadowrootmode',
  'size',
  'src',
  'type',
  'xlink:href',
  'xml:lang',
] as const

const attributeId = (name: (typeof ATTRIBUTES)[number]): number => ATTRIBUTES.indexOf(name) + 1

export const CHARSET: number = attributeId('charset')
export const COLOR: number = attributeId('color')
export const CONTENT: number = attributeId('content')
export const DATETIME: number = attributeId('datetime')
export const ENCODING: number = attributeId('encoding')
export const FACE: number = attributeId('face')
export const HREF: number = attributeId('href')
export const HTTP_EQUIV: number = attributeId('http-equiv')
export const ITEMPROP: number = attributeId('itemprop')
export const LANG: number = attributeId('lang')
export const NAME: number = attributeId('name')
export const PROPERTY: number = attributeId('property')
export const PUBDATE: number = attributeId('pubdate')
export const REL: number = attributeId('rel')
export const SHADOWROOTMODE: number = attributeId('shadowrootmode')
export const SIZE: number = attributeId('size')
export const SRC: number = attributeId('src')
export const TYPE: number = attributeId('type')
export const XLINK_HREF: number = attributeId('xlink:href')
export const XML_LANG: number = attributeId('xml:lang')

export const HTML_VOCABULARY: Vocabulary = {
  elements: createNameTable(ELEMENTS),
  elementNames: ['', ...ELEMENTS],
  hasAttributes: [false, ...ELEMENTS.map((name) => ATTRIBUTED.includes(name))],
  attributes: createNameTable(ATTRIBUTES),
  attributeCount: ATTRIBUTES.length,
}

/** The attributes of a start tag, by the constants above: values with character references decoded. */
export type Attributes = Pick<HtmlScanner, 'get' | 'has'>
