/** The date format of sitemaps (W3C NOTE-datetime): a year, a month, a day, or a moment with its time zone. */

const DATETIME = /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,9})?)?(?:Z|[+-](\d\d):(\d\d)))?)?)?$/

export function isW3cDatetime(text: string): boolean {
  const match = DATETIME.exec(text)
  if (match === null) return false
  const [year, month, day, hour, minute, second, zoneHour, zoneMinute] = match.slice(1).map(Number)
  const within = (value: number | undefined, low: number, high: number): boolean =>
    value === undefined || Number.isNaN(value) || (value >= low && value <= high)
  return (
    within(month, 1, 12) &&
    within(day, 1, daysIn(year as number, month)) &&
    within(hour, 0, 23) &&
    within(minute, 0, 59) &&
    // A leap second is written 60.
    within(second, 0, 60) &&
    within(zoneHour, 0, 23) &&
    within(zoneMinute, 0, 59)
  )
}

function daysIn(year: number, month = 1): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}
