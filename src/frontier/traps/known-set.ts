/**
 * Whether a 32-bit hash was added before: for certain while there are few, and with one wrong yes in some hundreds after
 * that. It remembers between 2,048 and 4,096 of them: when the younger half is full, the older one is forgotten.
 *
 * A half is a list while that is smaller, then a Bloom filter of twelve bits an entry.
 */
import type { Reader, Writer } from './codec.ts'

export interface KnownSet {
  has(hash: number): boolean
  add(hash: number): void
  /** Whether some were forgotten. */
  readonly hasForgotten: boolean
  write(writer: Writer): void
  read(reader: Reader): void
}

const MAX_LISTED = 768
const MAX_ENTRIES = 2_048
const FILTER_WORDS = MAX_LISTED
const PROBES = 8

interface Half {
  entries: number
  listed: Set<number>
  filter: Uint32Array | undefined
}

const emptyHalf = (): Half => ({ entries: 0, listed: new Set(), filter: undefined })

export function createKnownSet(): KnownSet {
  let older = emptyHalf()
  let younger = emptyHalf()
  let hasForgotten = false
  const has = (hash: number): boolean => isIn(younger, hash) || isIn(older, hash)
  return {
    has: (hash) => has(hash | 0),
    add(added) {
      // With a sign, since larger numbers would each be an object.
      const hash = added | 0
      if (has(hash)) return
      if (younger.entries >= MAX_ENTRIES) {
        hasForgotten ||= older.entries > 0
        older = younger
        younger = emptyHalf()
      }
      addTo(younger, hash)
    },
    get hasForgotten() {
      return hasForgotten
    },
    write(writer) {
      writer.byte(Number(hasForgotten))
      writeHalf(writer, older)
      writeHalf(writer, younger)
    },
    read(reader) {
      hasForgotten = reader.byte() === 1
      older = readHalf(reader)
      younger = readHalf(reader)
    },
  }
}

function isIn({ listed, filter }: Half, hash: number): boolean {
  if (filter === undefined) return listed.has(hash)
  for (let probe = 0; probe < PROBES; probe++) {
    const bit = bitOf(hash, probe)
    if (((filter[bit >>> 5] as number) & (1 << (bit & 31))) === 0) return false
  }
  return true
}

function addTo(half: Half, hash: number): void {
  half.entries += 1
  if (half.filter === undefined && half.listed.size < MAX_LISTED) {
    half.listed.add(hash)
    return
  }
  if (half.filter === undefined) {
    half.filter = new Uint32Array(FILTER_WORDS)
    for (const listed of half.listed) setBits(half.filter, listed)
    half.listed = new Set()
  }
  setBits(half.filter, hash)
}

function setBits(filter: Uint32Array, hash: number): void {
  for (let probe = 0; probe < PROBES; probe++) {
    const bit = bitOf(hash, probe)
    filter[bit >>> 5] = (filter[bit >>> 5] as number) | (1 << (bit & 31))
  }
}

/** Double hashing: the second hash is made from the first, and odd. */
function bitOf(hash: number, probe: number): number {
  const step = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) | 1
  return ((hash + Math.imul(probe, step)) >>> 0) % (FILTER_WORDS * 32)
}

function writeHalf(writer: Writer, { entries, listed, filter }: Half): void {
  writer.short(entries)
  writer.byte(filter === undefined ? 0 : 1)
  for (const word of filter ?? listed) writer.word(word)
}

function readHalf(reader: Reader): Half {
  const half = emptyHalf()
  half.entries = Math.min(reader.short(), MAX_ENTRIES)
  if (reader.byte() === 1) {
    half.filter = Uint32Array.from({ length: FILTER_WORDS }, () => reader.word())
    return half
  }
  const listed = Math.min(half.entries, MAX_LISTED)
  for (let count = 0; count < listed; count++) half.listed.add(reader.word() | 0)
  return half
}
