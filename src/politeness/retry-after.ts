/**
 * Retry-After (RFC 9110 §10.2.3): seconds or a date, in any of the three forms of §5.6.7. What a host means beyond doubt
 * is used; whatever else it may send says nothing, and the caller decides as if there were no such field.
 */

/** The longest that a host is left alone, whatever it asks for. */
export const LONGEST_PAUSE_MS = 86_400_000

/** Longer than any date; what is longer is not looked at. */
const MAX_LENGTH = 64
/** RFC 9110 §5.6.7: a two-digit year that seems to be further ahead than this belongs to the century before. */
const YEARS_AHEAD = 50

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const TIME = String.raw`(?<hour>\d\d):(?<minute>\d\d):(?<second>\d\d)`
const FORMS = [
  // Thu, 01 Jan 2026 00:01:00 GMT
  String.raw`[a-z]{3}, (?<day>\d\d?) (?<month>[a-z]{3}) (?<year>\d{4}) ${TIME} (?:gmt|utc)`,
  // Thursday, 01-Jan-26 00:01:00 GMT
  String.raw`[a-z]{6,9}, (?<day>\d\d?)-(?<month>[a-z]{3})-(?<year>\d\d) ${TIME} (?:gmt|utc)`,
  // Thu Jan  1 00:01:00 2026
  String.raw`[a-z]{3} (?<month>[a-z]{3}) (?<day>[ \d]\d|\d) ${TIME} (?<year>\d{4})`,
].map((form) => new RegExp(`^${form}$`, 'i'))

/**
 * How long to wait from `now`, from 0 (a time that has passed is no wait) to a day (longer waits are cut to it).
 * Undefined for whatever is neither whole seconds nor a date: signs, fractions, units.
 */
export function retryAfterMs(value: string | null, now: number): number | undefined {
  const text = value?.trim() ?? ''
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1_000, LONGEST_PAUSE_MS)
  const date = text.length > MAX_LENGTH ? undefined : parseHttpDate(text, now)
  return date === undefined ? undefined : Math.min(Math.max(0, date - now), LONGEST_PAUSE_MS)
}

/** Of several fields, or seconds listed in one, the one that asks for the longest wait; null when there is none. */
export function longestRetryAfter(values: readonly string[], now: number): string | null {
  const listed = values.flatMap((value) => (/^[\d\s,]+$/.test(value) ? value.split(',') : [value]))
  const waitOf = (value: string): number => retryAfterMs(value, now) ?? -1
  let longest: string | null = null
  for (const value of listed) if (longest === null || waitOf(value) > waitOf(longest)) longest = value
  return longest
}

/** Clock ms. The day of the week is not looked at: of two contradicting statements the date is the one with a meaning. */
function parseHttpDate(text: string, now: number): number | undefined {
  const parts = FORMS.map((form) => form.exec(text)?.groups).find((groups) => groups !== undefined)
  if (parts === undefined) return undefined
  const number = (name: string): number => Number(parts[name])
  const month = MONTHS.indexOf(String(parts['month']).toLowerCase())
  const at = (year: number): number | undefined => {
    const date = Date.UTC(year, month, number('day'), number('hour'), number('minute'), number('second'))
    return new Date(date).getUTCMonth() === month ? date : undefined
  }
  // A second of 60 is a leap second.
  if (month < 0 || number('day') < 1 || number('hour') > 23 || number('minute') > 59 || number('second') > 60) {
    return undefined
  }
  if (parts['year']?.length === 4) return number('year') < 1_000 ? undefined : at(number('year'))
  const latest = new Date(now)
  latest.setUTCFullYear(latest.getUTCFullYear() + YEARS_AHEAD)
  const year = latest.getUTCFullYear()
  const sameDigits = year - ((year - number('year')) % 100)
  const date = at(sameDigits)
  return date !== undefined && date > latest.getTime() ? at(sameDigits - 100) : date
}
