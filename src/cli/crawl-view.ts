/**
 * A crawl as the inspecting commands see it: its folder, its settings and seeds, its store at one moment, and the rules
 * that the crawl decides by. Nothing is written, and a crawl that runs is not disturbed.
 */
import { productTokenOf, requireCrawlFolder, stateFolder, type CrawlIdentity } from '../engine/index.ts'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openInspector, type Inspector } from '../frontier/index.ts'
import { TiptoeError, type HostKey, type HostRecord } from '../model/index.ts'
import { readWorkerFolder } from '../sink/index.ts'
import { crawlRules, hostRecordOf, type CrawlRules } from './crawl-rules.ts'

export interface CrawlView extends CrawlIdentity, CrawlRules {
  readonly folder: string
  readonly inspector: Inspector
  readonly productToken: string
}

export function openCrawlView(folder: string, version: string): CrawlView {
  const { settings, seeds } = requireCrawlFolder(folder, version)
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
  return {
    folder,
    settings,
    seeds,
    inspector,
    productToken: productTokenOf(settings.userAgent),
    ...crawlRules(settings, seeds, async (host) => hostRecord(host, inspector)),
  }
}

function hostRecord(key: HostKey, inspector: Inspector): HostRecord | undefined {
  const host = inspector.hostByKey(key)
  if (host === undefined) return undefined
  return hostRecordOf(
    key,
    host,
    host.lanes.flatMap((lane) => inspector.robots(lane) ?? []),
  )
}
