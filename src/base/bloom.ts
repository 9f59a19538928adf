/**
 * A blocked Bloom filter over fingerprints: all bits of a key lie in one block of 64 bytes, so that a question touches
 * one cache line. It answers `false` with certainty and `true` with doubt, and never decides alone.
 *
 * Keys are fingerprints, so their bits are even and independent as they come: the upper half chooses the block, the
 * lower half the bits in it. Blocks are in the order of the keys, hence keys added in order fill the filter from one
 * end to the other, and two neighbouring blocks can be laid over each other to make a filter of half the size.
 */

/** Bits and 32-bit words of a block: one cache line. */
const BLOCK_BITS = 512
const BLOCK_WORDS = BLOCK_BITS / 32
/** Blocks come in such a multiple, so that a filter can be halved a few times. */
const GRAIN = 8

/** Odd numbers without pattern: each turns the lower half of a key into another choice of a bit. */
const SALT_A = 0x47b6137b
const SALT_B = 0x44974d91
const SALT_C = 0x8824ad5b | 0
const SALT_D = 0xa2b7289d | 0
// oxfmt-ignore
const SALTS = Int32Array.of(
  SALT_A, SALT_B, SALT_C, SALT_D, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31,
  0xcc9e2d51, 0x1b873593, 0x85ebca6b, 0xc2b2ae35, 0x27d4eb2f, 0x165667b1, 0x9e3779b1, 0x7feb352d,
)
const FEWEST_PROBES = 4
const MOST_PROBES = SALTS.length
/** A rate that would need more bits than this for each key is not reached. */
const MOST_BITS = 64
/** The formula takes the bits of a key for independent. In truth rates are up to so much higher, the more so small ones. */
const MARGIN = 1.06

export interface BloomShape {
  readonly bitsPerKey: number
  /** Bits that each key sets. */
  readonly probes: number
}

export interface BloomFilter {
  readonly probes: number
  /** All that there is to store. */
  readonly words: Int32Array
  /** The two halves of a fingerprint, as unsigned numbers. */
  add(hi: number, lo: number): void
  /** False when this key was certainly not added. */
  has(hi: number, lo: number): boolean
  /** One of half the size that has the same keys, wrong more often; undefined when it cannot be halved. */
  halved(): BloomFilter | undefined
}

/** The smallest filter that is wrong at most this often about keys that it does not have. */
export function bloomShape(falsePositiveRate: number): BloomShape {
  let best: BloomShape = { bitsPerKey: MOST_BITS, probes: MOST_PROBES }
  for (let probes = FEWEST_PROBES; probes <= MOST_PROBES; probes++) {
    let few = 1
    let enough = MOST_BITS
    while (enough - few > 0.01) {
      const bits = (few + enough) / 2
      if (blockedRate(bits, probes) * MARGIN > falsePositiveRate) few = bits
      else enough = bits
    }
    // From the best number of probes on, each further one only costs.
    if (enough > best.bitsPerKey) break
    best = { bitsPerKey: enough, probes }
  }
  return best
}

/**
 * How often a blocked filter is wrong. Keys fall on blocks at random, so some blocks have more than their share, which
 * costs more than others gain: this is the mean over the Poisson distribution of keys in a block.
 */
function blockedRate(bitsPerKey: number, probes: number): number {
  const mean = BLOCK_BITS / bitsPerKey
  const most = mean + 12 * Math.sqrt(mean) + 20
  const left = (1 - 1 / BLOCK_BITS) ** probes
  let probability = Math.exp(-mean)
  /** Of the bits of a block with so many keys, the share that is zero. */
  let zero = 1
  let rate = 0
  for (let keys = 1; keys <= most; keys++) {
    probability *= mean / keys
    zero *= left
    rate += probability * (1 - zero) ** probes
  }
  return rate
}

/** The 32-bit words of a filter for so many keys; at most `limit`, and then it is wrong more often. */
export function bloomWords(keys: number, shape: BloomShape, limit = Infinity): number {
  const blocks = Math.ceil((Math.max(keys, 1) * shape.bitsPerKey) / BLOCK_BITS / GRAIN) * GRAIN
  const most = Math.max(1, Math.floor(limit / BLOCK_WORDS / GRAIN)) * GRAIN
  return Math.min(blocks, most) * BLOCK_WORDS
}

/** A filter in these words: all zero for an empty one, or those of another filter, whose `probes` must be the same. */
export function createBloomFilter(words: Int32Array, probes: number): BloomFilter {
  const blocks = words.length / BLOCK_WORDS
  if (!Number.isInteger(blocks) || blocks === 0 || !(probes >= FEWEST_PROBES && probes <= MOST_PROBES)) {
    throw new RangeError(`no Bloom filter has ${words.length} words and ${probes} probes`)
  }
  const scale = blocks / 4_294_967_296
  return {
    probes,
    words,
    add(hi, lo) {
      const first = ((hi * scale) | 0) * BLOCK_WORDS
      for (let probe = 0; probe < probes; probe++) {
        const bit = Math.imul(lo, SALTS[probe] as number) >>> 23
        const word = first + (bit >>> 5)
        words[word] = (words[word] as number) | (1 << (bit & 31))
      }
    },
    has(hi, lo) {
      const first = ((hi * scale) | 0) * BLOCK_WORDS
      // Which bit is the first that is missing, no processor can foresee; that one of the first four is, it can.
      const a = Math.imul(lo, SALT_A) >>> 23
      const b = Math.imul(lo, SALT_B) >>> 23
      const c = Math.imul(lo, SALT_C) >>> 23
      const d = Math.imul(lo, SALT_D) >>> 23
      const both =
        ((words[first + (a >>> 5)] as number) >>> (a & 31)) & ((words[first + (b >>> 5)] as number) >>> (b & 31))
      const more =
        ((words[first + (c >>> 5)] as number) >>> (c & 31)) & ((words[first + (d >>> 5)] as number) >>> (d & 31))
      if ((both & more & 1) === 0) return false
      for (let probe = FEWEST_PROBES; probe < probes; probe++) {
        const bit = Math.imul(lo, SALTS[probe] as number) >>> 23
        if (((words[first + (bit >>> 5)] as number) & (1 << (bit & 31))) === 0) return false
      }
      return true
    },
    halved() {
      if (blocks % 2 !== 0) return undefined
      const half = new Int32Array(words.length / 2)
      for (let word = 0; word < half.length; word++) {
        const from = 2 * word - (word % BLOCK_WORDS)
        half[word] = (words[from] as number) | (words[from + BLOCK_WORDS] as number)
      }
      return createBloomFilter(half, probes)
    },
  }
}
