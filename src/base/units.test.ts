import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatBytes, formatDuration, parseDurationMs, parsePercent, parseSizeBytes } from './index.ts'

describe('parseDurationMs', () => {
  it.each([
    ['200ms', 200],
    ['1s', 1000],
    ['0.1s', 100],
    ['1.5m', 90_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    ['1w', 604_800_000],
    ['1h30m', 5_400_000],
    ['3m 05s', 185_000],
    [' 5 minutes ', 300_000],
    ['1W', 604_800_000],
    ['0', 0],
    ['2', 2000],
    ['.5', 500],
    [0, 0],
    [1.5, 1500],
  ])('%j is %d ms', (text, ms) => expect(parseDurationMs(text)).toBe(ms))

  it.each([
    '',
    ' ',
    's',
    '-1s',
    '1x',
    '1s1m',
    '1s1s',
    '1h30',
    '1e3',
    '1,5s',
    '1..5s',
    'Infinity',
    '9'.repeat(30),
    '1s'.padStart(99),
    -1,
    NaN,
    Infinity,
  ])('%j is none', (text) => expect(parseDurationMs(text)).toBeUndefined())

  it('never throws and never gives less than zero', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('1', '.', 's', 'm', 'h', ' ', '-', 'e', '9'), maxLength: 12 }),
        (text) => {
          const ms = parseDurationMs(text)
          if (ms !== undefined) expect(Number.isFinite(ms) && ms >= 0).toBe(true)
        },
      ),
      { numRuns: 2000 },
    )
  })
})

describe('formatDuration', () => {
  it.each([
    [0, '0s'],
    [-5, '0s'],
    [NaN, '0s'],
    [Infinity, '∞'],
    [200, '200ms'],
    [999.6, '1s'],
    [1234, '1.2s'],
    [5000, '5s'],
    [59_960, '1m 00s'],
    [185_000, '3m 05s'],
    [3_599_600, '1h 00m'],
    [8_040_000, '2h 14m'],
    [86_399_999, '1d 00h'],
    [100 * 86_400_000, '100d 00h'],
  ])('%d ms is %s', (ms, text) => expect(formatDuration(ms)).toBe(text))

  it('prints what is parsed back to within half of its smallest unit, and prints that the same', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1e10, noNaN: true }), (ms) => {
        const text = formatDuration(ms)
        const parsed = parseDurationMs(text)!
        const unitMs = ms < 999 ? 1 : ms < 59_900 ? 100 : ms < 3_599_000 ? 1000 : ms < 86_340_000 ? 60_000 : 3_600_000
        expect(Math.abs(parsed - ms)).toBeLessThanOrEqual(unitMs / 2 + 0.001)
        expect(formatDuration(parsed)).toBe(text)
      }),
      { numRuns: 2000 },
    )
  })
})

describe('sizes', () => {
  it.each([
    ['10MB', 10_000_000],
    ['512KiB', 524_288],
    ['512Ki', 524_288],
    ['1.5g', 1_500_000_000],
    ['1 kb', 1000],
    ['20 B', 20],
    ['4096', 4096],
    [4096, 4096],
    ['0', 0],
    ['2TiB', 2 * 1024 ** 4],
  ])('%j is %d bytes', (text, bytes) => expect(parseSizeBytes(text)).toBe(bytes))

  it.each(['', 'MB', '-1', '1.5', 1.5, -1, NaN, '1xb', '1MB 2KB', '1e6', '9'.repeat(20), '99999PB'])(
    '%j is none',
    (text) => expect(parseSizeBytes(text)).toBeUndefined(),
  )

  it.each([
    [0, '0 B'],
    [-1, '0 B'],
    [999, '999 B'],
    [1000, '1 KB'],
    [1536, '1.5 KB'],
    [999_949, '999.9 KB'],
    [999_999, '1 MB'],
    [20_000_000, '20 MB'],
    [3e18, '3000 PB'],
  ])('%d bytes are printed as %s', (bytes, text) => expect(formatBytes(bytes)).toBe(text))

  it('are printed so that they parse back to within a twentieth of their unit', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
        fc.integer({ min: 0, max: 50 }),
        (large, shift) => {
          const bytes = Math.floor(large / 2 ** shift)
          const text = formatBytes(bytes)
          const parsed = parseSizeBytes(text)!
          expect(Math.abs(parsed - bytes)).toBeLessThanOrEqual(Math.max(0.5, bytes * 0.051))
          expect(formatBytes(parsed)).toBe(text)
        },
      ),
      { numRuns: 2000 },
    )
  })
})

describe('parsePercent', () => {
  it.each([
    ['40%', 0.4],
    ['40 %', 0.4],
    ['0.4', 0.4],
    [0.4, 0.4],
    ['100%', 1],
    [1, 1],
    ['0%', 0],
    [0, 0],
  ])('%j is %d', (text, share) => expect(parsePercent(text)).toBe(share))

  it.each([40, '40', '101%', '-1%', -0.1, '', '%', '4e1%', NaN])('%j is none', (text) =>
    expect(parsePercent(text)).toBeUndefined(),
  )

  it('of every whole percentage is its hundredth', () => {
    for (let percent = 0; percent <= 100; percent++) expect(parsePercent(`${percent}%`)).toBe(percent / 100)
  })
})
