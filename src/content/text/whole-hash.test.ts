import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fingerprint } from '../../base/index.ts'
import { SHARED_LENGTH } from './code-units.ts'
import { WHOLE_KEY, wholeHash } from './whole-hash.ts'

function expected(text: string): { high: number; low: number } {
  const { hi, lo } = fingerprint(text, WHOLE_KEY, { hi: 0, lo: 0 })
  return { high: hi | 0, low: lo | 0 }
}

test('it is the fingerprint of the text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(wholeHash(text)).toEqual(expected(text))
    }),
  )
})

test('a text of several pieces is hashed to its end', () => {
  const text = 'The quiet ledger keeps every page. '.repeat(Math.ceil((2.5 * SHARED_LENGTH) / 35))
  expect(wholeHash(text)).toEqual(expected(text))
  expect(wholeHash(`${text}.`)).not.toEqual(wholeHash(`${text},`))
})

test('a text that comes in parts has the hash of the whole', () => {
  fc.assert(
    fc.property(fc.array(fc.string(), { maxLength: 4 }), (parts) => {
      expect(wholeHash(...parts)).toEqual(expected(parts.join('')))
    }),
  )
})
