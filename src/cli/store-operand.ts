/** A store that is named where a folder could be, and the way to the crawl on it. */
import { createRng, type Clock } from '../base/index.ts'
import { resolveSettings, withoutPassword, type Settings } from '../config/index.ts'
import { frontierOptionsOf, productTokenOf, randomSeed } from '../engine/index.ts'
import { connectRedis, openMovingStore, readAuthority, type MovingStore } from '../frontier/index.ts'
import { TiptoeError } from '../model/index.ts'
import { createHostRegistry, type HostRegistry, type HostRegistryOptions } from '../politeness/index.ts'
import type { Invocation } from './invocation.ts'
import { typedSettings } from './typed-settings.ts'

/** Whoever only looks does not wait for long for a store that is away; whoever moves a crawl does. */
const PATIENCE_MS = 15_000
export const MOVING_PATIENCE_MS = 300_000

export function isStore(operand: string): boolean {
  return operand.includes('://')
}

/**
 * What was named to be looked at, and the folders beside it. A store may be named by its flag as well; its variable
 * counts where nothing else was named, since whoever names a folder means the folder.
 */
export function namedPlace(
  operands: readonly string[],
  invocation: Invocation,
): { readonly place: string; readonly others: readonly string[] } {
  const [first, ...others] = operands
  if (first !== undefined && (isStore(first) || invocation.parsed.flags.store === undefined)) {
    return { place: first, others }
  }
  const { store } = typedSettings(invocation)
  if (store !== undefined) return { place: store, others: operands }
  const { command } = invocation.parsed
  throw new TiptoeError('usage', `tiptoe ${command} needs a folder or a store`, {
    hint: `tiptoe help ${command} shows both`,
  })
}

export interface StorePlace {
  readonly url: string
  readonly crawl: string
  readonly password: string | undefined
  readonly caFile: string | undefined
  /** As it may be shown. */
  readonly name: string
}

export function storePlace(url: string, invocation: Invocation): StorePlace {
  const { crawlName: crawl, storeCaFile: caFile } = typedSettings(invocation)
  if (crawl === undefined) {
    throw new TiptoeError('usage', `which crawl on ${withoutPassword(url)}?`, { hint: 'name it with --crawl NAME' })
  }
  const password = invocation.env['TIPTOE_STORE_PASSWORD']
  const name = `${withoutPassword(url)} --crawl ${crawl}`
  return { url, crawl, caFile, password: password === '' ? undefined : password, name }
}

export type StoreConnection = ReturnType<typeof connectRedis>

export function connectStore(
  { url, password, caFile }: StorePlace,
  options: { readonly clock: Clock; readonly patienceMs?: number },
): StoreConnection {
  return connectRedis(url, {
    clock: options.clock,
    rng: createRng(randomSeed()),
    patienceMs: options.patienceMs ?? PATIENCE_MS,
    ...(password === undefined ? {} : { password }),
    ...(caFile === undefined ? {} : { tls: { authority: readAuthority(caFile) } }),
  })
}

/** The crawl on the store, whether it is barred or not; made when that is asked for. */
export function openCrawlOnStore(
  crawl: string,
  settings: Settings,
  deps: { readonly link: StoreConnection; readonly clock: Clock },
  make?: { readonly partitions: number; readonly set: Readonly<Record<string, string>> },
): Promise<MovingStore> {
  const registry = registryOf(settings, { load: async () => undefined })
  const options = frontierOptionsOf(settings, {
    policyOf: (host) => registry.policyOf(host),
    isFleet: true,
    once: false,
  })
  // Nothing is leased through this door, so no server's change is waited out.
  const scripts = { ...options, quietMs: 0, stream: false }
  const made = make === undefined ? {} : { make: { ...make, generation: newGeneration() } }
  return openMovingStore({ crawl, settings: scripts, ...made }, deps)
}

function newGeneration(): string {
  return Array.from({ length: 4 }, () => randomSeed().toString(16).padStart(8, '0')).join('')
}

export function registryOf(settings: Settings, { load }: Pick<HostRegistryOptions, 'load'>): HostRegistry {
  return createHostRegistry({
    defaultPolicy: { delayMs: settings.delayMs, concurrency: settings.perHost },
    sites: settings.sites,
    productToken: productTokenOf(settings.userAgent),
    load,
  })
}

/** The settings of a crawl by the configuration that is kept with it; the usual ones where there is none. */
export function keptSettings(config: string | undefined, crawl: string, version: string): Settings {
  const stored = { path: `the configuration of the crawl ${crawl}`, text: config ?? '' }
  return resolveSettings({ version, ...(config === undefined ? {} : { stored }) }).settings
}
