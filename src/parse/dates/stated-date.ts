/**
 * A date as a page states it, to ISO 8601 with as much precision as was stated: `2024`, `2024-05-01`,
 * `2024-05-01T10:00:00+02:00`. What is ambiguous (`05/01/2024`), impossible, or the zero of some clock is no date. A
 * time without a zone stays without one.
 */
import { isW3cDatetime } from './w3c-datetime.ts'
import { MONTHS, w3cOfRfc822 } from './rfc822-date.ts'

const MAX_DATE_CHARS = 64

/** Old books have their year on the web; nothing older is a date of publication, and nothing has one so far ahead. */
const MIN_YEAR = 1000
const MAX_YEAR = 2199

/** The date and the time of ISO 8601, extended or basic, with the liberties that pages take. */
const ISO =
  /^(\d{4})(?:([-/.]?)(\d{1,2})(?:\2(\d{1,2}))?)?(?:(?:[Tt]|[ \t]+)(\d\d):?(\d\d)(?::?(\d\d)(?:[.,](\d{1,9}))?)?[ \t]*(?:([Zz]|UTC|GMT)|([+-]\d\d)(?::?(\d\d))?)?)?$/

/** `May 1, 2024` and `1 May 2024`. */
const MONTH_FIRST = /^([A-Za-z]{3})[a-z]*\.?[ \t]+(\d{1,2})(?:st|nd|rd|th)?,?[ \t]+(\d{4})$/
const DAY_FIRST = /^(\d{1,2})(?:st|nd|rd|th)?[ \t]+([A-Za-z]{3})[a-z]*\.?,?[ \t]+(\d{4})$/

export function statedDate(text: string): string | undefined {
  if (text.length > 2 * MAX_DATE_CHARS) return undefined
  const trimmed = text.trim()
  if (trimmed.length > MAX_DATE_CHARS) return undefined
  const date = isoOf(trimmed) ?? dayInWords(trimmed) ?? w3cOfRfc822(trimmed)
  return date !== undefined && isPlausible(date) ? date : undefined
}

function isoOf(text: string): string | undefined {
  const match = ISO.exec(text)
  if (match === null) return undefined
  const [year = '', separator, month, day, hour, minute, second, fraction, utc, zoneHour, zoneMinute = '00'] =
    match.slice(1)
  // Without separators both digits are needed to tell month from day, and `202405` could be anything.
  if (separator === '' && (month?.length !== 2 || day?.length !== 2)) return undefined
  let date = year
  if (month !== undefined) date += `-${month.padStart(2, '0')}`
  if (day !== undefined) date += `-${day.padStart(2, '0')}`
  if (hour === undefined) return isW3cDatetime(date) ? date : undefined
  if (day === undefined) return undefined
  const zone = utc !== undefined ? 'Z' : zoneHour === undefined ? '' : `${zoneHour}:${zoneMinute}`
  const time = `T${hour}:${minute}${second === undefined ? '' : `:${second}`}${fraction === undefined ? '' : `.${fraction}`}`
  return isW3cDatetime(date + time + (zone === '' ? 'Z' : zone)) ? date + time + zone : undefined
}

function dayInWords(text: string): string | undefined {
  const monthFirst = MONTH_FIRST.exec(text)
  const dayFirst = monthFirst === null ? DAY_FIRST.exec(text) : null
  const [month, day, year] =
    monthFirst !== null ? monthFirst.slice(1) : dayFirst !== null ? [dayFirst[2], dayFirst[1], dayFirst[3]] : []
  const monthNumber = MONTHS.indexOf((month ?? '').toLowerCase()) + 1
  if (monthNumber === 0 || day === undefined) return undefined
  const date = `${year}-${String(monthNumber).padStart(2, '0')}-${day.padStart(2, '0')}`
  return isW3cDatetime(date) ? date : undefined
}

/** The first day of 1970, or in the west the last of 1969, is a clock that was never set. */
function isPlausible(date: string): boolean {
  const year = Number(date.slice(0, 4))
  return year >= MIN_YEAR && year <= MAX_YEAR && !/^(?:1970-01-01|1969-12-31)(?:T|$)/.test(date)
}
