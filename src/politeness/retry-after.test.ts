import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LONGEST_PAUSE_MS, longestRetryAfter, retryAfterMs } from './retry-after.ts'

const NOW = Date.UTC(2026, 0, 1)
const DAY = 86_400_000
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** A time in the three forms of RFC 9110 §5.6.7. */
function formsOf(time: number): string[] {
  const date = new Date(time)
  const day = DAYS[date.getUTCDay()] ?? ''
  const month = MONTHS[date.getUTCMonth()] ?? ''
  const two = (value: number, fill = '0'): string => String(value).padStart(2, fill)
  const clock = [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()].map((part) => two(part)).join(':')
  return [
    date.toUTCString(),
    `${day}, ${two(date.getUTCDate())}-${month}-${two(date.getUTCFullYear() % 100)} ${clock} GMT`,
    `${day.slice(0, 3)} ${month} ${two(date.getUTCDate(), ' ')} ${clock} ${date.getUTCFullYear()}`,
  ]
}

describe('Retry-After', () => {
  test.each([
    ['120', 120_000],
    [' 0 ', 0],
    ['007', 7_000],
    ['86400', DAY],
    ['86401', DAY],
    ['9999999999', DAY],
    ['Thu, 01 Jan 2026 00:01:00 GMT', 60_000],
    ['Thu, 1 Jan 2026 00:01:00 UTC', 60_000],
    ['thu, 01 jan 2026 00:01:00 gmt', 60_000],
    ['Thursday, 01-Jan-26 00:01:00 GMT', 60_000],
    ['Thu Jan  1 00:01:00 2026', 60_000],
    ['Thu Jan 01 00:01:00 2026', 60_000],
    ['Thu, 01 Jan 2026 00:00:60 GMT', 60_000],
    // The day of the week is wrong, the date is not.
    ['Mon, 01 Jan 2026 00:01:00 GMT', 60_000],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
    ['Fri, 31 Dec 9999 23:59:59 GMT', DAY],
  ])('%j is a wait of %d ms', (value, expected) => {
    expect(retryAfterMs(value, NOW)).toBe(expected)
  })

  test.each([
    null,
    '',
    ' ',
    'soon',
    '-5',
    '+5',
    '-0',
    '1.5',
    '1,5',
    '1e9',
    '0x10',
    '60s',
    '60 seconds',
    '120, 240',
    '٣',
    'Infinity',
    'NaN',
    '2026-01-01',
    '2026-01-01T00:01:00Z',
    'Thu, 99 Foo',
    'Thu, 01 Foo 2026 00:01:00 GMT',
    'Thu, 00 Jan 2026 00:01:00 GMT',
    'Thu, 32 Jan 2026 00:01:00 GMT',
    'Mon, 30 Feb 2026 00:01:00 GMT',
    'Thu, 01 Jan 2026 24:01:00 GMT',
    'Thu, 01 Jan 2026 00:60:00 GMT',
    'Thu, 01 Jan 2026 00:01:61 GMT',
    'Thu, 01 Jan 2026 00:01 GMT',
    'Thu, 01 Jan 2026 00:01:00',
    'Thu, 01 Jan 2026 00:01:00 PST',
    'Thu, 01 Jan 2026 00:01:00 +0100',
    'Thu, 01 Jan 20260 00:01:00 GMT',
    'Thu, 01 Jan 0026 00:01:00 GMT',
    'Thu, 01 Jan 2026 00:01:00 GMT; more',
  ])('%j says nothing', (value) => {
    expect(retryAfterMs(value, NOW)).toBeUndefined()
  })

  test('any time is the same in all three forms, at any time', () => {
    const seconds = fc.integer({ min: 0, max: 2 ** 32 })
    fc.assert(
      fc.property(seconds, fc.integer({ min: -DAY / 1_000, max: 2 * (DAY / 1_000) }), (nowSeconds, ahead) => {
        const now = nowSeconds * 1_000
        const time = Math.max(0, now + ahead * 1_000)
        const expected = Math.min(Math.max(0, time - now), LONGEST_PAUSE_MS)
        for (const form of formsOf(time)) expect(retryAfterMs(form, now)).toBe(expected)
      }),
    )
  })

  test('a two-digit year is the one within the next fifty years, or else the last that ended so', () => {
    const late = Date.UTC(2099, 11, 31, 23, 59, 0)
    expect(retryAfterMs('Friday, 01-Jan-00 00:00:00 GMT', late)).toBe(60_000)
    expect(retryAfterMs('Thursday, 31-Dec-98 23:59:00 GMT', late)).toBe(0)
    expect(retryAfterMs('Wednesday, 01-Jan-76 00:00:00 GMT', NOW)).toBe(DAY)
    expect(retryAfterMs('Wednesday, 01-Jan-76 00:00:01 GMT', NOW)).toBe(0)
    expect(retryAfterMs('Friday, 31-Dec-99 00:00:00 GMT', NOW)).toBe(0)
  })

  test('a 29 February exists in leap years alone', () => {
    expect(retryAfterMs('Tue, 29 Feb 2028 00:00:00 GMT', NOW)).toBe(DAY)
    expect(retryAfterMs('Mon, 29 Feb 2027 00:00:00 GMT', NOW)).toBeUndefined()
  })

  test('no value makes it throw, wait a negative time or wait longer than a day', () => {
    const nearly = fc
      .constantFrom(...formsOf(NOW + 60_000), '120')
      .chain((text) =>
        fc
          .tuple(fc.nat(text.length), fc.string({ maxLength: 3 }))
          .map(([at, more]) => text.slice(0, at) + more + text.slice(at + 1)),
      )
    fc.assert(
      fc.property(fc.oneof(fc.string(), nearly), (value) => {
        const wait = retryAfterMs(value, NOW) ?? 0
        expect(wait).toBeGreaterThanOrEqual(0)
        expect(wait).toBeLessThanOrEqual(DAY)
      }),
      { numRuns: 1_000 },
    )
  })
})

describe('of several values', () => {
  const now = Date.UTC(2026, 0, 1)

  test.each([
    [[], null],
    [['90'], '90'],
    [['600', '900'], '900'],
    [['600,900'], '900'],
    [['900', 'soon'], '900'],
    [['soon', '1'], '1'],
    [['5', 'Thu, 01 Jan 2026 00:10:00 GMT'], 'Thu, 01 Jan 2026 00:10:00 GMT'],
    [['0', '99999999999999999999'], '99999999999999999999'],
  ])('%j the one that asks for the longest wait counts', (values, expected) => {
    expect(longestRetryAfter(values, now)).toBe(expected)
  })

  test('a number of any length is seconds, and a day is the most', () => {
    expect(retryAfterMs('9'.repeat(400), now)).toBe(86_400_000)
  })
})
