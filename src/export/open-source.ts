/**
 * The crawl in the folders that a person names, opened for an export.
 *
 * How much of a folder counts is known by whoever committed it. For a crawl of one process that is the store in its
 * folder. For a worker of a fleet it is the fleet's store, when it is at hand; else what the worker last wrote down; else
 * all that is whole, and then it is said that this may be too much.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { stateFolder } from '../engine/index.ts'
import { openInspector, type OutputPosition } from '../frontier/index.ts'
import { TiptoeError } from '../model/index.ts'
import { readCommitted, type WorkerIdentity } from '../sink/index.ts'
import { findFolders, type FoundFolder } from './found-folders.ts'
import { exportSource, type ExportSource, type SourceFolder } from './source.ts'
import { wholeRecords } from './whole-records.ts'

/** What the store of a fleet knows of its workers. */
export interface CommittedPositions {
  /** The crawl that it was asked about. */
  readonly crawl: string
  /** The committed end of a worker's output; empty for one that has committed nothing. */
  positionOf(worker: string): Promise<OutputPosition>
}

export interface OpenExportSourceOptions {
  readonly version: string
  readonly positions?: CommittedPositions
}

export async function openExportSource(
  paths: readonly string[],
  { version, positions }: OpenExportSourceOptions,
): Promise<ExportSource> {
  const { name, folders: found } = findFolders(paths, version)
  for (const { path, crawl } of found) {
    if (crawl?.settings.sink === 'redis-stream') throw inStreams(path)
  }
  const warnings: string[] = []
  const folders: SourceFolder[] = []
  for (const folder of found) {
    const output = await outputOf(folder, positions, (text) => warnings.push(text))
    folders.push({ path: folder.path, output })
  }
  const crawls = found.flatMap(({ crawl }) => (crawl === undefined ? [] : [crawl]))
  const seeds = [...new Set(crawls.flatMap((crawl) => crawl.seeds))]
  return exportSource({
    folders,
    name,
    seeds,
    stripParameters: crawls[0]?.settings.stripParameters ?? [],
    warnings,
  })
}

function inStreams(folder: string): TiptoeError {
  return new TiptoeError('usage', `the records of the crawl in ${folder} are not there: they went to streams`, {
    hint: 'the streams of the store have them, and whoever reads those: XREADGROUP, or XRANGE for all of one',
  })
}

async function outputOf(
  folder: FoundFolder,
  positions: CommittedPositions | undefined,
  warn: (text: string) => void,
): Promise<OutputPosition> {
  const { path, worker } = folder
  if (worker === undefined) return embeddedPosition(path)
  if (positions !== undefined) return storedPosition(path, worker, positions)
  const committed = readCommitted(path)
  if (committed !== undefined) return committed
  warn(`${path} does not say how much of it was committed: every whole record counts; --store would know better`)
  return wholeRecords(path)
}

async function storedPosition(
  path: string,
  { crawl, worker }: WorkerIdentity,
  positions: CommittedPositions,
): Promise<OutputPosition> {
  if (crawl === positions.crawl) return positions.positionOf(worker)
  throw new TiptoeError('usage', `${path} is of the crawl ${crawl}, not of ${positions.crawl}`, {
    hint: `name it with --crawl ${crawl}`,
  })
}

function embeddedPosition(folder: string): OutputPosition {
  const state = stateFolder(folder)
  if (!existsSync(join(state, 'crawl.db'))) {
    throw new TiptoeError('usage', `the crawl in ${folder} was prepared but never begun`, {
      hint: `begin it with: tiptoe -o ${folder}`,
    })
  }
  const inspector = openInspector(state)
  try {
    return inspector.counters().output
  } finally {
    inspector.close()
  }
}
