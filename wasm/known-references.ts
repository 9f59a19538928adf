/**
 * What references of pages lead to, as long as it is remembered. What it does, and for whom, is said in
 * src/parse/html/known-references.ts. A table of fixed size: a reference has four places in it, found by its bytes and by
 * as much of the base as it depends on, and what comes later takes the place of what was there.
 */
import {
  byteAt,
  CLIMBED,
  FOLDER,
  LINES,
  LINE_SIZE,
  MAX_CLIMB,
  ORIGIN,
  PAGE,
  REFERENCES,
  SETS,
  TEXTS,
  TEXT_SIZE,
  WAYS,
} from './layout'

const UNKNOWN: i32 = -1
const UNREADABLE: i32 = -2
const SELF: i32 = -3

/** What a reference depends on that is absolute. */
const NO_BASE: i32 = 1

const SPACE: i8 = 0x20
const HASH: i8 = 0x23
const AMPERSAND: i8 = 0x26
const DOT: u8 = 0x2e
const SLASH: u8 = 0x2f
const COLON: u8 = 0x3a
const QUESTION: u8 = 0x3f
const LETTER_S: u8 = 0x73
const DELETE: i8 = 0x7f
/** `http`, the first letter lowest. */
const HTTP: u32 = 0x70747468

/** Of the reference that was read last: what it depends on, its hash, and what of it is compared. */
let base: i32 = 0
let hash: usize = 0
let text: i32 = 0
let length: i32 = 0
/** The way in which the next reference of any set is put. */
let turn: usize = 0

/** What the reference between these places of the page leads to, or why that cannot be said. */
export function findReference(start: i32, end: i32): i32 {
  const unread = read(start, end)
  if (unread != 0) return unread
  const first = (hash % SETS) * WAYS
  for (let place = first; place < first + WAYS; place++) {
    const line = LINES + place * LINE_SIZE
    if (load<usize>(line) != hash || load<i32>(line, 4) != base || load<i32>(line, 8) != length) continue
    if (isSame(PAGE + text, TEXTS + place * TEXT_SIZE)) return load<i32>(line, 12)
  }
  return UNKNOWN
}

/** The same for as many as are told in `REFERENCES`, each by itself. One that begins nowhere cannot be looked up. */
export function findReferences(count: i32): void {
  for (let index = 0; index < count; index++) {
    const reference = REFERENCES + 8 * index
    const start = load<i32>(reference)
    store<i32>(reference, start < 0 ? UNREADABLE : findReference(start, load<i32>(reference, 4)))
  }
}

/** To be called when one was unknown, before the next is looked for: it leads to this URL. */
export function rememberReference(id: i32): void {
  const place = (hash % SETS) * WAYS + (turn++ % WAYS)
  const line = LINES + place * LINE_SIZE
  store<usize>(line, hash)
  store<i32>(line, base, 4)
  store<i32>(line, length, 8)
  store<i32>(line, id, 12)
  memory.copy(TEXTS + place * TEXT_SIZE, PAGE + text, length)
}

export function forgetReferences(): void {
  memory.fill(LINES, 0, SETS * WAYS * LINE_SIZE)
}

/** Reads a reference up to its fragment; 0, or why it cannot be looked up. */
function read(start: i32, end: i32): i32 {
  const stop = endOfReadable(start, end)
  if (stop < 0) return UNREADABLE
  if (stop == start) return SELF
  const first = byteAt(start)
  if (first == QUESTION) return UNREADABLE
  text = start
  let climb = 0
  while (text + 1 < end && byteAt(text) == DOT) {
    if (byteAt(text + 1) == SLASH) text += 2
    else if (text + 2 < end && byteAt(text + 1) == DOT && byteAt(text + 2) == SLASH) {
      text += 3
      climb++
    } else break
  }
  length = stop - text
  if (climb > MAX_CLIMB || length > (TEXT_SIZE as i32)) return UNREADABLE
  if (text > start) base = load<i32>(CLIMBED + 4 * climb)
  else if (first == SLASH) base = load<i32>(ORIGIN)
  else base = isAbsolute(start, stop) ? NO_BASE : load<i32>(FOLDER)
  hash = hashOfText()
  return 0
}

/** Where the fragment begins, or the end; -1 if anything stands before it but visible ASCII, or an ampersand. */
function endOfReadable(start: i32, end: i32): i32 {
  for (let at = start; at < end; at += 16) {
    const bytes = v128.load(PAGE + at)
    const within = end - at >= 16 ? 0xffff : (1 << (end - at)) - 1
    const marks = i8x16.bitmask(i8x16.eq(bytes, i8x16.splat(HASH))) & within
    // As signed numbers, bytes that are not ASCII are below all others.
    const hidden = v128.or(i8x16.le_s(bytes, i8x16.splat(SPACE)), i8x16.eq(bytes, i8x16.splat(DELETE)))
    const unreadable = i8x16.bitmask(v128.or(hidden, i8x16.eq(bytes, i8x16.splat(AMPERSAND)))) & within
    if (marks != 0) return unreadable != 0 && ctz(unreadable) < ctz(marks) ? -1 : at + ctz(marks)
    if (unreadable != 0) return -1
  }
  return end
}

/** Whether `http://` or `https://` stands here, and something behind it. */
function isAbsolute(start: i32, end: i32): bool {
  if (end - start < 8 || load<u32>(PAGE + start) != HTTP) return false
  const colon = byteAt(start + 4) == LETTER_S ? start + 5 : start + 4
  return byteAt(colon) == COLON && byteAt(colon + 1) == SLASH && byteAt(colon + 2) == SLASH
}

function hashOfText(): usize {
  let mixed: u64 = 0x9e37_79b9_7f4a_7c15 ^ (base as u64)
  for (let at = 0; at < length; at += 8) {
    let word = load<u64>(PAGE + text + at)
    const left = length - at
    if (left < 8) word &= ((1 as u64) << ((8 * left) as u64)) - 1
    mixed = (mixed ^ word) * 0xff51_afd7_ed55_8ccd
    mixed ^= mixed >>> 32
  }
  return mixed as usize
}

function isSame(one: usize, other: usize): bool {
  for (let at = 0; at < length; at += 16) {
    const equal = i8x16.bitmask(i8x16.eq(v128.load(one + at), v128.load(other + at)))
    const within = length - at >= 16 ? 0xffff : (1 << (length - at)) - 1
    if ((equal & within) != within) return false
  }
  return true
}
