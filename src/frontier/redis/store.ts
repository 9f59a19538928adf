/**
 * A crawl on its servers: its partitions, and how a verb is called on one of them. Every verb is one script on one slot;
 * what it is asked and what it answers is JSON. What the verbs mean is for others.
 */
import type { Clock, FingerprintKey } from '../../base/index.ts'
import { TiptoeError, type HostKey, type HostPolicy } from '../../model/index.ts'
import { registrableDomain } from '../../url/index.ts'
import { drawClient, drawGeneration } from './chance.ts'
import { createFingerprints, type Fingerprints } from './fingerprints.ts'
import { createKeyList, type KeyList } from './key-list.ts'
import { crawlKey, openingKeys, partitionKeys, type PartitionKeys } from './keys.ts'
import type { RedisLink, Script } from './link.ts'
import { LAYOUT, scriptOptions, type CrawlIdentity, type ScriptSettings } from './options.ts'
import { loadCrawlScript, loadScript } from './scripts.ts'
import { createSameTimes, createTimes, type Times } from './times.ts'

/** The longest that a worker may be behind with what it knows of a partition, beside lease and node timeout. */
const QUIET_MARGIN_MS = 2_000

export interface Partition {
  readonly index: number
  readonly keys: PartitionKeys
  readonly times: Times
  /** Of its sets of known URLs, as last heard. */
  level: number
  /** Names the last change of its server that was heard of: later ones are greater. */
  restarts: number
  /** A new list of keys for one call: the fixed ones, and what will be added. */
  keyList(): KeyList
  /** Runs a verb. `names`: all keys, as a key list has them. */
  call(script: Script, names: readonly string[], asked: object): Promise<unknown>
}

export interface Store {
  readonly identity: CrawlIdentity
  readonly crawl: string
  readonly partitions: readonly Partition[]
  readonly settings: ScriptSettings
  readonly clock: Clock
  readonly fingerprints: Fingerprints
  /** Names this opening of the crawl, unlike any other. */
  readonly client: string
  /** Whose output is meant. */
  readonly worker: string
  partitionOf(host: HostKey): Partition
  /** A host's pace by configuration as scripts want it: delay, requests at once, registrable domain where it matters. */
  policyFor(host: HostKey): readonly (number | string)[]
  /** Runs a script (`loadCrawlScript`) on what belongs to the crawl as a whole: these names. */
  callCrawl(script: Script, names: readonly string[], asked: object): Promise<unknown>
  /** Throws when the crawl is not there any more, or is another one. */
  check(): Promise<void>
}

export interface OpenStoreOptions {
  readonly crawl: string
  readonly worker: string
  /** For a crawl that is made here; one that exists has its own number. */
  readonly partitions: number
  readonly settings: Omit<ScriptSettings, 'quietMs'>
  /** The servers are told the time by this clock, instead of their own. For tests. */
  readonly isTimeTold: boolean
}

export interface StoreDeps {
  readonly link: RedisLink & { nodeTimeoutMs?(): Promise<number> }
  readonly clock: Clock
}

const OPEN_CRAWL = loadCrawlScript('open-crawl')
const OPEN = loadScript('open')

interface CrawlAnswer {
  readonly layout: string
  readonly generation: string
  readonly partitions: string
  readonly complete: boolean
  readonly barred?: string
  readonly missing?: string
}

/** Calls scripts on what belongs to a crawl as a whole, whether it was opened or not. */
export function crawlCaller(
  { crawl, isTimeTold }: Pick<OpenStoreOptions, 'crawl' | 'isTimeTold'>,
  { link, clock }: StoreDeps,
): Store['callCrawl'] {
  return async (script, names, asked) => {
    const keys = names.map((name) => crawlKey(crawl, name))
    return parse(await link.run(script, keys, [isTimeTold ? clock.now() : '', JSON.stringify(asked)]))
  }
}

