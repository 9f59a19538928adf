/**
 * One configuration for all who work on a crawl. Whoever comes first keeps it on the store; who comes later goes by it,
 * and may say nothing else of what the crawl is, how politely and how much it fetches. What belongs to a process, as its
 * folder and its slots do, each has for itself.
 */
import type { Clock } from '../../base/index.ts'
import {
  fleetDifference,
  limitsDifference,
  resolveSettings,
  toFleetYaml,
  type ConfigFile,
  type Difference,
  type Settings,
} from '../../config/index.ts'
import type { FleetCrawl } from '../../frontier/index.ts'
import { TiptoeError } from '../../model/index.ts'

/** How often it is looked whether somebody has begun the crawl. */
const LOOK_MS = 1_000

export interface Agreement {
  readonly settings: Settings
  /** All seeds that the crawl was ever given. */
  readonly seeds: readonly string[]
  /** Limits that were changed. */
  readonly changed: readonly Difference[]
}

export interface AgreementOptions {
  /** The name of the crawl, for messages. */
  readonly crawl: string
  readonly version: string
  /** Our own settings, over those that are kept if there are any. */
  resolve(stored?: ConfigFile): Settings
  /** Whether ours are kept if there are none. Otherwise somebody else has to begin the crawl. */
  readonly begins: boolean
  /** Whether other limits than those that are kept take their place, which nobody who works on the crawl may miss. */
  readonly changesLimits?: boolean
  /** The folder of a worker that was at work on the crawl before: then it must be there still. */
  readonly workedIn?: string
  /** Told once when that has to be waited for. */
  onWaiting?(): void
}

export async function agreedConfiguration(
  on: Pick<FleetCrawl, 'config' | 'replaceConfig' | 'members' | 'seeds'>,
  options: AgreementOptions,
  { clock }: { readonly clock: Clock },
): Promise<Agreement> {
  if (options.workedIn !== undefined && (await on.config()) === undefined) {
    const { crawl, workedIn } = options
    throw new TiptoeError(
      'store',
      `the state of the crawl ${crawl} is lost: ${workedIn} has worked on it, and the store has none of it`,
      {
        hint: 'check --store and --crawl; for a crawl that is begun anew choose another folder with --out',
      },
    )
  }
  const text = options.begins ? await on.config(toFleetYaml(options.resolve())) : await waitFor(on, options, clock)
  if (text === undefined) throw new Error('a configuration that was given was not kept')
  const stored: ConfigFile = { path: `the configuration of the crawl ${options.crawl}`, text }
  const settings = options.resolve(stored)
  const kept = resolveSettings({ version: options.version, stored }).settings
  const changed = options.changesLimits === true ? limitsDifference(kept, settings) : []
  const others = fleetDifference(kept, settings).filter(({ option }) => !changed.some((each) => each.option === option))
  refuseDifference(options.crawl, others)
  if (changed.length > 0) {
    await refuseWhileAlive(options.crawl, on)
    await on.replaceConfig(toFleetYaml(settings))
  }
  return { settings, seeds: await on.seeds(), changed }
}

async function refuseWhileAlive(crawl: string, on: Pick<FleetCrawl, 'members'>): Promise<void> {
  const names = (await on.members()).map(({ id }) => id)
  if (names.length === 0) return
  throw new TiptoeError(
    'busy',
    `the limits of the crawl ${crawl} cannot be changed while ${names.join(', ')} go by them`,
    {
      hint: 'stop them, and start them again afterwards',
    },
  )
}

async function waitFor(on: Pick<FleetCrawl, 'config'>, options: AgreementOptions, clock: Clock): Promise<string> {
  for (let isFirst = true; ; isFirst = false) {
    const text = await on.config()
    if (text !== undefined) return text
    if (isFirst) options.onWaiting?.()
    await clock.sleepUntil(clock.now() + LOOK_MS)
  }
}

function refuseDifference(crawl: string, [first, ...others]: readonly Difference[]): void {
  if (first === undefined) return
  const more = others.length === 0 ? '' : `, and ${others.length} more`
  throw new TiptoeError(
    'usage',
    `the crawl ${crawl} was begun with another configuration: ${first.label} is ${first.before} there, and ${first.after} here${more}`,
    { hint: 'leave out what differs: the configuration that is kept with the crawl is used then' },
  )
}
