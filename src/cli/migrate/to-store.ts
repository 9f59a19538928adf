/**
 * From a folder to a store, for a fleet to go on with. The records stay where they are: the folder is the archive of what
 * was done until then. Once begun, nobody can go on with the crawl in the folder; until all is there, nobody on the store.
 */
import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../../base/index.ts'
import { partitionsInForce, toFleetYaml } from '../../config/index.ts'
import { requireCrawlFolder, stateFolder } from '../../engine/index.ts'
import {
  countsOf,
  createCrawlRecord,
  createInspector,
  differenceOf,
  moveIn,
  openEmbeddedSource,
  type Bar,
  type EmbeddedSource,
  type MovingStore,
} from '../../frontier/index.ts'
import { TiptoeError } from '../../model/index.ts'
import { connectStore, MOVING_PATIENCE_MS, openCrawlOnStore, type StorePlace } from '../store-operand.ts'

export interface Moved {
  readonly hosts: number
  readonly urls: number
}

export interface MoveToStore {
  readonly folder: string
  readonly place: StorePlace
  /** As asked for; the number of the configuration when absent. */
  readonly partitions: number | undefined
  readonly version: string
  readonly clock: Clock
  onProgress(text: string): void
}

export async function moveToStore(asked: MoveToStore): Promise<Moved> {
  const { folder, place, version, clock } = asked
  const { settings, seeds } = requireCrawlFolder(folder, version)
  if (!existsSync(join(stateFolder(folder), 'crawl.db'))) {
    throw new TiptoeError('usage', `${folder} has no crawl of its own: it was never begun, or is kept on a store`, {
      hint: 'name the folder of a crawl that was made on one machine',
    })
  }
  const source = openEmbeddedSource(stateFolder(folder))
  try {
    const move = `${realpathSync(folder)} → ${place.name}`
    refuseOtherMove(source.bar, move)
    const link = connectStore(place, { clock, patienceMs: MOVING_PATIENCE_MS })
    try {
      const partitions = partitionsInForce({ ...settings, partitions: asked.partitions ?? settings.partitions })
      const set = { barred: barredWords(folder, place), move }
      const store = await openCrawlOnStore(place.crawl, settings, { link, clock }, { partitions, set })
      if (source.bar?.isOver === true && cameFrom(store, folder)) {
        return { hosts: source.counters.hosts, urls: source.urlCount }
      }
      if (store.record['move'] !== move) throw taken(place, store.record['barred'])
      source.setBar(barOf(folder, place, move, false))
      const record = createCrawlRecord(store)
      await record.config(toFleetYaml(settings))
      await record.addSeeds(seeds)
      const moved = await moveIn(source, store, ({ what, carried, of }) =>
        asked.onProgress(`${carried} of ${of} ${what}`),
      )
      await compare(source, store, clock)
      source.setBar(barOf(folder, place, move, true))
      const origin = JSON.stringify({ folder: realpathSync(folder), output: source.counters.output })
      await store.note({ set: { origin }, unset: ['barred', 'move', 'progress'] })
      return moved
    } finally {
      await link.close()
    }
  } finally {
    source.close()
  }
}

/** Whether the crawl on the store is the one that was in this folder, and has all come. */
function cameFrom({ record }: MovingStore, folder: string): boolean {
  const { origin, move } = record
  if (origin === undefined || move !== undefined) return false
  return (JSON.parse(origin) as { readonly folder: string }).folder === realpathSync(folder)
}

function refuseOtherMove(bar: Bar | undefined, move: string): void {
  if (bar === undefined || bar.move === move) return
  throw new TiptoeError('usage', bar.message, { hint: bar.hint })
}

function taken({ name, crawl }: StorePlace, barred: string | undefined): TiptoeError {
  return new TiptoeError('usage', `${name} is there already${barred === undefined ? '' : `: ${barred}`}`, {
    hint: `choose another name than --crawl ${crawl}`,
  })
}

const barredWords = (folder: string, { crawl }: StorePlace): string =>
  `the crawl ${crawl} is being moved here from ${folder}, and not all of it has come: the same tiptoe migrate goes on`

function barOf(folder: string, { name }: StorePlace, move: string, isOver: boolean): Bar {
  return isOver
    ? {
        message: `the crawl in ${folder} was moved to ${name}, and goes on there`,
        hint: 'work on it with tiptoe worker, move it back to a new folder with tiptoe migrate, or start over with --fresh',
        move,
        isOver,
      }
    : {
        message: `the crawl in ${folder} is being moved to ${name}`,
        hint: 'go on with the same tiptoe migrate, or start over with --fresh',
        move,
        isOver,
      }
}

/** What is on the store now is what was in the folder, or it is not opened. */
async function compare(source: EmbeddedSource, store: MovingStore, clock: Clock): Promise<void> {
  const inspector = await createInspector(store, clock, async () => undefined)
  const differences = differenceOf(countsOf(source.counters), countsOf(await inspector.counters()))
  if (differences.length === 0) return
  throw new TiptoeError('store', `what came to the store is not what was sent: ${differences.join('; ')}`, {
    hint: 'something else wrote to the crawl on the store: delete its keys there, and begin again',
  })
}
