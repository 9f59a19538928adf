/**
 * Finds its way through the bytes of a page, sixteen at a time. What it does, and for whom, is said in
 * src/parse/html/page-search.ts. It follows the HTML Standard's rules of tokenisation (§13.2.5) for tags alone; at anything
 * else it stops.
 */
import { byteAt, LINKS, LINK_COUNT, MAX_LINKS, PAGE, SHAPES } from './layout'

const TAB: u8 = 0x09
const LINE_FEED: u8 = 0x0a
const FORM_FEED: u8 = 0x0c
const CARRIAGE_RETURN: u8 = 0x0d
const SPACE: u8 = 0x20
const DOUBLE_QUOTE: u8 = 0x22
const SINGLE_QUOTE: u8 = 0x27
const SLASH: u8 = 0x2f
const LESS: u8 = 0x3c
const EQUALS: u8 = 0x3d
const GREATER: u8 = 0x3e
const LETTER_A: u8 = 0x61

const SPACES: u64 =
  ((1 as u64) << TAB) |
  ((1 as u64) << LINE_FEED) |
  ((1 as u64) << FORM_FEED) |
  ((1 as u64) << CARRIAGE_RETURN) |
  ((1 as u64) << SPACE)

/** As words of four letters and of three, the first letter lowest. */
const HREF: u32 = 0x66657268
const REL: u32 = 0x6c6572
const LOWER_4: u32 = 0x20202020
const LOWER_3: u32 = 0x202020

/** The place of the next such byte, or `end`. */
export function find(byte: i32, from: i32, end: i32): i32 {
  const wanted = i8x16.splat(byte as i8)
  for (let at = from; at < end; at += 16) {
    const found = i8x16.bitmask(i8x16.eq(v128.load(PAGE + at), wanted))
    if (found != 0) return min(at + ctz(found), end)
  }
  return end
}

/**
 * The place of the next `<` that begins anything but a tag to be passed over, or `end`. Those are the tags whose names have
 * no shape that was marked; where links are taken, also the end tags of `a`, and its start tags without a `rel`, whose
 * `href` is noted, as long as there is room for it.
 */
export function pass(from: i32, end: i32, takesLinks: bool): i32 {
  let links = 0
  let at = from
  let stop = end
  while (at < end) {
    const open = find(LESS, at, end)
    stop = open
    // The shortest tag has three bytes. One at the very end is left to the caller.
    if (open + 3 >= end) break
    const isClose = byteAt(open + 1) == SLASH
    const start = isClose ? open + 2 : open + 1
    const first = byteAt(start)
    if (!isLetter(first)) break
    at = start + 1
    while (at < end && !endsName(byteAt(at))) at++
    if (takesLinks && at == start + 1 && (first | SPACE) == LETTER_A) {
      if (links == MAX_LINKS) break
      at = endOfTag(at, end, isClose ? -1 : links)
      if (at < 0) break
      if (isLinkFound) links++
    } else {
      if (isMarked(start, at)) break
      if (byteAt(at) == GREATER) at++
      else at = endOfTag(at, end, -1)
      if (at < 0) break
    }
    stop = end
  }
  store<i32>(LINK_COUNT, links)
  return stop
}

let isLinkFound: bool = false

/**
 * Just behind a tag whose attributes begin here; -1 if the page ends before.
 * @param link where to note the first `href`: then a tag with a `rel` is -1, too. -1 notes none.
 */
function endOfTag(start: i32, end: i32, link: i32): i32 {
  isLinkFound = false
  let at = start
  while (at < end) {
    const first = byteAt(at)
    if (first == GREATER) return at + 1
    if (first == SLASH || isSpace(first)) {
      at++
      continue
    }
    // Whatever stands here begins a name, even `=` or a quote.
    const nameStart = at++
    while (at < end && byteAt(at) != EQUALS && !endsName(byteAt(at))) at++
    const nameEnd = at
    while (at < end && isSpace(byteAt(at))) at++
    let valueStart = at
    let valueEnd = at
    if (at < end && byteAt(at) == EQUALS) {
      at++
      while (at < end && isSpace(byteAt(at))) at++
      if (at >= end) return -1
      const quote = byteAt(at)
      if (quote == DOUBLE_QUOTE || quote == SINGLE_QUOTE) {
        valueStart = at + 1
        valueEnd = find(quote, valueStart, end)
        at = valueEnd + 1
      } else {
        valueStart = at
        while (at < end && byteAt(at) != GREATER && !isSpace(byteAt(at))) at++
        valueEnd = at
      }
    }
    if (link < 0) continue
    const length = nameEnd - nameStart
    if (length == 4 && (load<u32>(PAGE + nameStart) | LOWER_4) == HREF && !isLinkFound) {
      isLinkFound = true
      store<i32>(LINKS + 8 * link, valueStart)
      store<i32>(LINKS + 8 * link, valueEnd, 4)
    } else if (length == 3 && ((load<u32>(PAGE + nameStart) & 0xffffff) | LOWER_3) == REL) return -1
  }
  return -1
}

/** Whether a name that stands here has a shape of those that are not passed over: its first two letters and its length. */
function isMarked(start: i32, end: i32): bool {
  const length = end - start
  if (length > 31) return false
  const second = length == 1 ? 0 : ((byteAt(start + 1) & 31) as i32)
  const shape = (((byteAt(start) & 31) as i32) << 10) | (second << 5) | length
  return ((load<u8>(SHAPES + (shape >>> 3)) >>> ((shape & 7) as u8)) & 1) != 0
}

function isLetter(byte: u8): bool {
  return (((byte | SPACE) - LETTER_A) as u8) < 26
}

function isSpace(byte: u8): bool {
  return byte <= SPACE && ((SPACES >>> (byte as u64)) & 1) != 0
}

function endsName(byte: u8): bool {
  return byte <= GREATER && (byte == GREATER || byte == SLASH || isSpace(byte))
}
