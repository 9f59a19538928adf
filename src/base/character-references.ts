/**
 * Character references in HTML (HTML Standard §13.2.5.72 to §13.2.5.80): all names, numbers in both bases, and the numbers
 * that mean windows-1252 by long custom. A reference to nothing stays as it is written. One pass over the text.
 */
import { ENTITIES_WITHOUT_SEMICOLON, ENTITY_TABLE } from './entity-table.ts'

const SEMICOLON = 0x3b
const EQUALS = 0x3d
const HASH = 0x23

/** The longest name, `CounterClockwiseContourIntegral`, and the longest and shortest that need no semicolon. */
const LONGEST_NAME = 31
const LONGEST_OPEN_NAME = 6
const SHORTEST_OPEN_NAME = 2

const LAST_CODE_POINT = 0x10_ff_ff
const REPLACEMENT = '\ufffd'

/** What the numbers from 128 to 159 mean; 0 where they mean nothing else. */
const WINDOWS_1252 = [
  0x20ac, 0, 0x201a, 0x192, 0x201e, 0x2026, 0x2020, 0x2021, 0x2c6, 0x2030, 0x160, 0x2039, 0x152, 0, 0x17d, 0, 0, 0x2018,
  0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x2dc, 0x2122, 0x161, 0x203a, 0x153, 0, 0x17e, 0x178,
]

/** Nearly every reference is one of these; the full table is made when another one is met. */
const COMMON: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
  ['nbsp', '\u00a0'],
])
let named: ReadonlyMap<string, string> | undefined
let open: ReadonlySet<string> | undefined

/** The text with its references decoded. In attributes, a name without its semicolon must not run on: `?a&copy=1`. */
export function decodeReferences(text: string, isAttribute: boolean): string {
  let at = text.indexOf('&')
  if (at === -1) return text
  let decoded = ''
  let copied = 0
  for (; at !== -1; at = text.indexOf('&', at)) {
    const reference = referenceAt(text, at, isAttribute)
    if (reference === undefined) {
      at++
      continue
    }
    decoded += text.slice(copied, at) + reference.text
    at = reference.end
    copied = at
  }
  return copied === 0 ? text : decoded + text.slice(copied)
}

export interface CharacterReference {
  readonly text: string
  /** Just behind the reference. */
  readonly end: number
}

/** The reference that begins with the ampersand at `at`; undefined where there is none. */
export function referenceAt(text: string, at: number, isAttribute = false): CharacterReference | undefined {
  return text.charCodeAt(at + 1) === HASH ? numberAt(text, at + 2) : nameAt(text, at + 1, isAttribute)
}

function numberAt(text: string, start: number): CharacterReference | undefined {
  const isHex = (text.charCodeAt(start) | 0x20) === 0x78
  const first = isHex ? start + 1 : start
  const base = isHex ? 16 : 10
  let code = 0
  let at = first
  for (; ; at++) {
    const digit = digitOf(text.charCodeAt(at))
    if (digit === -1 || digit >= base) break
    // Whatever follows, it is beyond the last code point already.
    if (code <= LAST_CODE_POINT) code = code * base + digit
  }
  if (at === first) return undefined
  return { text: characterOf(code), end: text.charCodeAt(at) === SEMICOLON ? at + 1 : at }
}

function characterOf(code: number): string {
  const isNone = code === 0 || code > LAST_CODE_POINT || (code >= 0xd800 && code <= 0xdfff)
  return isNone ? REPLACEMENT : String.fromCodePoint(WINDOWS_1252[code - 0x80] || code)
}

function nameAt(text: string, start: number, isAttribute: boolean): CharacterReference | undefined {
  let end = start
  while (end - start <= LONGEST_NAME && isAlphanumeric(text.charCodeAt(end))) end++
  const name = text.slice(start, end)
  if (text.charCodeAt(end) === SEMICOLON) {
    const whole = COMMON.get(name) ?? allNames().get(name)
    if (whole !== undefined) return { text: whole, end: end + 1 }
  }
  open ??= new Set(ENTITIES_WITHOUT_SEMICOLON.trim().split(/\s+/))
  for (let length = Math.min(name.length, LONGEST_OPEN_NAME); length >= SHORTEST_OPEN_NAME; length--) {
    const shorter = name.slice(0, length)
    if (!open.has(shorter)) continue
    const after = text.charCodeAt(start + length)
    if (isAttribute && (after === EQUALS || isAlphanumeric(after))) return undefined
    return { text: allNames().get(shorter) as string, end: start + length }
  }
  return undefined
}

function allNames(): ReadonlyMap<string, string> {
  named ??= new Map(
    ENTITY_TABLE.trim()
      .split(/\s+/)
      .map((entry) => {
        const [name, ...codes] = entry.split(/[:+]/) as [string, ...string[]]
        return [name, String.fromCodePoint(...codes.map((code) => Number.parseInt(code, 16)))]
      }),
  )
  return named
}

function digitOf(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const lower = code | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}

function isAlphanumeric(code: number): boolean {
  const lower = code | 0x20
  return (code >= 0x30 && code <= 0x39) || (lower >= 0x61 && lower <= 0x7a)
}
