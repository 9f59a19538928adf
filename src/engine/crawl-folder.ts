/**
 * The folder of a crawl as the command line sees it: whether one is there, with which configuration and seeds, and how
 * it is begun, begun anew or gone on with.
 */
import { existsSync, lstatSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import {
  readConfigFile,
  resolveSettings,
  settingsDifference,
  toCrawlYaml,
  withoutPassword,
  type ConfigFile,
  type Settings,
} from '../config/index.ts'
import { makeFolder } from '../base/index.ts'
import { isLocked } from '../frontier/index.ts'
import { TiptoeError, type NormalizedUrl } from '../model/index.ts'
import { ARCHIVE_FOLDER, explained, readWorkerFolder, RECORD_FILES, writeWorkerFolder } from '../sink/index.ts'

const CONFIGURATION = 'crawl.yaml'
const STATE = 'state'
const SEEDS = join(STATE, 'seeds.txt')
/** All that a crawl makes in its folder, and so all that `--fresh` removes. */
const OURS = [CONFIGURATION, STATE, 'content', ARCHIVE_FOLDER, 'stats.json', ...Object.values(RECORD_FILES)]

export interface CrawlIdentity {
  readonly settings: Settings
  readonly seeds: readonly NormalizedUrl[]
}

export interface StoredCrawl extends CrawlIdentity {
  /** The crawl.yaml that the settings come from. */
  readonly configuration: ConfigFile
}

export function stateFolder(folder: string): string {
  return join(folder, STATE)
}

/** The crawl in this folder; undefined when there is none. */
export function readCrawlFolder(folder: string, version: string): StoredCrawl | undefined {
  if (!existsSync(join(folder, CONFIGURATION)) || !existsSync(join(folder, SEEDS))) return undefined
  const configuration = readConfigFile(join(folder, CONFIGURATION))
  const { settings } = resolveSettings({ version, stored: configuration })
  const seeds = readFileSync(join(folder, SEEDS), 'utf8').split('\n').filter(Boolean) as NormalizedUrl[]
  return { settings, seeds, configuration }
}

/** The same, for commands that need one. */
export function requireCrawlFolder(folder: string, version: string): StoredCrawl {
  const crawl = readCrawlFolder(folder, version)
  if (crawl !== undefined) return crawl
  throw new TiptoeError('usage', `${folder} holds no crawl`, {
    hint: 'name the output folder of a crawl; the default is tiptoe- and the host of the first seed',
  })
}

/** Refuses to mix with what another crawl, or somebody else, has put there. */
export function prepareCrawlFolder(folder: string, crawl: CrawlIdentity, stored: StoredCrawl | undefined): void {
  return explained(folder, () => {
    refuseLinks(folder)
    refuseBusy(folder)
    if (stored !== undefined) refuseChanges(folder, stored, crawl)
    else refuseStrangers(folder)
    makeFolder(stateFolder(folder))
    // Seeds first: a folder with a configuration has both.
    if (stored === undefined) replace(join(folder, SEEDS), `${crawl.seeds.join('\n')}\n`)
    replace(join(folder, CONFIGURATION), toCrawlYaml(crawl.settings))
  })
}

/** A folder that one worker of a fleet has for itself. */
export interface WorkerSeat {
  /** The same for as long as the folder is there. */
  readonly worker: string
  /** Whether it was at work on the crawl before. */
  readonly hasWorked: boolean
  /** Lets the next process have the folder. */
  release(): void
}

/**
 * Takes the folder for this process, as the worker whose folder it is, or else as the one that `newWorker` names. What a
 * crawl of this machine alone has put there, or a worker of another crawl, stays untouched.
 */
export async function claimWorkerFolder(
  folder: string,
  fleet: { readonly crawl: string; readonly store: string; readonly worker?: string },
  newWorker: () => string,
): Promise<WorkerSeat> {
  const { crawl } = fleet
  const lock = explained(folder, () => {
    refuseLinks(folder)
    if (existsSync(join(folder, STATE, 'crawl.db'))) {
      throw new TiptoeError('usage', `${folder} holds a crawl that is kept there, and not on a store`, {
        hint: 'choose another folder with --out',
      })
    }
    if (readWorkerFolder(folder) === undefined) refuseStrangers(folder)
    makeFolder(stateFolder(folder))
    return lockFolder(folder)
  })
  try {
    const known = readWorkerFolder(folder)
    const worker = known?.worker ?? fleet.worker ?? newWorker()
    if (known !== undefined && known.crawl !== crawl) {
      throw new TiptoeError('usage', `${folder} is the folder of a worker of the crawl ${known.crawl}, not ${crawl}`, {
        hint: 'choose another folder with --out',
      })
    }
    if (fleet.worker !== undefined && fleet.worker !== worker) {
      throw new TiptoeError('usage', `${folder} is the folder of the worker ${worker}, not ${fleet.worker}`, {
        hint: 'leave --worker-id out, or choose another folder with --out',
      })
    }
    if (known === undefined) {
      await writeWorkerFolder(folder, { crawl, worker, store: withoutPassword(fleet.store) })
    }
    return { worker, hasWorked: existsSync(join(folder, CONFIGURATION)), release: () => lock.close() }
  } catch (error) {
    lock.close()
    throw error
  }
}

/** What the folder of a worker says of its crawl, for people and for the commands that read folders. */
export function writeWorkerCrawl(folder: string, crawl: CrawlIdentity): void {
  explained(folder, () => {
    replace(join(folder, SEEDS), `${crawl.seeds.join('\n')}\n`)
    replace(join(folder, CONFIGURATION), toCrawlYaml(crawl.settings))
  })
}

/** The lock of a crawl's own store, for a folder whose store is elsewhere. It ends with the process, however that ends. */
function lockFolder(folder: string): DatabaseSync {
  const lock = new DatabaseSync(join(folder, STATE, 'lock.db'))
  try {
    lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
    return lock
  } catch (cause) {
    lock.close()
    throw busy(folder, cause)
  }
}

export function clearCrawlFolder(folder: string): void {
  explained(folder, () => {
    refuseBusy(folder)
    // What is not known to be a crawl's is somebody's own.
    if (!existsSync(join(folder, CONFIGURATION)) && !existsSync(join(folder, SEEDS))) return refuseStrangers(folder)
    for (const name of OURS) rmSync(join(folder, name), { recursive: true, force: true })
  })
}

export function writeStats(folder: string, stats: unknown): void {
  explained(folder, () => replace(join(folder, 'stats.json'), `${JSON.stringify(stats, null, 2)}\n`))
}

/** A folder that comes from somebody else may hold links that lead out of it: nothing is written through one. */
function refuseLinks(folder: string): void {
  const path = [...OURS.map((name) => join(folder, name)), ...pathsBelow(stateFolder(folder))].find(isLink)
  if (path === undefined) return
  throw new TiptoeError('output', `${path} is a link, and nothing is written through it`, {
    hint: 'remove it, or choose another folder with --out',
  })
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false
}

/** Links are named, and not walked through. */
function pathsBelow(folder: string): string[] {
  if (isLink(folder) || !existsSync(folder)) return []
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries.map(({ parentPath, name }) => join(parentPath, name))
}

/** Whoever works on the crawl must not find its files changed under it. */
function refuseBusy(folder: string): void {
  if (isLocked(stateFolder(folder))) throw busy(folder)
}

function busy(folder: string, cause?: unknown): TiptoeError {
  return new TiptoeError('busy', `another process is working on the crawl in ${folder}`, {
    cause,
    hint: 'wait for it to end or stop it, or choose another folder with --out',
  })
}

function refuseChanges(folder: string, before: CrawlIdentity, after: CrawlIdentity): void {
  const changes = settingsDifference(shape(before.settings), shape(after.settings)).map(
    (change) => `${change.label} was ${change.before}, now ${change.after}`,
  )
  const known = new Set(before.seeds)
  const given = new Set(after.seeds)
  const added = [...given].filter((seed) => !known.has(seed))
  const removed = [...known].filter((seed) => !given.has(seed))
  if (added.length > 0) changes.push(`new seeds: ${some(added)}`)
  if (removed.length > 0) changes.push(`missing seeds: ${some(removed)}`)
  if (changes.length === 0) return
  throw new TiptoeError('usage', `${folder} holds a crawl with another scope: ${changes.join('; ')}`, {
    hint: `resume it as it was with: tiptoe -o ${folder}, start over with --fresh, or choose another folder with --out`,
  })
}

/** Seeds are compared as URLs, not as they were typed. */
function shape(settings: Settings): Settings {
  const { inputFile: _inputFile, ...rest } = settings
  return { ...rest, seeds: [] }
}

function some(urls: readonly string[]): string {
  return urls.slice(0, 3).join(', ') + (urls.length > 3 ? ` and ${urls.length - 3} more` : '')
}

function refuseStrangers(folder: string): void {
  if (!existsSync(folder)) return
  const present = new Set(readdirSync(folder))
  const taken = OURS.filter((name) => present.has(name) && name !== STATE)
  if (taken.length === 0) return
  throw new TiptoeError('usage', `${folder} already holds ${taken.join(', ')}, but no crawl that could be resumed`, {
    hint: 'choose another folder with --out, or remove them yourself',
  })
}

/** Writes a file whole or not at all. */
function replace(path: string, text: string): void {
  // Left by a crash, or a link that somebody put there.
  rmSync(`${path}.part`, { force: true })
  writeFileSync(`${path}.part`, text, { flag: 'wx' })
  renameSync(`${path}.part`, path)
}
