/**
 * Codes by Huffman as deflate has them (RFC 1951 §3.2.2): symbols that are frequent get few bits, and the lengths alone
 * tell the code. The codes of one set of lengths leave nothing over, as readers demand it.
 */
import { COUNT_BY_BITS, NEXT_BY_BITS, NODES, PLACE_BY_COUNT, RANKED } from './deflate-layout'

const SYMBOL_BITS = 9
const SYMBOL_MASK: u32 = (1 << SYMBOL_BITS) - 1
/** Deflate allows no longer code. */
const MAX_BITS = 15
/** A symbol that comes fewer times than this is told apart from others by the count alone. */
const FEW = 128

function word(from: usize, index: i32): i32 {
  return load<i32>(from + ((index as usize) << 2))
}

function setWord(from: usize, index: i32, value: i32): void {
  store<i32>(from + ((index as usize) << 2), value)
}

/**
 * Writes the number of bits for each symbol into `lengths`: 0 for one that never comes, at most `maxBits`. Counts
 * are below 2^23. A single symbol gets one bit. Returns how many symbols there are up to the last one that comes.
 */
export function findCodeLengths(counts: usize, symbols: i32, maxBits: i32, lengths: usize): i32 {
  memory.fill(lengths, 0, symbols)
  let ranked = 0
  let end = 0
  for (let symbol = 0; symbol < symbols; symbol++) {
    const count = word(counts, symbol)
    if (count == 0) continue
    setWord(RANKED, ranked, (count << SYMBOL_BITS) | symbol)
    ranked++
    end = symbol + 1
  }
  if (ranked == 1) store<u8>(lengths + end - 1, 1)
  if (ranked < 2) return end
  rank(ranked)
  countLengths(ranked, maxBits)
  let place = RANKED
  for (let length = maxBits; length > 0; length--) {
    for (let left = word(COUNT_BY_BITS, length); left > 0; left--) {
      store<u8>(lengths + (load<u32>(place) & SYMBOL_MASK), length as u8)
      place += 4
    }
  }
  return end
}

/**
 * Puts them in rising order. Nearly all come a few times only: how many symbols there are of each such count says where
 * they go. The others are pushed into their places behind them.
 */
function rank(count: i32): void {
  memory.fill(PLACE_BY_COUNT, 0, (FEW + 1) << 2)
  for (let index = 0; index < count; index++) {
    const few = min((word(RANKED, index) as u32) >> SYMBOL_BITS, FEW) as i32
    setWord(PLACE_BY_COUNT, few, word(PLACE_BY_COUNT, few) + 1)
  }
  let next = 0
  for (let few = 0; few <= FEW; few++) {
    const symbols = word(PLACE_BY_COUNT, few)
    setWord(PLACE_BY_COUNT, few, next)
    next += symbols
  }
  const firstOther = word(PLACE_BY_COUNT, FEW)
  let others = firstOther
  memory.copy(NODES, RANKED, count << 2)
  for (let index = 0; index < count; index++) {
    const value = word(NODES, index) as u32
    const few = (value >> SYMBOL_BITS) as i32
    if (few < FEW) {
      const place = word(PLACE_BY_COUNT, few)
      setWord(RANKED, place, value)
      setWord(PLACE_BY_COUNT, few, place + 1)
    } else pushInto(firstOther, others++, value)
  }
}

/** From `first` on they are in rising order, up to `place`, where there is room for this one. */
function pushInto(first: i32, place: i32, value: u32): void {
  for (; place > first && (word(RANKED, place - 1) as u32) > value; place--) {
    setWord(RANKED, place, word(RANKED, place - 1))
  }
  setWord(RANKED, place, value)
}

/**
 * How many symbols have codes of which length, by Moffat and Katajainen's way in place: the nodes hold first the weights
 * of inner nodes of the tree, then their parents, then their depths.
 */
function countLengths(count: i32, maxBits: i32): void {
  for (let index = 0; index < count; index++)
    setWord(NODES, index, ((word(RANKED, index) as u32) >> SYMBOL_BITS) as i32)
  let leaf = 2
  let root = 0
  setWord(NODES, 0, word(NODES, 0) + word(NODES, 1))
  for (let next = 1; next < count - 1; next++) {
    let weight = 0
    for (let child = 0; child < 2; child++) {
      if (root < next && (leaf >= count || word(NODES, root) < word(NODES, leaf))) {
        weight += word(NODES, root)
        setWord(NODES, root, next)
        root++
      } else {
        weight += word(NODES, leaf)
        leaf++
      }
    }
    setWord(NODES, next, weight)
  }
  setWord(NODES, count - 2, 0)
  for (let node = count - 3; node >= 0; node--) setWord(NODES, node, word(NODES, word(NODES, node)) + 1)

  memory.fill(COUNT_BY_BITS, 0, (MAX_BITS + 1) << 2)
  let open = 1
  let node = count - 2
  for (let depth = 0; open > 0; depth++) {
    let inner = 0
    for (; node >= 0 && word(NODES, node) == depth; node--) inner++
    const length = min(depth, maxBits)
    setWord(COUNT_BY_BITS, length, word(COUNT_BY_BITS, length) + open - inner)
    open = 2 * inner
  }
  shorten(maxBits)
}

/** Codes that were cut to `maxBits` take more room than there is: others get longer until all fit. */
function shorten(maxBits: i32): void {
  let taken = 0
  for (let length = 1; length <= maxBits; length++) taken += word(COUNT_BY_BITS, length) << (maxBits - length)
  for (; taken > 1 << maxBits; taken--) {
    let length = maxBits - 1
    while (word(COUNT_BY_BITS, length) == 0) length--
    setWord(COUNT_BY_BITS, length, word(COUNT_BY_BITS, length) - 1)
    setWord(COUNT_BY_BITS, length + 1, word(COUNT_BY_BITS, length + 1) + 2)
    setWord(COUNT_BY_BITS, maxBits, word(COUNT_BY_BITS, maxBits) - 1)
  }
}

/** Writes codes of these lengths into `codes`: their first bit lowest, their length above. */
export function findCodes(lengths: usize, symbols: i32, codes: usize): void {
  memory.fill(NEXT_BY_BITS, 0, (MAX_BITS + 2) << 2)
  for (let symbol = 0; symbol < symbols; symbol++) {
    const next = (load<u8>(lengths + symbol) as i32) + 1
    setWord(NEXT_BY_BITS, next, word(NEXT_BY_BITS, next) + 1)
  }
  setWord(NEXT_BY_BITS, 1, 0)
  for (let next = 2; next <= MAX_BITS + 1; next++) {
    setWord(NEXT_BY_BITS, next, (word(NEXT_BY_BITS, next) + word(NEXT_BY_BITS, next - 1)) << 1)
  }
  for (let symbol = 0; symbol < symbols; symbol++) {
    const length = load<u8>(lengths + symbol) as i32
    const code = word(NEXT_BY_BITS, length)
    setWord(codes, symbol, length == 0 ? 0 : reversed(code, length) | (length << 16))
    setWord(NEXT_BY_BITS, length, code + 1)
  }
}

function reversed(value: u32, bits: i32): u32 {
  value = ((value & 0x5555) << 1) | ((value >> 1) & 0x5555)
  value = ((value & 0x3333) << 2) | ((value >> 2) & 0x3333)
  value = ((value & 0x0f0f) << 4) | ((value >> 4) & 0x0f0f)
  value = ((value & 0x00ff) << 8) | (value >> 8)
  return value >> (16 - bits)
}
