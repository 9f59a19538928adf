/**
 * Where a crawl of a fleet is kept and who we are there, from what was typed: the login of every command that works with a
 * store. A password comes from the address or from the environment, and goes nowhere but to the store.
 */
import { hostname } from 'node:os'
import { createRng, type Clock } from '../base/index.ts'
import { partitionsInForce, withoutPassword, type ConfigFile, type Settings } from '../config/index.ts'
import {
  agreedConfiguration,
  connectFleet,
  randomSeed,
  type Agreement,
  type ConnectFleet,
  type FleetLogin,
} from '../engine/index.ts'
import { TiptoeError } from '../model/index.ts'
import type { Invocation } from './invocation.ts'
import { typedSettings } from './typed-settings.ts'

/** What tests put in the place of a store. */
export interface FleetDeps {
  readonly connect?: ConnectFleet
}

export interface FleetPlace {
  readonly store: string
  readonly crawl: string
}

/** Both must be given; a name of the crawl may be chosen by the caller. */
export function fleetPlace({ store, crawlName: crawl }: Settings, command: string): FleetPlace {
  const missing = store === undefined ? '--store' : crawl === undefined ? '--crawl' : undefined
  if (store !== undefined && crawl !== undefined) return { store, crawl }
  throw new TiptoeError('usage', `tiptoe ${command} needs ${missing}`, {
    hint: `tiptoe ${command} --store redis://127.0.0.1 --crawl NAME`,
  })
}

export function loginOf(
  { store, crawl }: FleetPlace,
  worker: string,
  settings: Settings,
  { env }: Pick<Invocation, 'env'>,
): FleetLogin {
  const password = env['TIPTOE_STORE_PASSWORD']
  const { storeCaFile: caFile } = settings
  return {
    store,
    crawl,
    worker,
    partitions: partitionsInForce(settings),
    stream: settings.sink === 'redis-stream',
    ...(password === undefined || password === '' ? {} : { password }),
    ...(caFile === undefined ? {} : { caFile }),
  }
}

/** A name that says where it runs, unlike any other. */
export function newMemberName(): string {
  const machine = hostname()
    .replaceAll(/[^A-Za-z0-9._-]/g, '_')
    .slice(0, 40)
  return `${machine}-${createRng(randomSeed())
    .int(2 ** 31)
    .toString(36)}`
}

/** The configuration in force and the seeds, over a connection of its own: before there are settings to open with. */
export async function agreeOn(
  place: FleetPlace,
  invocation: Invocation,
  options: {
    readonly worker: string
    readonly begins: boolean
    /** Brings limits that take the place of those that are kept, and does not wait for a crawl that is not there. */
    readonly isSeeding?: boolean
    readonly workedIn?: string
    readonly clock: Clock
    readonly deps: FleetDeps
  },
): Promise<Agreement> {
  const { terminal, version } = invocation
  const { clock, deps, begins, isSeeding = false, workedIn } = options
  const resolve = (stored?: ConfigFile): Settings => {
    const settings = typedSettings(invocation, stored)
    refuseFilesInStreams(settings)
    return settings
  }
  const login = loginOf(place, options.worker, resolve(), invocation)
  const door = (deps.connect ?? connectFleet)(login, {}, { clock })
  door.onTrouble(({ kind, detail }) => terminal.note(troubleWords(kind, detail)))
  try {
    const { crawl } = place
    const onWaiting = (): void => {
      if (isSeeding) throw new TiptoeError('usage', 'no URL to seed', { hint: 'name URLs, or a file of them with -i' })
      terminal.note(`waiting for the crawl ${crawl} on ${withoutPassword(place.store)} to be begun with tiptoe seed`)
    }
    const asked = { crawl, version, begins, changesLimits: isSeeding, resolve, onWaiting }
    const agreement = workedIn === undefined ? asked : { ...asked, workedIn }
    return await agreedConfiguration(door.crawl, agreement, { clock })
  } finally {
    await door.close()
  }
}

/** What is asked for and would go nowhere is a mistake. */
function refuseFilesInStreams({ sink, formats }: Settings): void {
  const file = formats.find((format) => format === 'html' || format === 'warc')
  if (sink !== 'redis-stream' || file === undefined) return
  throw new TiptoeError('usage', `--format ${file} is written to files, and --sink ${sink} writes none`, {
    hint: 'leave one of them out',
  })
}

export function troubleWords(kind: 'lost' | 'back', detail: string): string {
  return kind === 'lost'
    ? `the store is out of reach, so nothing new is begun: ${detail}`
    : `the store is back, and work goes on: ${detail}`
}
