/**
 * The 64-bit fingerprint of a long plain text, to the letter. The marks around what is linked are no letters: they tell
 * whether a link leads to the page's own place, which depends on under which address the page was read.
 */
import { SHARED_UNITS, copyPiece } from './code-units.ts'
import { LINK_BEGIN, LINK_END } from './plain-text.ts'

export interface WholeHash {
  /** The upper and the lower 32 bits, signed. */
  readonly high: number
  readonly low: number
}

/** Where the lanes begin. */
const KEYS: readonly number[] = [0x9e3779b9, 0x85ebca6b, 0xc2b2ae35, 0x27d4eb2f]
const STEP = 0x85ebca6b
const MARKS = LINK_END - LINK_BEGIN + 1
const firstMark = LINK_BEGIN

/** A constant of this module, so that the loop needs no register for it. */
const units = SHARED_UNITS

/**
 * The lanes between the pieces of a text, the one first that takes the next letter, and how many letters went into them.
 * Each letter goes to the next of four lanes: one alone would have to wait for its letter before.
 */
const lanes = new Int32Array(KEYS.length)
let letters = 0

/** Of a text that comes in parts: they need not be put together for it. */
export function wholeHash(...parts: readonly string[]): WholeHash {
  lanes.set(KEYS)
  letters = 0
  for (const part of parts) {
    for (let from = 0; from < part.length;) {
      const length = copyPiece(part, from)
      addUnits(length)
      from += length
    }
  }
  const [a = 0, b = 0, c = 0, d = 0] = lanes
  const high = avalanche(a ^ Math.imul(b, 0x27d4eb2f) ^ Math.imul(avalanche(c ^ letters), 0x165667b1))
  return { high, low: avalanche(b ^ Math.imul(high, 0x165667b1) ^ Math.imul(avalanche(d ^ c), 0x27d4eb2f)) }
}

function addUnits(length: number): void {
  let a = lanes[0] as number
  let b = lanes[1] as number
  let c = lanes[2] as number
  let d = lanes[3] as number
  let marks = 0
  let at = 0
  while (at < length) {
    const unit = units[at] as number
    if (isMark(unit)) {
      marks++
      at++
      continue
    }
    if (at + 4 <= length) {
      const second = units[at + 1] as number
      const third = units[at + 2] as number
      const fourth = units[at + 3] as number
      if (!isMark(second) && !isMark(third) && !isMark(fourth)) {
        a = stepped(a, unit)
        b = stepped(b, second)
        c = stepped(c, third)
        d = stepped(d, fourth)
        at += 4
        continue
      }
    }
    const last = stepped(a, unit)
    a = b
    b = c
    c = d
    d = last
    at++
  }
  lanes[0] = a
  lanes[1] = b
  lanes[2] = c
  lanes[3] = d
  letters += length - marks
}

function isMark(unit: number): boolean {
  return (unit - firstMark) >>> 0 < MARKS
}

function stepped(lane: number, unit: number): number {
  const mixed = Math.imul(lane ^ unit, STEP)
  return (mixed << 13) | (mixed >>> 19)
}

function avalanche(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}
