/** Mechanisms that know nothing of crawling: time, randomness, bounded collections, units. */
export { bloomShape, bloomWords, createBloomFilter, type BloomFilter, type BloomShape } from './bloom.ts'
export { decodeReferences, referenceAt, type CharacterReference } from './character-references.ts'
export {
  clockOrigin,
  createSystemClock,
  createVirtualClock,
  sleepWith,
  type Clock,
  type VirtualClock,
} from './clock.ts'
export { createSystemDisk, type Disk, type GrowingFile } from './disk.ts'
export { fileLines, parseObject, type FileLine } from './file-lines.ts'
export { createHeap, type Heap } from './heap.ts'
export { createInsideCheck } from './inside-folder.ts'
export { createLru, type Lru } from './lru.ts'
export { makeFolder } from './make-folder.ts'
export { createRng, type Rng } from './rng.ts'
export { fingerprint, type Fingerprint, type FingerprintKey } from './fingerprint.ts'
export { createFingerprintCache, type FingerprintCache } from './fingerprint-cache.ts'
export { formatBytes, formatDuration, parseDurationMs, parsePercent, parseSizeBytes } from './units.ts'
export { createUuids } from './uuids.ts'
export { VERSION } from './version.ts'
