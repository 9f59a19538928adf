/**
 * The 64-bit fingerprint of a long plain text, to the letter. The marks around what is linked are no letters: they tell
 * whether a link leads to the page's own place, which depends on under which address the page was read. Mixed as the
 * fingerprint that `base` has for strings, but the text's units are read from an array: a text is a thousand times as long
 * as a URL.
 */
import { SHARED_UNITS, copyPiece } from './code-units.ts'
import { LINK_BEGIN, LINK_END } from './plain-text.ts'

export interface WholeHash {
  /** The upper and the lower 32 bits, signed. */
  readonly high: number
  readonly low: number
}

const KEY_A = 0x9e3779b9
const KEY_B = 0x85ebca6b
const MARKS = LINK_END - LINK_BEGIN + 1
const firstMark = LINK_BEGIN

/** A constant of this module, so that the loop needs no register for it. */
const units = SHARED_UNITS

/** The two lanes, between the pieces of a text, and how many letters went into them. */
let laneA = 0
let laneB = 0
let letters = 0

/** Of a text that comes in parts: they need not be put together for it. */
export function wholeHash(...parts: readonly string[]): WholeHash {
  laneA = KEY_A
  laneB = KEY_B
  letters = 0
  for (const part of parts) {
    for (let from = 0; from < part.length;) {
      const length = copyPiece(part, from)
      addUnits(length)
      from += length
    }
  }
  laneA ^= letters
  const high = avalanche(laneA ^ Math.imul(laneB, 0x27d4eb2f))
  return { high, low: avalanche(laneB ^ Math.imul(high, 0x165667b1)) }
}

function addUnits(length: number): void {
  let a = laneA | 0
  let b = laneB | 0
  let marks = 0
  for (let at = 0; at < length; at++) {
    const unit = units[at] as number
    if ((unit - firstMark) >>> 0 < MARKS) {
      marks++
      continue
    }
    a = Math.imul(a ^ unit, 0x85ebca6b)
    a = (a << 13) | (a >>> 19)
    b = Math.imul(b ^ unit ^ (a >>> 7), 0xc2b2ae35)
    b = (b << 17) | (b >>> 15)
  }
  laneA = a
  laneB = b
  letters += length - marks
}

function avalanche(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}
