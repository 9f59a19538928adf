import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SHARED_LENGTH } from './code-units.ts'
import { wholeHash } from './whole-hash.ts'

/** Texts of few letters, so that many are nearly the same, with marks of links among them. */
const letters = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n', '\v', '\f') })
const withoutMarks = (text: string): string => text.replaceAll(/[\v\f]/g, '')

test('two texts have the same one if they are the same but for the marks of what is linked', () => {
  fc.assert(
    fc.property(letters, letters, (one, other) => {
      const areSame = withoutMarks(one) === withoutMarks(other)
      expect(JSON.stringify(wholeHash(one)) === JSON.stringify(wholeHash(other))).toBe(areSame)
      expect(wholeHash(withoutMarks(one))).toEqual(wholeHash(one))
    }),
  )
})

test('any letter counts', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1 }), fc.nat(), (text, place) => {
      const at = place % text.length
      const other = text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ 0x100) + text.slice(at + 1)
      expect(wholeHash(other)).not.toEqual(wholeHash(text))
    }),
  )
})

test('a text of several pieces is hashed to its end', () => {
  const text = 'The quiet ledger keeps every page. '.repeat(Math.ceil((2.5 * SHARED_LENGTH) / 35))
  expect(wholeHash(`${text}.`)).not.toEqual(wholeHash(`${text},`))
  expect(wholeHash(`${text}\v`)).toEqual(wholeHash(text))
})

test('a text that comes in parts has the hash of the whole', () => {
  fc.assert(
    fc.property(fc.array(fc.string(), { maxLength: 4 }), (parts) => {
      expect(wholeHash(...parts)).toEqual(wholeHash(parts.join('')))
    }),
  )
})
