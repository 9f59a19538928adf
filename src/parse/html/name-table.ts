/**
 * Names of elements and attributes, found in the bytes of a page without making a string of them: by first letter and
 * length, then letter by letter. ASCII letters match in either case; nothing else does, so U+212A KELVIN SIGN is never
 * the k of `link`.
 */

/** Of a name or a piece of one: its place in the list that the table was made of, from 1. 0 is no name of the list. */
export interface NameTable {
  idOf(bytes: Uint8Array, start: number, end: number): number
  readonly shapes: NameShapes
}

/** One bit for each shape that a name of the list has: five bits of its first letter, five of its second, its length. */
export type NameShapes = Uint8Array

/** A name's length takes five bits of its place in the table. */
const MAX_NAME_LENGTH = 31

/** @param names in lower case, at most 255 of them, each of at most 31 characters of ASCII */
export function createNameTable(names: readonly string[]): NameTable {
  const spellings = names.map((name) => Buffer.from(name, 'latin1'))
  /** The first name of each letter and length, and for each name the next one of these. */
  const heads = new Uint8Array(32 * 32)
  const followers = new Uint8Array(names.length + 1)
  spellings.forEach((spelling, index) => {
    const place = placeOf(spelling[0] as number, spelling.length)
    followers[index + 1] = heads[place] as number
    heads[place] = index + 1
  })
  return {
    shapes: shapesOf(spellings),
    idOf(bytes, start, end) {
      const length = end - start
      if (length > MAX_NAME_LENGTH) return 0
      let id = heads[placeOf(bytes[start] as number, length)] as number
      while (id !== 0 && !isSpelled(spellings[id - 1] as Uint8Array, bytes, start)) id = followers[id] as number
      return id
    },
  }
}

function shapesOf(spellings: readonly Uint8Array[]): NameShapes {
  const shapes = new Uint8Array(32 * 32 * 4)
  for (const spelling of spellings) {
    const [first = 0, second = 0] = spelling
    const shape = ((first & 31) << 10) | ((second & 31) << 5) | spelling.length
    shapes[shape >>> 3] = (shapes[shape >>> 3] as number) | (1 << (shape & 7))
  }
  return shapes
}

function placeOf(letter: number, length: number): number {
  return ((letter & 31) << 5) | length
}

function isSpelled(spelling: Uint8Array, bytes: Uint8Array, start: number): boolean {
  for (let at = 0; at < spelling.length; at++) {
    const byte = bytes[start + at] as number
    if (byte !== spelling[at] && !(isUpperCase(byte) && (byte | 0x20) === spelling[at])) return false
  }
  return true
}

function isUpperCase(byte: number): boolean {
  return byte >= 0x41 && byte <= 0x5a
}
