/** The way to a crawl that is kept on servers: where it is, what it is called, and who asks. */
import type { Clock } from '../../base/index.ts'
import type { Settings } from '../../config/index.ts'
import { createFrontier, type FleetFrontier, type FrontierOptions } from '../../frontier/index.ts'
import { createHostRegistry } from '../../politeness/index.ts'
import { frontierOptionsOf } from '../frontier-options.ts'
import { productTokenOf } from '../product-token.ts'

export interface FleetLogin {
  /** The address of the store. */
  readonly store: string
  /** For an address that has none. */
  readonly password?: string
  /** A file with the certificates that the store's own is checked against. */
  readonly caFile?: string
  /** The name of the crawl. */
  readonly crawl: string
  /** Who asks, unlike any other. */
  readonly worker: string
  /** For a crawl that is made; one that exists has its own number. */
  readonly partitions: number
  /** Records go into a stream of the store. */
  readonly stream: boolean
}

/** Nothing is asked of the store before it is used. */
export type ConnectFleet = (
  login: FleetLogin,
  options: Partial<FrontierOptions>,
  deps: { readonly clock: Clock },
) => FleetFrontier

export const connectFleet: ConnectFleet = (login, options, { clock }) => {
  const frontier = createFrontier({ ...options, ...login, clock })
  return frontier as FleetFrontier
}

/** For whoever puts seeds into a crawl or looks after it, without working on it. */
export function openFleet(
  settings: Settings,
  login: FleetLogin,
  { clock, connect = connectFleet }: { readonly clock: Clock; readonly connect?: ConnectFleet | undefined },
): FleetFrontier {
  const registry = createHostRegistry({
    defaultPolicy: { delayMs: settings.delayMs, concurrency: settings.perHost },
    sites: settings.sites,
    productToken: productTokenOf(settings.userAgent),
    load: async () => undefined,
  })
  const policyOf: FrontierOptions['policyOf'] = (host) => registry.policyOf(host)
  return connect(login, frontierOptionsOf(settings, { policyOf, isFleet: true, once: false }), { clock })
}
