/**
 * The 64-bit fingerprint of a long text, to the letter. It is the one that `base` has for strings, with one fixed key,
 * but reads the text's units from an array: a text is a thousand times as long as a URL.
 */
import { SHARED_UNITS, copyPiece } from './code-units.ts'

export interface WholeHash {
  /** The upper and the lower 32 bits, signed. */
  readonly high: number
  readonly low: number
}

export const WHOLE_KEY = { a: 0x9e3779b9, b: 0x85ebca6b } as const

/** A constant of this module, so that the loop needs no register for it. */
const units = SHARED_UNITS

/** The two lanes, between the pieces of a text. */
let laneA = 0
let laneB = 0

/** Of a text that comes in parts: they need not be put together for it. */
export function wholeHash(...parts: readonly string[]): WholeHash {
  let total = 0
  for (const part of parts) total += part.length
  laneA = WHOLE_KEY.a ^ total
  laneB = WHOLE_KEY.b ^ Math.imul(total, 0x9e3779b1)
  for (const part of parts) {
    for (let from = 0; from < part.length;) {
      const length = copyPiece(part, from)
      addUnits(length)
      from += length
    }
  }
  const high = avalanche(laneA ^ Math.imul(laneB, 0x27d4eb2f))
  return { high, low: avalanche(laneB ^ Math.imul(high, 0x165667b1)) }
}

function addUnits(length: number): void {
  let a = laneA | 0
  let b = laneB | 0
  for (let at = 0; at < length; at++) {
    const unit = units[at] as number
    a = Math.imul(a ^ unit, 0x85ebca6b)
    a = (a << 13) | (a >>> 19)
    b = Math.imul(b ^ unit ^ (a >>> 7), 0xc2b2ae35)
    b = (b << 17) | (b >>> 15)
  }
  laneA = a
  laneB = b
}

function avalanche(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}
