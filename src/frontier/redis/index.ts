/** The Redis home: the whole contract on one server or a cluster, for any number of processes. */
import { createRng, type Clock } from '../../base/index.ts'
import { TiptoeError } from '../../model/index.ts'
import type { FrontierOptions } from '../contract.ts'
import { readAuthority } from './authority-file.ts'
import { drawSeed } from './chance.ts'
import { connectRedis } from './connection.ts'
import { createRedisFrontier, type FleetFrontier } from './frontier.ts'
import { DEFAULT_PARTITIONS, MOST_PARTITIONS } from './options.ts'

export { readAuthority } from './authority-file.ts'
export { connectRedis, type RedisConnection, type RedisOptions } from './connection.ts'
export { createCrawlRecord, type FleetCrawl, type Member } from './crawl-record.ts'
export type { FleetFrontier } from './frontier.ts'
export type { LinkTrouble } from './link.ts'
export { DEFAULT_PARTITIONS } from './options.ts'
export type { ServerNode, ServerReport } from './server-report.ts'
export { isStoreUrl, parseStoreUrl, redactStoreUrl } from './store-url.ts'

/** Leases of a fleet are short, and made longer while a request is under way: a worker that died blocks its hosts for it. */
export const FLEET_LEASE_MS = 30_000

const CRAWL_NAME = /^[A-Za-z0-9._-]{1,64}$/
const DEFAULT_CRAWL = 'default'

/** What a crawl on servers needs to know beside the rules. */
export interface FleetOptions {
  /** The name of the crawl; `default` when absent. */
  readonly crawl?: string
  /** Whose output is meant, the same after a restart. */
  readonly worker?: string
  /** For a crawl that is made; one that exists has its own number. 16 when absent. */
  readonly partitions?: number
  /** Records go into a stream of the store as well. */
  readonly stream?: boolean
  /** For a store whose address has none. */
  readonly password?: string
  /** A file with the certificates that the store's own is checked against. */
  readonly caFile?: string
}

export function openRedisFrontier(
  store: string,
  options: FrontierOptions & FleetOptions & { readonly hostsKept?: number | undefined },
  { clock }: { readonly clock: Clock },
): FleetFrontier {
  const { crawl = DEFAULT_CRAWL, worker = '', stream = false, password, caFile, partitions, ...rest } = options
  const { hostsKept: _kept, ...settings } = rest
  if (!CRAWL_NAME.test(crawl)) {
    throw new TiptoeError('usage', `${JSON.stringify(crawl)} cannot be the name of a crawl`, {
      hint: 'up to 64 letters, digits, dots, hyphens and underscores',
    })
  }
  const link = connectRedis(store, {
    clock,
    rng: createRng(drawSeed()),
    ...(password === undefined ? {} : { password }),
    ...(caFile === undefined ? {} : { tls: { authority: readAuthority(caFile) } }),
  })
  return createRedisFrontier(
    { ...settings, crawl, worker, stream, partitions: partitionsFor(settings, partitions), isTimeTold: false },
    { link, clock },
  )
}

/** Hosts that are paced together must be in one partition, and any two may be. */
function partitionsFor({ groups }: Pick<FrontierOptions, 'groups'>, wanted = DEFAULT_PARTITIONS): number {
  if (groups.domainDelayMs > 0 || groups.addressDelayMs > 0) return 1
  if (Number.isInteger(wanted) && wanted >= 1 && wanted <= MOST_PARTITIONS) return wanted
  throw new TiptoeError('usage', `a crawl has 1 to ${MOST_PARTITIONS} partitions, not ${wanted}`)
}
