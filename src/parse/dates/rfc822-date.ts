/** The dates of RSS 2.0 (RFC 822 §5, with the years of RFC 2822), turned into the W3C datetimes of sitemaps. */
import { isW3cDatetime } from './w3c-datetime.ts'

const DATE =
  /^(?:[A-Za-z]{3,9},?\s+)?(\d{1,2})\s+([A-Za-z]{3})[a-z]*\s+(\d{4}|\d\d)\s+(\d{1,2}):(\d\d)(?::(\d\d))?\s+([+-]\d{4}|[A-Za-z]{1,3})$/

export const MONTHS: readonly string[] = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')

/** The time zones that RFC 822 names; military letters other than Z were defined wrongly and mean nothing. */
const ZONES: ReadonlyMap<string, string> = new Map([
  ['z', 'Z'],
  ['ut', 'Z'],
  ['utc', 'Z'],
  ['gmt', 'Z'],
  ['edt', '-04:00'],
  ['est', '-05:00'],
  ['cdt', '-05:00'],
  ['cst', '-06:00'],
  ['mdt', '-06:00'],
  ['mst', '-07:00'],
  ['pdt', '-07:00'],
  ['pst', '-08:00'],
])

/** Two-digit years below this are of this century (RFC 2822 §4.3). */
const CENTURY_TURN = 50

const MAX_DATE_CHARS = 64

/** The same moment in the same zone; undefined if the text is no such date, or names no zone. */
export function w3cOfRfc822(text: string): string | undefined {
  const match = text.length > MAX_DATE_CHARS ? null : DATE.exec(text)
  if (match === null) return undefined
  const [day = '', month = '', shortYear = '', hour = '', minute = '', second = '00', zoneName = ''] = match.slice(1)
  const monthNumber = MONTHS.indexOf(month.toLowerCase()) + 1
  const year = shortYear.length === 4 ? shortYear : `${Number(shortYear) < CENTURY_TURN ? 20 : 19}${shortYear}`
  const zone = /^[+-]/.test(zoneName)
    ? `${zoneName.slice(0, 3)}:${zoneName.slice(3)}`
    : ZONES.get(zoneName.toLowerCase())
  if (monthNumber === 0 || zone === undefined) return undefined
  const date = `${year}-${twoDigits(monthNumber)}-${twoDigits(day)}T${twoDigits(hour)}:${minute}:${second}${zone}`
  return isW3cDatetime(date) ? date : undefined
}

function twoDigits(value: string | number): string {
  return String(value).padStart(2, '0')
}
