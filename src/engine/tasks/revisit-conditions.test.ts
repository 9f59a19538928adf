import { describe, expect, test } from 'vitest'
import type { FetchResponse } from '../../fetch/index.ts'
import type { LastVisit } from '../../model/index.ts'
import { conditionsOf, isNotModified, validatorsOf } from './revisit-conditions.ts'

const NOW = Date.parse('2026-03-02T10:00:00Z')
const answer = (
  fields: Readonly<Record<string, readonly string[]>>,
): Pick<FetchResponse, 'headers' | 'answeredAt'> => ({
  headers: { get: (name) => fields[name]?.join(', ') ?? null, all: (name) => fields[name] ?? [] },
  answeredAt: NOW,
})
const last = (etag: string | null, lastModified: string | null): LastVisit => ({
  at: NOW,
  visits: 1,
  misses: 0,
  hash: 'sha256:00',
  etag,
  lastModified,
})

describe('an entity tag', () => {
  test.each(['"a"', 'W/"a"', '""', '"a,b"', '"abc-gzip"', 'abc123', '5f-1a:0/x', 'W/abc'])(
    'like %s is kept as it came',
    (tag) => {
      expect(validatorsOf(answer({ etag: [tag] })).etag).toBe(tag)
    },
  )

  test.each([
    ['that matches everything', ['*']],
    ['that hides what matches everything in a list', ['"a", *']],
    ['that is a list without quotes', ['a,*']],
    ['beside another', ['"a"', '"b"']],
    ['with characters that are no ASCII', ['"caf\u00e9"']],
    ['with a control character', ['"a\u0001"']],
    ['that is empty', ['']],
    ['of more than 512 characters', [`"${'a'.repeat(511)}"`]],
  ])('%s is not', (_, tags) => {
    expect(validatorsOf(answer({ etag: tags })).etag).toBeNull()
  })
})

describe('a Last-Modified', () => {
  const modified = (date: string, told?: string): string | null =>
    validatorsOf(answer({ 'last-modified': [date], ...(told === undefined ? {} : { date: [told] }) })).lastModified

  test('is kept as it came, in each form that HTTP has had for dates', () => {
    for (const date of [
      'Sun, 01 Mar 2026 10:00:00 GMT',
      'Sunday, 01-Mar-26 10:00:00 GMT',
      'Sun Mar  1 10:00:00 2026',
      'Sun, 01 Mar 2026 10:00:00 +0100',
    ])
      expect(modified(date)).toBe(date)
  })

  test('that lies ahead, or within the last second, is not', () => {
    expect(modified('Mon, 02 Mar 2026 09:59:59 GMT')).not.toBeNull()
    expect(modified('Mon, 02 Mar 2026 10:00:00 GMT')).toBeNull()
    expect(modified('Sat, 02 Mar 2126 10:00:00 GMT')).toBeNull()
  })

  test('is held against the clock of its host, where that tells the time', () => {
    const ahead = 'Mon, 02 Mar 2026 11:00:00 GMT'
    expect(modified(ahead, 'Mon, 02 Mar 2026 12:00:00 GMT')).toBe(ahead)
    expect(modified('Mon, 02 Mar 2026 09:00:00 GMT', 'Mon, 02 Mar 2026 08:00:00 GMT')).toBeNull()
    expect(modified('Mon, 02 Mar 2026 09:00:00 GMT', 'nonsense')).not.toBeNull()
  })

  test.each([
    'yesterday',
    '',
    'Mon',
    '2026-03-01T10:00:00Z',
    `Mon, ${'1'.repeat(100)}`,
    'Mon, 99 Foo 2026 10:00:00 GMT',
  ])('that is no date of HTTP, like %s, is not', (date) => {
    expect(modified(date)).toBeNull()
  })
})

describe('a request', () => {
  const date = 'Sun, 01 Mar 2026 10:00:00 GMT'
  test('has a condition for each validator that is known', () => {
    expect(conditionsOf({ last: last('W/"a"', date) })).toEqual({
      headers: { 'if-none-match': 'W/"a"', 'if-modified-since': date },
    })
    expect(conditionsOf({ last: last('"a"', null) })).toEqual({ headers: { 'if-none-match': '"a"' } })
    expect(conditionsOf({ last: last(null, date) })).toEqual({ headers: { 'if-modified-since': date } })
    expect(conditionsOf({ last: last(null, null) })).toEqual({})
    expect(conditionsOf({})).toEqual({})
  })

  test('without one is not answered by a 304', () => {
    expect(isNotModified({ last: last('"a"', null) }, { status: 304 })).toBe(true)
    expect(isNotModified({ last: last('"a"', null) }, { status: 200 })).toBe(false)
    expect(isNotModified({ last: last(null, null) }, { status: 304 })).toBe(false)
    expect(isNotModified({}, { status: 304 })).toBe(false)
  })
})
