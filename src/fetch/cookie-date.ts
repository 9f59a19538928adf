/**
 * The dates of cookies, as browsers read them (RFC 6265bis §5.1.1): a time, a day, a month and a year among any other
 * words, in any order. Zones are not looked at: all is UTC.
 */

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
/** Everything that may stand between two words: RFC 6265bis' `delimiter`. */
const DELIMITERS = /[\t\x20-\x2f\x3b-\x40\x5b-\x60\x7b-\x7e]+/
const TIME = /^(\d{1,2}):(\d{1,2}):(\d{1,2})(?:\D|$)/
const DAY = /^(\d{1,2})(?:\D|$)/
const YEAR = /^(\d{2,4})(?:\D|$)/

/** Milliseconds since the Unix epoch; undefined for what is no date. */
export function cookieDateMs(text: string): number | undefined {
  let time: readonly number[] | undefined
  let day: number | undefined
  let month: number | undefined
  let year: number | undefined
  for (const word of text.split(DELIMITERS)) {
    const timeFound = time === undefined ? TIME.exec(word) : null
    const dayFound = timeFound === null && day === undefined ? DAY.exec(word) : null
    const monthFound = dayFound === null && month === undefined ? MONTHS.indexOf(word.slice(0, 3).toLowerCase()) : -1
    if (timeFound !== null) time = timeFound.slice(1, 4).map(Number)
    else if (dayFound !== null) day = Number(dayFound[1])
    else if (monthFound !== -1) month = monthFound
    else if (year === undefined) year = fullYear(YEAR.exec(word)?.[1])
  }
  if (time === undefined || day === undefined || month === undefined || year === undefined) return undefined
  const [hour = 0, minute = 0, second = 0] = time
  if (day < 1 || year < 1601 || hour > 23 || minute > 59 || second > 59) return undefined
  const date = new Date(Date.UTC(year, month, day, hour, minute, second))
  // 31 February is no date.
  return date.getUTCDate() === day ? date.getTime() : undefined
}

/** Two digits stand for 1970 to 2069. */
function fullYear(digits: string | undefined): number | undefined {
  if (digits === undefined) return undefined
  const year = Number(digits)
  if (year >= 70 && year <= 99) return 1900 + year
  return year <= 69 ? 2000 + year : year
}
