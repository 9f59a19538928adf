/**
 * A crawl on its servers as whoever looks at it or moves it has it: also one that is barred, and never made by looking.
 * Its partitions are called as everywhere else, with the one difference that a bar is no obstacle.
 */
import type { Clock } from '../../base/index.ts'
import { TiptoeError } from '../../model/index.ts'
import { registrableDomain } from '../../url/index.ts'
import { createFingerprints } from './fingerprints.ts'
import { createKeyList } from './key-list.ts'
import { crawlKey, openingKeys, partitionKeys } from './keys.ts'
import type { RedisLink } from './link.ts'
import { LAYOUT, scriptOptions, type CrawlIdentity, type ScriptSettings } from './options.ts'
import { mapOf } from './replies.ts'
import { loadCrawlScript, loadScript } from './scripts.ts'
import { fingerprintKey, type Partition, type Store } from './store.ts'
import { createSameTimes, createTimes } from './times.ts'

/** A partition that may be called although the crawl is barred. */
export type MovingPartition = Partition

export interface MovingStore extends Store {
  /** The record of the crawl, as it was when the store was opened. */
  readonly record: Readonly<Record<string, string>>
  /** Writes and removes fields of the record. */
  note(change: {
    readonly set?: Readonly<Record<string, string>>
    readonly unset?: readonly string[]
  }): Promise<Readonly<Record<string, string>>>
}

export interface MakeCrawl {
  /** 32 hex digits, drawn at random: fingerprints are keyed by them. */
  readonly generation: string
  readonly partitions: number
  /** Fields of its record. */
  readonly set: Readonly<Record<string, string>>
}

export interface MovingStoreOptions {
  readonly crawl: string
  /** What scripts are told; those that only read look at nothing but whose crawl it is. */
  readonly settings: ScriptSettings
  /** To make the crawl where there is none. */
  readonly make?: MakeCrawl
  /** The servers are told the time by the clock, instead of their own. For tests. */
  readonly isTimeTold?: boolean
}

const CRAWL = loadCrawlScript('transfer-crawl')
const OPEN = loadScript('open')

export async function openMovingStore(
  options: MovingStoreOptions,
  { link, clock }: { readonly link: RedisLink; readonly clock: Clock },
): Promise<MovingStore> {
  const { crawl, make, settings } = options
  const told = (): number | '' => (options.isTimeTold === true ? clock.now() : '')
  const callCrawl: MovingStore['callCrawl'] = async (script, names, asked) => {
    const keys = names.map((name) => crawlKey(crawl, name))
    return parse(await link.run(script, keys, [told(), JSON.stringify(asked)]))
  }
  const made = make === undefined ? {} : { make: { layout: LAYOUT, ...make } }
  const record = mapOf<string>(await callCrawl(CRAWL, ['crawl'], made))
  const { layout, generation, partitions } = record
  if (generation === undefined || partitions === undefined) throw noCrawl(crawl)
  if (layout !== String(LAYOUT)) {
    throw new TiptoeError('store', `the crawl ${crawl} has layout ${layout} on the store, not ${LAYOUT}`, {
      hint: 'it was made by another version of tiptoe: use that one',
    })
  }
  const identity: CrawlIdentity = {
    crawl,
    generation,
    partitions: Number(partitions),
    key: fingerprintKey(generation),
  }
  const list = Array.from({ length: identity.partitions }, (_, index): MovingPartition => {
    const keys = partitionKeys(crawl, index)
    const optionsText = scriptOptions(identity, index, settings)
    const times = options.isTimeTold === true ? createSameTimes(clock) : createTimes(clock)
    return {
      index,
      keys,
      times,
      level: 0,
      restarts: 0,
      keyList: () => createKeyList(keys),
      async call(script, names, asked) {
        const askedAt = clock.now()
        const args = [optionsText, told(), JSON.stringify({ moving: true, ...asked })]
        const reply = parse(await link.run(script, names, args))
        const now = (reply as { readonly now?: unknown } | null)?.now
        if (typeof now === 'number') times.saw(askedAt, now, clock.now())
        return reply
      },
    }
  })
  const isComplete = record['complete'] === '1'
  await Promise.all(
    list.map(async (partition) => {
      const opened = await partition.call(OPEN, openingKeys(partition.keys), {
        make: make !== undefined && !isComplete,
      })
      partition.level = (opened as { readonly level: number }).level
    }),
  )
  const note: MovingStore['note'] = async (change) => {
    const found = mapOf<string>(await callCrawl(CRAWL, ['crawl'], { generation, ...change }))
    if (found['other'] === undefined && found['generation'] !== undefined) return found
    throw new TiptoeError('store', `the state of the crawl ${crawl} is lost: its record is not there any more`)
  }
  if (make !== undefined && !isComplete) await note({ set: { complete: '1' } })
  const fingerprints = createFingerprints(identity.key)
  const byDomain = settings.groups.domainDelayMs > 0
  return {
    identity,
    crawl,
    settings,
    clock,
    // Nothing is leased or settled through this door.
    client: '',
    worker: '',
    record,
    partitions: list,
    fingerprints,
    partitionOf: (host) => list[fingerprints.hostNumber(host) % list.length] as MovingPartition,
    policyFor(host) {
      const { delayMs, concurrency } = settings.policyOf(host)
      return byDomain ? [delayMs, concurrency, registrableDomain(host)] : [delayMs, concurrency]
    },
    callCrawl,
    note,
    check: async () => void (await note({})),
  }
}

function noCrawl(crawl: string): TiptoeError {
  return new TiptoeError('usage', `there is no crawl ${crawl} on the store`, {
    hint: 'check --crawl and the number of the database; tiptoe seed begins one',
  })
}

function parse(reply: unknown): unknown {
  return typeof reply === 'string' ? (JSON.parse(reply) as unknown) : reply
}
