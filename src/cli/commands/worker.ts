/** `tiptoe worker`: works on a crawl that is kept on a store, beside any number of others. */
import { configPathOf } from '../../config/index.ts'
import { fleetPlace, type FleetDeps } from '../fleet-place.ts'
import { workOnStore } from '../fleet-work.ts'
import type { Invocation } from '../invocation.ts'
import { typedSettings } from '../typed-settings.ts'
import { resumeCommand, runCrawl } from './crawl.ts'

export async function workerCommand(invocation: Invocation, deps: FleetDeps = {}): Promise<number> {
  const { parsed, env } = invocation
  const settings = typedSettings(invocation)
  const place = fleetPlace(settings, 'worker')
  const folder = settings.outDirectory ?? `tiptoe-${place.crawl}`
  // Whoever brings the configuration of the fleet may be the first to need it.
  const begins = configPathOf(parsed.switches, env) !== undefined
  const work = { settings, seeds: [], folder, begins, keep: parsed.switches.keep === true }
  return workOnStore(place, work, invocation, deps, (plan) =>
    runCrawl(plan, invocation, { resumeCommand: resumeCommand(invocation, plan) }),
  )
}
