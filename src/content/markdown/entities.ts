/**
 * Character references, by the tokenizer's rules for text (HTML §13.2.5.72 to §13.2.5.80): all names, numbers in both
 * bases, and the numbers that mean Windows-1252 by long custom. A reference to nothing stays as it is written.
 */
import { ENTITIES_WITHOUT_SEMICOLON, ENTITY_TABLE } from './entity-table.ts'

const REFERENCE = /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z][a-zA-Z0-9]{1,31}));?/y
/** In attributes a name needs its semicolon: `?a=1&copy=2` is no copyright (HTML §13.2.5.73). */
const CLOSED_REFERENCE = /&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});/g

/** What the numbers from 128 to 159 mean; 0 where they mean nothing else. */
const WINDOWS_1252 = [
  0x20ac, 0, 0x201a, 0x192, 0x201e, 0x2026, 0x2020, 0x2021, 0x2c6, 0x2030, 0x160, 0x2039, 0x152, 0, 0x17d, 0, 0, 0x2018,
  0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x2dc, 0x2122, 0x161, 0x203a, 0x153, 0, 0x17e, 0x178,
]
/** The shortest and the longest of the names that need no semicolon. */
const SHORTEST_OPEN_NAME = 2
const LONGEST_OPEN_NAME = 6

/** Nearly every reference on a page is one of these; the full table is made when another one is met. */
const COMMON: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
  ['nbsp', '\u00a0'],
])
let all: Map<string, string> | undefined
let open: Set<string> | undefined

export interface Reference {
  readonly text: string
  /** Just behind the reference. */
  readonly end: number
}

/** The reference that begins with the ampersand at `at`; undefined where there is none. */
export function referenceAt(html: string, at: number): Reference | undefined {
  REFERENCE.lastIndex = at
  const match = REFERENCE.exec(html)
  if (match === null) return undefined
  const [whole, decimal, hex, name] = match
  const end = at + whole.length
  if (name === undefined) {
    const text = characterOf(decimal === undefined ? Number.parseInt(hex as string, 16) : Number(decimal))
    return { text, end }
  }
  if (whole.endsWith(';')) {
    const text = valueOf(name)
    if (text !== undefined) return { text, end }
  }
  open ??= new Set(ENTITIES_WITHOUT_SEMICOLON.trim().split(/\s+/))
  for (let length = Math.min(name.length, LONGEST_OPEN_NAME); length >= SHORTEST_OPEN_NAME; length--) {
    const shorter = name.slice(0, length)
    if (open.has(shorter)) return { text: valueOf(shorter) ?? '', end: at + 1 + length }
  }
  return undefined
}

/** A text with its references decoded. */
export function decodeText(text: string): string {
  let at = text.indexOf('&')
  if (at < 0) return text
  let decoded = ''
  let copied = 0
  while (at >= 0) {
    const reference = referenceAt(text, at)
    if (reference !== undefined) {
      decoded += text.slice(copied, at) + reference.text
      copied = reference.end
    }
    at = text.indexOf('&', reference?.end ?? at + 1)
  }
  return decoded + text.slice(copied)
}

/** The value of an attribute with its references decoded. */
export function decodeAttribute(value: string): string {
  if (!value.includes('&')) return value
  return value.replace(CLOSED_REFERENCE, (whole) => referenceAt(whole, 0)?.text ?? whole)
}

function valueOf(name: string): string | undefined {
  return COMMON.get(name) ?? (all ??= readTable()).get(name)
}

function readTable(): Map<string, string> {
  const table = new Map<string, string>()
  for (const entry of ENTITY_TABLE.trim().split(/\s+/)) {
    const colon = entry.indexOf(':')
    const points = entry.slice(colon + 1).split('+')
    table.set(entry.slice(0, colon), String.fromCodePoint(...points.map((point) => Number.parseInt(point, 16))))
  }
  return table
}

function characterOf(number: number): string {
  const point = (number >= 128 && number < 160 ? WINDOWS_1252[number - 128] : 0) || number
  return point > 0 && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff) ? String.fromCodePoint(point) : '\ufffd'
}
