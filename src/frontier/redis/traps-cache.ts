/**
 * What was learned of the traps of hosts, as far as this process has it. The servers keep a text and its version for each
 * host; whoever learns enough to tell them does so only on top of the version that it read, and else reads what the
 * others have told. What was learned in between is learned again then, on top of theirs, of a host whose pages have several
 * addresses and must be known again. Of others it is lost.
 */
import { createLru } from '../../base/index.ts'
import type { ContentSample, HostKey, NormalizedUrl } from '../../model/index.ts'
import { createHostTraps, createRooms, type HostTraps } from '../traps/index.ts'

/** Hosts whose lessons are kept here; each takes up to 32 KB. */
const TRAPS_KEPT = 2_000
/** As much again for one of 128 pages and for each 256 more, as long as there are so many; one host has some 8,192 pages' worth. */
const ROOMS = 1_024
const ROOMS_OF_HOST = 32
/** Pages of one host that are learned again: more than are learned between two times that the servers are told. */
const MAX_UNTOLD = 256

/** A page as something is learned from it. */
export interface TaughtPage {
  readonly url: NormalizedUrl
  readonly sample: ContentSample
  readonly referrer: NormalizedUrl | undefined
  readonly links: readonly NormalizedUrl[]
}

/** What the servers are told of a host, on top of that version. */
export interface Telling {
  readonly host: HostKey
  readonly version: number
  readonly text: string
  /** Of a host whose pages must be known again: those that are in no text before it. */
  readonly pages: readonly TaughtPage[]
}

export interface TrapsCache {
  /** The version that is here; undefined when none is, or it is to be read anew. */
  version(host: HostKey): number | undefined
  /** Takes what the servers have; without a text, nothing was learned of the host yet. */
  read(host: HostKey, version: number, text: string | undefined): void
  /** What is here, or nothing learned. */
  get(host: HostKey): HostTraps
  /** Whether URLs that are aside may be freed by it. */
  learn(host: HostKey, page: TaughtPage): boolean
  /** What is worth telling by now. Its pages are not learned again, unless it is refused. */
  tell(host: HostKey): Telling | undefined
  /** The servers have it, as that version. */
  told(telling: Telling, version: number): void
  /** Others told theirs first. */
  refused(telling: Telling): void
  /** Nothing came of these pages: they will be learned when they are settled. What is here knows them, and is read anew. */
  unlearn(host: HostKey, urls: ReadonlySet<NormalizedUrl>): void
  /** Whether the servers have what they were told is not known: they are asked, and nothing is learned again. */
  forget(host: HostKey): void
}

interface Kept {
  version: number | undefined
  readonly traps: HostTraps
  /** Of a host whose pages must be known again: those that the servers were not told of. */
  untold: readonly TaughtPage[]
}

export function createTrapsCache(): TrapsCache {
  const rooms = createRooms(ROOMS, { mostOfHost: ROOMS_OF_HOST, areShared: true })
  const kept = createLru<HostKey, Kept>(TRAPS_KEPT, (_host, { traps }) => traps.leave())
  const put = (host: HostKey, version: number, text: string | undefined): Kept => {
    const before = kept.get(host)
    before?.traps.leave()
    const traps = createHostTraps(text, { rooms })
    const untold = before?.untold ?? []
    for (const { url, sample, referrer, links } of untold) traps.learn(url, sample, referrer, links)
    const known = { version, traps, untold }
    kept.set(host, known)
    return known
  }
  const open = (host: HostKey): Kept => kept.get(host) ?? put(host, 0, undefined)
  return {
    version: (host) => kept.get(host)?.version,
    read: (host, version, text) => void put(host, version, text),
    get: (host) => open(host).traps,
    learn(host, page) {
      const known = open(host)
      const { url, sample, referrer, links } = page
      const mayFree = known.traps.learn(url, sample, referrer, links)
      if (known.traps.hasAliases) known.untold = [...known.untold, page].slice(-MAX_UNTOLD)
      return mayFree
    },
    tell(host) {
      const known = open(host)
      if (!known.traps.changed) return undefined
      const telling = { host, version: known.version ?? 0, text: known.traps.serialise(), pages: known.untold }
      known.untold = []
      return telling
    },
    told({ host }, version) {
      const known = kept.get(host)
      if (known !== undefined) known.version = version
    },
    refused({ host, pages }) {
      const known = kept.get(host)
      if (known === undefined) return
      known.version = undefined
      known.untold = [...pages, ...known.untold].slice(-MAX_UNTOLD)
    },
    unlearn(host, urls) {
      const known = kept.get(host)
      if (known === undefined) return
      known.version = undefined
      known.untold = known.untold.filter(({ url }) => !urls.has(url))
    },
    forget(host) {
      kept.get(host)?.traps.leave()
      kept.delete(host)
    },
  }
}
