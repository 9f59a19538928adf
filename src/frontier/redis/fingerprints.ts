/**
 * The numbers by which URLs and hosts are known on the servers, drawn from the text and a key of the crawl:
 * so nobody can publish two URLs that would be taken for one, and every process of a crawl comes to the same numbers.
 * A URL's number is a whole one of 64 bits with a sign, in decimal: that is what packed sets of Redis hold.
 */
import { fingerprint, type Fingerprint, type FingerprintKey } from '../../base/index.ts'
import type { HostKey, NormalizedUrl } from '../../model/index.ts'
import { keyOfNormalized } from '../../url/index.ts'

export interface UrlNumber {
  /** In decimal. */
  readonly name: string
  /** The lower 32 bits, by which it falls into a bucket. */
  readonly low: number
  /** The upper 32 bits. */
  readonly high: number
  /** `Task.id`: 53 of its bits, never 0. */
  readonly id: number
}

export interface Fingerprints {
  /** A page and a sitemap of one address are two. */
  ofUrl(kind: 'page' | 'sitemap', url: NormalizedUrl): UrlNumber
  urlName(kind: 'page' | 'sitemap', url: NormalizedUrl): string
  /** A whole number from 0 to 2^32 - 1. */
  hostNumber(host: HostKey): number
}

/** Stands in front of the address of a sitemap; in no URL. */
const SITEMAP_MARK = '\n'

export function createFingerprints(key: FingerprintKey): Fingerprints {
  const print: Fingerprint = { hi: 0, lo: 0 }
  const ofUrl: Fingerprints['ofUrl'] = (kind, url) => {
    const text = keyOfNormalized(url)
    fingerprint(kind === 'page' ? text : SITEMAP_MARK + text, key, print)
    return { name: decimal(print), low: print.lo, high: print.hi, id: taskId(print) }
  }
  return {
    ofUrl,
    urlName: (kind, url) => ofUrl(kind, url).name,
    hostNumber: (host) => fingerprint(host, key, print).lo,
  }
}

function decimal({ hi, lo }: Fingerprint): string {
  return BigInt.asIntN(64, (BigInt(hi) << 32n) | BigInt(lo)).toString()
}

function taskId({ hi, lo }: Fingerprint): number {
  return (hi & 0x1f_ffff) * 2 ** 32 + lo || 1
}
