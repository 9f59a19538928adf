/**
 * A crawl as the inspecting commands see it: its folder, its settings and seeds, its store at one moment, and the rules
 * that the crawl decides by. Nothing is written, and a crawl that runs is not disturbed.
 */
import { productTokenOf, requireCrawlFolder, stateFolder, type CrawlIdentity } from '../engine/index.ts'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openInspector, queuedIn, type Inspector } from '../frontier/index.ts'
import { TiptoeError, type HostKey, type HostRecord } from '../model/index.ts'
import { createHostRegistry, type HostRegistry } from '../politeness/index.ts'
import { readWorkerFolder } from '../sink/index.ts'
import { createParameterStripper, createScope, type ParameterStripper, type Scope } from '../url/index.ts'

export interface CrawlView extends CrawlIdentity {
  readonly folder: string
  readonly inspector: Inspector
  readonly scope: Scope
  /** URLs as the crawl knows them, without what it does not tell them by. */
  readonly strip: ParameterStripper
  /** Policies by configuration, and verdicts by the robots.txt files that the store has. */
  readonly registry: HostRegistry
  readonly productToken: string
}

export function openCrawlView(folder: string, version: string): CrawlView {
  const { settings, seeds } = requireCrawlFolder(folder, version)
  const strip = createParameterStripper(settings.stripParameters)
  const state = stateFolder(folder)
  const worker = readWorkerFolder(folder)
  if (worker !== undefined) {
    throw new TiptoeError('usage', `${folder} is the folder of a worker: its crawl is on ${worker.store}`, {
      hint: `name the store in the place of the folder: ${worker.store} --crawl ${worker.crawl}`,
    })
  }
  if (!existsSync(join(state, 'crawl.db'))) {
    throw new TiptoeError('usage', `the crawl in ${folder} was prepared but never begun`, {
      hint: `begin it with: tiptoe -o ${folder}`,
    })
  }
  const inspector = openInspector(state)
  const productToken = productTokenOf(settings.userAgent)
  return {
    folder,
    settings,
    seeds,
    inspector,
    productToken,
    strip,
    scope: createScope({
      mode: settings.scope,
      seeds: seeds.map(strip),
      include: settings.include,
      exclude: settings.exclude,
    }),
    registry: createHostRegistry({
      defaultPolicy: { delayMs: settings.delayMs, concurrency: settings.perHost },
      sites: settings.sites,
      productToken,
      load: async (host) => hostRecord(host, inspector),
    }),
  }
}

function hostRecord(key: HostKey, inspector: Inspector): HostRecord | undefined {
  const host = inspector.hostByKey(key)
  if (host === undefined) return undefined
  return {
    host: key,
    delayMs: 0,
    concurrency: 1,
    answeredAt: host.answeredAt,
    blockedUntil: host.blockedUntil,
    blockedReason: host.blockedReason,
    health: host.health,
    address: host.address,
    closestMs: host.closestMs,
    queued: host.lanes.reduce((sum, lane) => sum + queuedIn(lane), 0),
    robots: host.lanes.flatMap((lane) => inspector.robots(lane) ?? []),
  }
}
