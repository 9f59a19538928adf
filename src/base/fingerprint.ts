/**
 * 64-bit fingerprints of strings, keyed. The key is drawn at random for each crawl, so nobody can publish two URLs
 * that would be taken for one. With 100 million URLs the chance that any two share a fingerprint is 1 in 3,700.
 */

export interface Fingerprint {
  /** The upper and the lower 32 bits, as unsigned numbers. */
  hi: number
  lo: number
}

export interface FingerprintKey {
  readonly a: number
  readonly b: number
}

/**
 * Two lanes of multiply-and-rotate over UTF-16 units, each finished with an avalanche that mixes in the other lane.
 * The result is written into `into`, which spares an allocation for each link of each page.
 */
export function fingerprint(text: string, key: FingerprintKey, into: Fingerprint): Fingerprint {
  let a = key.a ^ text.length
  let b = key.b ^ Math.imul(text.length, 0x9e3779b1)
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    a = Math.imul(a ^ unit, 0x85ebca6b)
    a = (a << 13) | (a >>> 19)
    b = Math.imul(b ^ unit ^ (a >>> 7), 0xc2b2ae35)
    b = (b << 17) | (b >>> 15)
  }
  a = avalanche(a ^ Math.imul(b, 0x27d4eb2f))
  b = avalanche(b ^ Math.imul(a, 0x165667b1))
  into.hi = a >>> 0
  into.lo = b >>> 0
  return into
}

function avalanche(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}
