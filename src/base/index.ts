/** Mechanisms that know nothing of crawling: time, randomness, bounded collections, units. */
export { createSystemClock, createVirtualClock, type Clock, type VirtualClock } from './clock.ts'
export { createLru, type Lru } from './lru.ts'
export { makeFolder } from './make-folder.ts'
export { createRng, type Rng } from './rng.ts'
export { fingerprint, type Fingerprint, type FingerprintKey } from './fingerprint.ts'
export { createFingerprintCache, type FingerprintCache } from './fingerprint-cache.ts'
export { formatBytes, formatDuration, parseDurationMs, parsePercent, parseSizeBytes } from './units.ts'
export { VERSION } from './version.ts'
