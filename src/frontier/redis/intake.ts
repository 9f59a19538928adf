/**
 * How found URLs get to the servers: which of them are worth telling, which partition each belongs to, and the tables and
 * keys that the scripts need to take them in (lua/shared/intake.lua). Used by `add`, by what settles tasks, and by whoever
 * delivers messages. What becomes of a URL is decided by the scripts alone.
 */
import type { FoundUrl, HostKey, NormalizedUrl, Task } from '../../model/index.ts'
import { hostKey, originOf } from '../../url/index.ts'
import type { AddAnswer } from '../contract.ts'
import { rankOf, SITEMAP_RANK } from '../score.ts'
import type { Slot } from '../storage.ts'
import type { UrlNumber } from './fingerprints.ts'
import { createKnownTable } from './known-table.ts'
import type { KeyList } from './key-list.ts'
import { listOf } from './replies.ts'
import { HOUR_MS, readReferrer, readRow, referrerText, stowRow, writeRow, type Row } from './row.ts'
import { loadScript } from './scripts.ts'
import type { Partition, Store } from './store.ts'

/** Fingerprints that this process remembers having told. */
const KNOWN_ENTRIES = 2 ** 20
/** URLs in one script call, and in one message. */
const MOST_ITEMS = 250
const MOST_IN_MESSAGE = 250
/** Buckets that are split in one call, and calls after one verb: known URLs must not come in faster. */
const SPLIT_FAMILIES = 16
const SPLIT_CALLS = 4
/** Parts of lanes whose lists are all in use, as far as that is remembered. */
const MOST_FULL_PARTS = 1_000

/** A URL that is worth telling. */
export interface Chosen {
  readonly row: Row
  readonly number: UrlNumber
  readonly host: HostKey
  /** Its place among all that were found together. */
  readonly ordinal: number
  readonly times: number
  readonly modifiedAt: number
}

/** What an answer names, as far as it is worth telling. */
export interface ChosenUrls {
  readonly chosen: readonly Chosen[]
  /** Every URL with its step, where depth is limited; empty otherwise. */
  readonly children: readonly string[]
}

/** The page or sitemap whose answer names URLs. */
export type FoundIn = Pick<Task, 'kind' | 'url' | 'depth' | 'last'>

/** As scripts take it: name, bucket, place, depth, row as it stands in a list, times, modified. */
export type Item = readonly [string, number, number, number, string, number?, number?]

/** A message to another partition, as it stands in the outbox. */
export interface FoundMessage {
  readonly kind: 'found'
  /** Row, times, modified. */
  readonly urls: readonly (readonly [string, number, number])[]
}

export interface IntakeBatch {
  /** Those of this partition. */
  items(chosen: readonly Chosen[]): Item[]
  /** Those of others, for the outbox. */
  elsewhere(chosen: readonly Chosen[]): (readonly [number, FoundMessage])[]
  /** The number of the bucket that a fingerprint belongs to. */
  bucket(number: Pick<UrlNumber, 'low'>): number
  /** To be spread into what the script is asked, when all else is there. */
  tables(): object
}

export interface Intake {
  /** What of all that was found is to be told. To be asked once, whatever happens afterwards. */
  choose(found: readonly FoundUrl[], source?: FoundIn): ChosenUrls
  /** The items of one script call. */
  batch(partition: Partition, keys: KeyList): IntakeBatch
  /** Whether a script answered that the call did not fit the state: then it is to be made anew, and sent again. */
  isRefused(partition: Partition, reply: unknown): boolean
  /** A chosen URL from the row in a message. */
  fromRow(
    text: string,
    more?: {
      readonly times?: number
      readonly modifiedAt?: number
      readonly referrers?: number
      readonly hour?: number
    },
  ): Chosen
  /** What a `shorter` message tells of. */
  fromChildren(message: {
    readonly url: string
    readonly depth: number
    readonly children: readonly string[]
  }): Chosen[]
  /** A name for one script call, unlike any other: what it sent is found again if its reply is lost. */
  callName(): string
  add(found: readonly FoundUrl[]): Promise<AddAnswer>
  /** What was told may be lost: it is told again. */
  forget(): void
  /**
   * Splits buckets that have become too full, a few in one call; where it is not known that there are any only if
   * `isAsked`. Answers whether there is more to do.
   */
  split(partition: Partition, isAsked?: boolean): Promise<boolean>
}

