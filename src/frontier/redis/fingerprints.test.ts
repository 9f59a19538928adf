import { expect, test } from 'vitest'
import type { HostKey, NormalizedUrl } from '../../model/index.ts'
import { createFingerprints } from './fingerprints.ts'

const prints = createFingerprints({ a: 1, b: 2 })
const numbers = Array.from({ length: 2_000 }, (_, n) => prints.ofUrl('page', `https://a.test/${n}` as NormalizedUrl))

test('a URL has a number of 64 bits that Redis takes for a whole one, and an id of 53', () => {
  for (const { name, low, high, id } of numbers) {
    expect(BigInt.asUintN(64, BigInt(name))).toBe((BigInt(high) << 32n) | BigInt(low))
    expect(BigInt.asIntN(64, BigInt(name)).toString()).toBe(name)
    expect(Number.isSafeInteger(id) && id > 0).toBe(true)
  }
  expect(new Set(numbers.map(({ name }) => name)).size).toBe(numbers.length)
  expect(new Set(numbers.map(({ id }) => id)).size).toBe(numbers.length)
})

test('two spellings of one URL have one number, a sitemap and a page of one address two', () => {
  const name = prints.urlName('page', 'https://a.test/~x' as NormalizedUrl)
  expect(prints.urlName('page', 'https://a.test/%7ex' as NormalizedUrl)).toBe(name)
  expect(prints.urlName('sitemap', 'https://a.test/~x' as NormalizedUrl)).not.toBe(name)
})

test('another key gives other numbers', () => {
  const other = createFingerprints({ a: 1, b: 3 })
  expect(other.urlName('page', 'https://a.test/1' as NormalizedUrl)).not.toBe(numbers[1]?.name)
  expect(other.hostNumber('a.test' as HostKey)).not.toBe(prints.hostNumber('a.test' as HostKey))
})
