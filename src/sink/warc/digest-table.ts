/**
 * Digests of payloads, each with a number: exact, small (37 bytes for each) and bounded. When it is full
 * the older half is forgotten. What is forgotten costs disk space, nothing else.
 */

const DIGEST_BYTES = 20
/** How far from its place a digest may lie. A host that makes its bodies collide only keeps them from being found. */
const MAX_PROBES = 64

export interface DigestTable {
  get(digest: Uint8Array): number | undefined
  /** `digest` has twenty bytes. One that is there already keeps its number. */
  set(digest: Uint8Array, value: number): void
  readonly size: number
}

export function createDigestTable(maximum: number): DigestTable {
  let capacity = Math.min(1024, maximum)
  let digests = new Uint8Array(capacity * DIGEST_BYTES)
  let values = new Float64Array(capacity)
  /** Open addressing, at most half full; an entry's number plus one, or 0. */
  let places = new Int32Array(placesFor(capacity))
  let size = 0

  /** The place of this digest, or the free one that it would take; undefined when neither is near. */
  const find = (digest: Uint8Array): number | undefined => {
    const mask = places.length - 1
    const home = digest[0]! | (digest[1]! << 8) | (digest[2]! << 16) | (digest[3]! << 24)
    for (let probe = 0; probe < MAX_PROBES; probe++) {
      const place = (home + probe) & mask
      const entry = places[place]!
      if (entry === 0 || isAt(digests, (entry - 1) * DIGEST_BYTES, digest)) return place
    }
    return undefined
  }
  const rebuild = (from: number): void => {
    digests.copyWithin(0, from * DIGEST_BYTES, size * DIGEST_BYTES)
    values.copyWithin(0, from, size)
    size -= from
    places = new Int32Array(placesFor(capacity))
    for (let entry = 0; entry < size; entry++) {
      const place = find(digests.subarray(entry * DIGEST_BYTES, (entry + 1) * DIGEST_BYTES))
      if (place !== undefined) places[place] = entry + 1
    }
  }
  const makeRoom = (): void => {
    if (capacity === maximum) return rebuild(Math.ceil(maximum / 2))
    capacity = Math.min(2 * capacity, maximum)
    digests = larger(digests, new Uint8Array(capacity * DIGEST_BYTES))
    values = larger(values, new Float64Array(capacity))
    rebuild(0)
  }
  return {
    get(digest) {
      const place = find(digest)
      return place === undefined || places[place] === 0 ? undefined : values[places[place]! - 1]
    },
    set(digest, value) {
      if (maximum === 0) return
      if (size === capacity) makeRoom()
      const place = find(digest)
      if (place === undefined || places[place] !== 0) return
      digests.set(digest, size * DIGEST_BYTES)
      values[size] = value
      places[place] = ++size
    },
    get size() {
      return size
    },
  }
}

/** A power of two, at least twice as many. */
const placesFor = (entries: number): number => 2 ** Math.ceil(Math.log2(2 * Math.max(1, entries)))

function isAt(all: Uint8Array, from: number, digest: Uint8Array): boolean {
  for (let index = 0; index < DIGEST_BYTES; index++) if (all[from + index] !== digest[index]) return false
  return true
}

function larger<T extends Uint8Array | Float64Array>(old: T, into: T): T {
  into.set(old)
  return into
}
