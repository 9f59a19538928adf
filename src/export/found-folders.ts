/**
 * Which folders a person means: the output of a crawl, those of several workers, or one folder in which workers have
 * theirs. Folders that do not belong together are refused, since a page of one crawl says nothing of another's, and so
 * is a worker that is there twice.
 */
import { readdirSync, realpathSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { readCrawlFolder, requireCrawlFolder, type CrawlIdentity } from '../engine/index.ts'
import { TiptoeError } from '../model/index.ts'
import { readWorkerFolder, type WorkerIdentity } from '../sink/index.ts'

/** Folders of one export. */
const MAX_FOLDERS = 10_000

export interface FoundFolder {
  /** As it was named. */
  readonly path: string
  /** Undefined for a worker whose folder has none. */
  readonly crawl: CrawlIdentity | undefined
  /** Undefined for a crawl that was not a fleet's. */
  readonly worker: WorkerIdentity | undefined
}

export interface FoundFolders {
  /** After the folder that was named or, where there are several, after the crawl. */
  readonly name: string
  readonly folders: readonly FoundFolder[]
}

export function findFolders(paths: readonly string[], version: string): FoundFolders {
  const folders = new Map<string, FoundFolder>()
  for (const path of paths) {
    for (const found of foldersAt(path, version)) {
      folders.set(realpathSync(found.path), found)
      if (folders.size > MAX_FOLDERS) {
        throw new TiptoeError('usage', `more than ${MAX_FOLDERS} folders are too many for one export`)
      }
    }
  }
  const found = [...folders.values()]
  refuseOthers(found)
  const [only, ...more] = paths
  const crawl = found.find(({ worker }) => worker !== undefined)?.worker?.crawl
  return { name: more.length === 0 || crawl === undefined ? basename(resolve(only ?? '')) : crawl, folders: found }
}

function foldersAt(path: string, version: string): FoundFolder[] {
  const found = isFolder(path) ? folderAt(path, version) : undefined
  if (found !== undefined) return [found]
  const below = isFolder(path) ? readdirSync(path).toSorted() : []
  const workers = below.flatMap((name) => {
    const inner = join(path, name)
    const folder = isFolder(inner) ? folderAt(inner, version) : undefined
    return folder?.worker === undefined ? [] : [folder]
  })
  // Says that there is no crawl, and what to name instead.
  if (workers.length === 0) requireCrawlFolder(path, version)
  return workers
}

function folderAt(path: string, version: string): FoundFolder | undefined {
  const worker = readWorkerFolder(path)
  const crawl = readCrawlFolder(path, version)
  return worker === undefined && crawl === undefined ? undefined : { path, crawl, worker }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

function refuseOthers(folders: readonly FoundFolder[]): void {
  const alone = folders.filter(({ worker }) => worker === undefined)
  // One of them may be what the crawl was before it went on as a fleet's.
  const [first, second] = alone
  if (first !== undefined && second !== undefined) {
    throw new TiptoeError('usage', `${first.path} and ${second.path} are two crawls`, {
      hint: 'several folders are merged when they are those of the workers of one crawl: export the others alone',
    })
  }
  const byWorker = new Map<string, FoundFolder>()
  let crawl: FoundFolder | undefined
  for (const folder of folders) {
    if (folder.worker === undefined) continue
    crawl ??= folder
    if (folder.worker.crawl !== crawl.worker?.crawl) {
      throw new TiptoeError(
        'usage',
        `${crawl.path} is of the crawl ${crawl.worker?.crawl}, ${folder.path} of ${folder.worker.crawl}`,
        { hint: 'export them one after the other' },
      )
    }
    const other = byWorker.get(folder.worker.worker)
    if (other !== undefined) {
      throw new TiptoeError('usage', `${other.path} and ${folder.path} are both of worker ${folder.worker.worker}`, {
        hint: 'one is a copy of the other: name only the newer one',
      })
    }
    byWorker.set(folder.worker.worker, folder)
  }
}