interface AddReply {
  readonly added: number
  readonly sent?: unknown
}

const ADD = loadScript('add')
const SPLIT = loadScript('split')

export function createIntake({
  store,
  deliver,
}: {
  readonly store: Store
  /** Takes what a script sent to where it belongs. */
  readonly deliver: (from: Partition, sent: unknown) => Promise<void>
}): Intake {
  const { clock, fingerprints, settings } = store
  const known = createKnownTable(KNOWN_ENTRIES)
  const splitting = new Set<number>()
  const full = new Map<string, readonly number[]>()
  let fullHour = 0
  let calls = 0
  const callName = (): string => `${store.client}:${(calls += 1)}`
  const hourNow = (): number => Math.floor(clock.now() / HOUR_MS)

  const rank = (row: Pick<Row, 'kind' | 'depth' | 'foundHour'>, referrers = 1): number =>
    row.kind === 'sitemap'
      ? SITEMAP_RANK
      : rankOf({ depth: row.depth, referrers, changeRate: undefined, since: row.foundHour * HOUR_MS }, settings.score)

  /** Where the lists of a part are all in use: the nearest that is not before it, or the last. */
  const rankOfList = (origin: string, slot: Slot, wanted: number): number => {
    if (full.size === 0) return wanted
    const ranks = full.get(`${origin} ${slot}`)
    if (ranks === undefined || wanted <= 1) return wanted
    return ranks.find((each) => each >= wanted) ?? ranks.at(-1) ?? wanted
  }

  const choose: Intake['choose'] = (found, source) => {
    const chosen: Chosen[] = []
    const children: string[] = []
    const isDepthLimited = settings.maxDepth !== undefined
    const foundHour = hourNow()
    // A page that is fetched again names what it named before.
    const isAgain = source?.last !== undefined
    for (const [ordinal, item] of found.entries()) {
      const number = fingerprints.ofUrl(item.kind, item.url)
      const host = hostKey(item.url)
      if (isDepthLimited && source?.kind === 'page') {
        const step = item.depth > source.depth ? 1 : 0
        const delta = referrerText(source.url, item.url)
        children.push(`${store.partitionOf(host).index}\n${item.kind.charAt(0)}${step}\n${delta}`)
      }
      const told = isDepthLimited ? { times: 1 } : known.see(number, item.depth)
      if (told === undefined && item.modifiedAt === undefined) continue
      const referrer = item.referrer ?? (source?.kind === 'robots' ? undefined : source?.url)
      const row = {
        name: number.name,
        kind: item.kind,
        slot: item.tier ?? 'auto',
        rank: 0,
        depth: item.depth,
        attempts: 0,
        foundHour,
        redirects: item.redirects ?? 0,
        nesting: item.nesting ?? 0,
        via: item.via,
        reason: '',
        url: item.url,
        ...(referrer === undefined ? {} : { referrer }),
      } as const
      chosen.push({
        row: { ...row, rank: rank(row) },
        number,
        host,
        ordinal,
        times: isAgain ? 0 : (told?.times ?? 0),
        modifiedAt: item.modifiedAt ?? 0,
      })
    }
    return { chosen, children }
  }

  const createBatch: Intake['batch'] = (partition, keys) => {
    const { level } = partition
    const isSplitting = splitting.has(partition.index)
    const buckets: number[][] = []
    const bucketNumbers = new Map<number, number>()
    const lanes: unknown[][] = []
    const laneNumbers = new Map<string, number>()
    const places: unknown[][] = []
    const placeNumbers = new Map<number, number>()
    const isDepthLimited = settings.maxDepth !== undefined

    const bucket: IntakeBatch['bucket'] = ({ low }) => {
      const at = (low & (2 ** level - 1)) >>> 0
      let number = bucketNumbers.get(at)
      if (number === undefined) {
        const row = [keys.at(partition.keys.known(level, at)), keys.at(partition.keys.open(level, at))]
        if (isSplitting && level > 0) {
          const parent = (low & (2 ** (level - 1) - 1)) >>> 0
          row.push(keys.at(partition.keys.known(level - 1, parent)), keys.at(partition.keys.open(level - 1, parent)))
        }
        number = buckets.push(row)
        bucketNumbers.set(at, number)
      }
      return number
    }
    const lane = (host: HostKey, origin: string, ordinal: number): number => {
      let number = laneNumbers.get(origin)
      if (number === undefined) {
        const held = isDepthLimited ? keys.at(partition.keys.held(host)) : 0
        number = lanes.push([host, origin, store.policyFor(host), held, ordinal])
        laneNumbers.set(origin, number)
      }
      return number
    }
    const place = (chosen: Chosen, at: number): number => {
      const origin = originOf(chosen.row.url)
      const { slot } = chosen.row
      const list = keys.at(partition.keys.queue(origin, slot, at))
      let number = placeNumbers.get(list)
      if (number === undefined) {
        number = places.push([lane(chosen.host, origin, chosen.ordinal), slot, at, list])
        placeNumbers.set(list, number)
      }
      return number
    }
    return {
      items: (chosen) =>
        chosen
          .filter(({ host }) => store.partitionOf(host) === partition)
          .map((each): Item => {
            const { row, number, times, modifiedAt } = each
            const at = rankOfList(originOf(row.url), row.slot, row.rank)
            const item = [row.name, bucket(number), place(each, at), row.depth, stowRow(row), times] as const
            return modifiedAt === 0 ? item : [...item, partition.times.toServer(modifiedAt)]
          }),
      elsewhere(chosen) {
        const byPartition = new Map<number, (readonly [string, number, number])[]>()
        for (const { row, host, times, modifiedAt } of chosen) {
          const to = store.partitionOf(host)
          if (to === partition) continue
          const urls = byPartition.get(to.index)
          const url = [writeRow(row), times, partition.times.toServer(modifiedAt)] as const
          if (urls === undefined) byPartition.set(to.index, [url])
          else urls.push(url)
        }
        return [...byPartition].flatMap(([to, urls]) =>
          portions(urls, MOST_IN_MESSAGE).map((portion) => [to, { kind: 'found', urls: portion }] as const),
        )
      },
      bucket,
      tables: () => ({ level, splitting: isSplitting, buckets, lanes, places }),
    }
  }

  const isRefused: Intake['isRefused'] = (partition, reply) => {
    const {
      level,
      splitting: isSplitting,
      full: parts,
    } = (reply ?? {}) as {
      readonly level?: number
      readonly splitting?: boolean
      readonly full?: unknown
    }
    if (isSplitting === true) splitting.add(partition.index)
    if (level !== undefined) {
      partition.level = level
      if (isSplitting !== true) splitting.delete(partition.index)
      return true
    }
    const list = listOf<readonly [string, string, unknown]>(parts)
    if (list.length === 0) return false
    // In another hour other ranks are wanted, and lists have come to an end.
    if (fullHour !== hourNow() || full.size > MOST_FULL_PARTS) full.clear()
    fullHour = hourNow()
    for (const [origin, slot, ranks] of list) {
      full.set(
        `${origin} ${slot}`,
        [...listOf<number>(ranks)].sort((a, b) => a - b),
      )
    }
    return true
  }

  /** Buckets of the level before, by their numbers from `from` on. */
  const split: Intake['split'] = async (partition, isAsked = false) => {
    if (!isAsked && !splitting.has(partition.index)) return false
    let from: number | undefined = 0
    for (let call = 0; call <= SPLIT_CALLS && from !== undefined; call++) {
      const { level, keys } = partition
      const names = partition.keyList()
      const parents = 2 ** (level - 1)
      // The first call only asks where the splitting stands.
      const count: number = call === 0 ? 0 : Math.min(SPLIT_FAMILIES, parents - from)
      const families = Array.from({ length: count }, (_, index) => (from as number) + index).map((parent) =>
        [
          keys.known(level - 1, parent),
          keys.open(level - 1, parent),
          keys.known(level, parent),
          keys.open(level, parent),
          keys.known(level, parent + parents),
          keys.open(level, parent + parents),
        ].map((name) => names.at(name)),
      )
      const asked = { level, from: call === 0 ? -1 : from, families }
      const reply = (await partition.call(SPLIT, names.names, asked)) as { level: number; split?: number }
      partition.level = reply.level
      from = reply.split
    }
    if (from === undefined) splitting.delete(partition.index)
    return from !== undefined
  }

  /** The last call of `add` in each partition. */
  const adding = new Map<Partition, Promise<unknown>>()
  /** One after another: a partition remembers the last call of this process, should its reply be lost. */
  const inTurn = <T>(partition: Partition, work: () => Promise<T>): Promise<T> => {
    const answer = (adding.get(partition) ?? Promise.resolve()).then(work)
    adding.set(
      partition,
      answer.catch(() => undefined),
    )
    return answer
  }
  const tellOf = async (partition: Partition, chosen: readonly Chosen[]): Promise<AddReply> => {
    for (;;) {
      const keys = partition.keyList()
      const batch = createBatch(partition, keys)
      const items = batch.items(chosen)
      const reply = await partition.call(ADD, keys.names, { ...batch.tables(), call: callName(), items })
      if (!isRefused(partition, reply)) return reply as AddReply
    }
  }
  const addTo = async (partition: Partition, chosen: readonly Chosen[]): Promise<number> => {
    const { added, sent } = await inTurn(partition, () => tellOf(partition, chosen))
    await deliver(partition, sent)
    await split(partition)
    return added
  }

  return {
    choose,
    batch: createBatch,
    isRefused,
    callName,
    fromRow(text, { times = 0, modifiedAt = 0, referrers, hour } = {}) {
      const read = readRow(text)
      const row = { ...read, foundHour: hour ?? read.foundHour }
      return {
        row: { ...row, rank: rank(row, referrers) },
        number: fingerprints.ofUrl(row.kind, row.url),
        host: hostKey(row.url),
        ordinal: 0,
        times,
        modifiedAt,
      }
    },
    fromChildren({ url: source, depth, children }) {
      const foundHour = hourNow()
      return children.flatMap((child): Chosen[] => {
        const [, kindAndStep = '', delta = ''] = child.split('\n')
        const url = readReferrer(source, delta)
        if (url === undefined) return []
        const kind = kindAndStep.startsWith('s') ? 'sitemap' : 'page'
        const step = Number(kindAndStep.slice(1))
        const number = fingerprints.ofUrl(kind, url)
        const row: Row = {
          name: number.name,
          kind,
          slot: 'auto',
          rank: 0,
          depth: depth + step,
          attempts: 0,
          foundHour,
          redirects: 0,
          nesting: 0,
          via: step === 0 ? 'redirect' : 'link',
          reason: '',
          url,
          referrer: source as NormalizedUrl,
        }
        return [{ row: { ...row, rank: rank(row) }, number, host: hostKey(url), ordinal: 0, times: 0, modifiedAt: 0 }]
      })
    },
    async add(found) {
      const { chosen } = choose(found)
      try {
        const groups = [...Map.groupBy(chosen, ({ host }) => store.partitionOf(host))]
        const added = await Promise.all(
          groups.map(async ([partition, all]) => {
            let count = 0
            for (const portion of portions(all, MOST_ITEMS)) count += await addTo(partition, portion)
            return count
          }),
        )
        const sum = added.reduce((total, count) => total + count, 0)
        return { added: sum, known: found.length - sum }
      } catch (error) {
        known.clear()
        throw error
      }
    },
    forget: () => known.clear(),
    split,
  }
}

function portions<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, index) => all.slice(index * size, (index + 1) * size))
}
