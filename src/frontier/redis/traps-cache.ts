/**
 * What was learned of the traps of hosts, as far as this process has it. The servers keep a text and its version for each
 * host; whoever learns enough to write it down does so only on top of the version that it read, and else reads what the
 * others have written. What was learned in between is lost then, and learned again.
 */
import { createLru } from '../../base/index.ts'
import type { HostKey } from '../../model/index.ts'
import { createHostTraps, type HostTraps } from '../traps/index.ts'

/** Hosts whose lessons are kept here; each takes up to 32 KB. */
const TRAPS_KEPT = 2_000

export interface TrapsCache {
  /** The version that is here; undefined when none is. */
  version(host: HostKey): number | undefined
  /** Takes what the servers have; without a text, nothing was learned of the host yet. */
  read(host: HostKey, version: number, text: string | undefined): void
  /** What is here, or nothing learned. */
  get(host: HostKey): HostTraps
  /** It was written down, and has that version now. */
  written(host: HostKey, version: number): void
  forget(host: HostKey): void
}

interface Kept {
  version: number
  readonly traps: HostTraps
}

export function createTrapsCache(): TrapsCache {
  const kept = createLru<HostKey, Kept>(TRAPS_KEPT)
  return {
    version: (host) => kept.get(host)?.version,
    read(host, version, text) {
      kept.set(host, { version, traps: createHostTraps(text) })
    },
    get(host) {
      const known = kept.get(host)
      if (known !== undefined) return known.traps
      const traps = createHostTraps(undefined)
      kept.set(host, { version: 0, traps })
      return traps
    },
    written(host, version) {
      const known = kept.get(host)
      if (known !== undefined) known.version = version
    },
    forget: (host) => kept.delete(host),
  }
}