/** Opens the crawl of that name, making it if it is not there. */
export async function openStore(options: OpenStoreOptions, { link, clock }: StoreDeps): Promise<Store> {
  const { crawl } = options
  const told = (): number | '' => (options.isTimeTold ? clock.now() : '')
  const callCrawl = crawlCaller(options, { link, clock })
  const answer = (await callCrawl(OPEN_CRAWL, ['crawl'], {
    layout: LAYOUT,
    generation: drawGeneration(),
    partitions: options.partitions,
  })) as CrawlAnswer
  if (answer.layout !== String(LAYOUT)) throw otherLayout(crawl, answer.layout)
  if (answer.barred !== undefined) throw new TiptoeError('store', answer.barred)
  const { domainDelayMs, addressDelayMs } = options.settings.groups
  if ((domainDelayMs > 0 || addressDelayMs > 0) && answer.partitions !== '1') {
    throw new TiptoeError(
      'usage',
      `the crawl ${crawl} has ${answer.partitions} partitions and cannot be paced by groups`,
      {
        hint: 'pace by domain or address is for crawls that were begun with it',
      },
    )
  }
  const identity: CrawlIdentity = {
    crawl,
    generation: answer.generation,
    partitions: Number(answer.partitions),
    key: fingerprintKey(answer.generation),
  }
  const quietMs = ((await link.nodeTimeoutMs?.()) ?? 0) + options.settings.leaseMs + QUIET_MARGIN_MS
  const settings: ScriptSettings = { ...options.settings, quietMs }
  const client = drawClient()

  const createPartition = (index: number): Partition => {
    const keys = partitionKeys(crawl, index)
    const optionsText = scriptOptions(identity, index, settings)
    const times = options.isTimeTold ? createSameTimes(clock) : createTimes(clock)
    return {
      index,
      keys,
      times,
      level: 0,
      restarts: 0,
      keyList: () => createKeyList(keys),
      async call(script, names, asked) {
        const askedAt = clock.now()
        const reply = parse(await link.run(script, names, [optionsText, told(), JSON.stringify(asked)]))
        const now = (reply as { readonly now?: unknown } | null)?.now
        if (typeof now === 'number') times.saw(askedAt, now, clock.now())
        return reply
      },
    }
  }
  const partitions = Array.from({ length: identity.partitions }, (_, index) => createPartition(index))
  await Promise.all(
    partitions.map(async (partition) => {
      const opened = (await partition.call(OPEN, openingKeys(partition.keys), { make: !answer.complete })) as {
        readonly level: number
        readonly restarts: number
      }
      partition.level = opened.level
      partition.restarts = opened.restarts
    }),
  )
  if (!answer.complete) await callCrawl(OPEN_CRAWL, ['crawl'], { complete: true, generation: identity.generation })

  const fingerprints = createFingerprints(identity.key)
  const byDomain = settings.groups.domainDelayMs > 0
  return {
    identity,
    crawl,
    partitions,
    settings,
    clock,
    fingerprints,
    client,
    worker: options.worker,
    partitionOf(host) {
      return partitions[fingerprints.hostNumber(host) % partitions.length] as Partition
    },
    policyFor(host) {
      const { delayMs, concurrency }: HostPolicy = settings.policyOf(host)
      return byDomain ? [delayMs, concurrency, registrableDomain(host)] : [delayMs, concurrency]
    },
    callCrawl,
    async check() {
      const found = (await callCrawl(OPEN_CRAWL, ['crawl', 'record', 'seeds'], { look: true })) as Partial<CrawlAnswer>
      const missing = found.generation === identity.generation ? found.missing : 'its record'
      if (missing !== undefined)
        throw new TiptoeError('store', `the state of the crawl ${crawl} is lost: ${missing} is not there any more`)
    },
  }
}

/** Both ends of a crawl come to the same key, since they know the same generation. */
export function fingerprintKey(generation: string): FingerprintKey {
  return { a: Number.parseInt(generation.slice(0, 8), 16), b: Number.parseInt(generation.slice(8, 16), 16) }
}

function parse(reply: unknown): unknown {
  return typeof reply === 'string' ? (JSON.parse(reply) as unknown) : reply
}

function otherLayout(crawl: string, layout: string): TiptoeError {
  return new TiptoeError('store', `the crawl ${crawl} has layout ${layout} on the store, not ${LAYOUT}`, {
    hint: 'it was made by another version of tiptoe: go on with that one, or choose another name with --crawl',
  })
}
