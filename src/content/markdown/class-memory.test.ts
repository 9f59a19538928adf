import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ClassMemory } from './class-memory.ts'

const unitsOf = (text: string): Uint16Array => Uint16Array.from({ length: text.length }, (_, at) => text.charCodeAt(at))

function setUp() {
  const read: string[] = []
  const memory = new ClassMemory((value) => {
    read.push(value)
    return value.toUpperCase()
  })
  return { read, meaningOf: (value: string) => memory.meaningOf(unitsOf(`"${value}"`), 1, value.length + 1) }
}

test('what a class means is worked out once', () => {
  const { read, meaningOf } = setUp()
  for (const value of ['note', 'nav', 'note', '', 'nav', '']) expect(meaningOf(value)).toBe(value.toUpperCase())
  expect(read).toEqual(['note', 'nav', ''])
})

test('of a class that is longer than any that means something, its head is read, each time', () => {
  const { read, meaningOf } = setUp()
  meaningOf('x'.repeat(600))
  meaningOf('x'.repeat(600))
  expect(read).toEqual(['x'.repeat(512), 'x'.repeat(512)])
})

test('it stays right when it has met more than it can remember', () => {
  const { meaningOf } = setUp()
  for (let number = 0; number < 20_000; number++) expect(meaningOf(`c${number}`)).toBe(`C${number}`)
  for (let number = 0; number < 2_000; number++) {
    const long = `${'-'.repeat(400)}c${number}`
    expect(meaningOf(long)).toBe(long.toUpperCase())
  }
})

test('classes that only resemble each other keep their own meaning', () => {
  const { meaningOf } = setUp()
  // Only the beginning and the end of a long one tell where it is remembered.
  const alike = Array.from({ length: 40 }, (_, at) => `${'a'.repeat(20 + at)}b${'a'.repeat(60 - at)}`)
  for (const value of [...alike, ...alike]) expect(meaningOf(value)).toBe(value.toUpperCase())
})

test('any class means what is read from it', () => {
  const { meaningOf } = setUp()
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: fc.constantFrom('a', 'B', '-', ' ', 'é'), maxLength: 30 }), { maxLength: 10 }),
      (values) => {
        for (const value of values) expect(meaningOf(value)).toBe(value.toUpperCase())
      },
    ),
  )
})
