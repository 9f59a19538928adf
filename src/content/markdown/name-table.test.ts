import fc from 'fast-check'
import { expect, test } from 'vitest'
import { NameTable } from './name-table.ts'

const NAMES = ['a', 'b', 'h1', 'div', 'data-lang', 'blockquote', 'figcaption', 'link']
const table = new NameTable(NAMES)
const unitsOf = (text: string): Uint16Array => Uint16Array.from({ length: text.length }, (_, at) => text.charCodeAt(at))
const find = (name: string): number => table.find(unitsOf(`<${name}>`), 1, name.length + 1)

test('a name is found in whatever case', () => {
  NAMES.forEach((name, number) => {
    expect(find(name)).toBe(number)
    expect(find(name.toUpperCase())).toBe(number)
  })
})

test('what only resembles a name is none', () => {
  for (const other of ['', 'h\u0011', 'H2', 'di', 'divs', 'data_lang', 'lin\u212a', 'x'.repeat(40)]) {
    expect(find(other)).toBe(-1)
  }
})

test('any other word is none', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 20 }), (word) => {
      const known = NAMES.indexOf(word.replace(/[A-Z]/g, (letter) => letter.toLowerCase()))
      expect(find(word)).toBe(known)
    }),
  )
})
