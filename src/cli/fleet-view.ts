/**
 * A crawl on a store as the inspecting commands see it: its settings and seeds, its state, and the rules that it decides
 * by. Nothing is written, and a fleet that works on it is not disturbed.
 */
import { createSystemClock } from '../base/index.ts'
import type { Settings } from '../config/index.ts'
import { createCrawlRecord, createInspector, type FleetCrawl, type FleetInspector } from '../frontier/index.ts'
import type { HostKey, HostRecord, NormalizedUrl } from '../model/index.ts'
import { crawlRules, hostRecordOf, type CrawlRules } from './crawl-rules.ts'
import type { Invocation } from './invocation.ts'
import { connectStore, keptSettings, openCrawlOnStore, storePlace } from './store-operand.ts'

export interface FleetView extends CrawlRules {
  /** Where the crawl is, without a password. */
  readonly name: string
  readonly crawl: string
  readonly inspector: FleetInspector
  readonly record: FleetCrawl
  readonly settings: Settings
  readonly seeds: readonly NormalizedUrl[]
}

export async function openFleetView(url: string, invocation: Invocation): Promise<FleetView> {
  const { version } = invocation
  const place = storePlace(url, invocation)
  const clock = createSystemClock()
  const link = connectStore(place, { clock })
  try {
    const store = await openCrawlOnStore(place.crawl, keptSettings(undefined, place.crawl, version), { link, clock })
    const record = createCrawlRecord(store)
    const settings = keptSettings(await record.config(), place.crawl, version)
    const seeds = (await record.seeds()) as readonly NormalizedUrl[]
    const inspector = await createInspector(store, clock, () => link.close())
    return {
      name: place.name,
      crawl: place.crawl,
      inspector,
      record,
      settings,
      seeds,
      ...crawlRules(settings, seeds, (host) => hostRecord(host, inspector)),
    }
  } catch (error) {
    await link.close()
    throw error
  }
}

async function hostRecord(key: HostKey, inspector: FleetInspector): Promise<HostRecord | undefined> {
  const host = await inspector.host(key)
  if (host === undefined) return undefined
  const robots = host.lanes.flatMap(({ origin, robots: kept }) =>
    kept === undefined ? [] : [{ ...kept, body: host.bodies[origin] ?? '' }],
  )
  return hostRecordOf(key, host, robots)
}
