/** The hash by which what was learned of a host is found again: stored, so it stays as it is. */
import { fingerprint } from '../../base/index.ts'

const KEY = { a: 0x9e3779b9, b: 0x85ebca6b }
const scratch = { hi: 0, lo: 0 }

/** 32 bits, with a sign: so it takes no memory of its own. The key is fixed: whoever finds two texts with one hash can fool nobody but their own host's crawl. */
export function hashOf(text: string): number {
  return fingerprint(text, KEY, scratch).lo | 0
}
