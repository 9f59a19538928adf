/**
 * What makes the output folder of a worker: beside the ordinary layout there are two small files in its state. One says
 * whose folder it is, once and for all. The other repeats how much of the output is committed, which the store knows
 * best, so that the folder can be read where the store is out of reach or gone.
 *
 * The copy is never ahead of the store and never behind a file that was cut: whoever opens the folder writes the store's
 * position here *before* the files are cut back to it, then every few seconds what was committed, and once more on
 * closing. So all that it counts is there, and a kill costs an export nothing but the newest records.
 */
import { join } from 'node:path'
import { createSystemDisk, fileLines, parseObject, type Disk } from '../base/index.ts'
import { TiptoeError } from '../model/index.ts'

const STATE = 'state'
const IDENTITY = join(STATE, 'worker.json')
const COMMITTED = join(STATE, 'committed.json')
/** Positions name a handful of files. */
const MAX_FILE_BYTES = 64 * 1024
const WORKER_SCHEMA = 1
/** Names of crawls and of workers alike. */
const NAME = /^[A-Za-z0-9._-]{1,64}$/

export interface WorkerIdentity {
  readonly schema: typeof WORKER_SCHEMA
  readonly crawl: string
  /** The same for as long as the folder is there. */
  readonly worker: string
  /** Without its password. */
  readonly store: string
}

export interface WorkerFolderDeps {
  readonly disk?: Pick<Disk, 'replace' | 'makeFolder' | 'sizeOf'>
}

/** Whose folder this is; undefined for one that is no worker's. */
export function readWorkerFolder(folder: string, deps: WorkerFolderDeps = {}): WorkerIdentity | undefined {
  const path = join(folder, IDENTITY)
  const text = readSmall(path, deps)
  if (text === undefined) return undefined
  const { schema, crawl, worker, store } = parseObject(text) ?? {}
  if (isName(crawl) && isName(worker) && typeof store === 'string' && schema === WORKER_SCHEMA) {
    return { schema, crawl, worker, store }
  }
  const isNewer = typeof schema === 'number' && schema > WORKER_SCHEMA
  throw new TiptoeError('output', `${path} ${isNewer ? 'was written by a newer Tiptoe' : 'does not say whose it is'}`, {
    hint: isNewer ? 'use the version that made the folder' : 'put the file back, or give the worker an empty folder',
  })
}

export function writeWorkerFolder(
  folder: string,
  identity: Omit<WorkerIdentity, 'schema'>,
  deps: WorkerFolderDeps = {},
): Promise<void> {
  const { crawl, worker, store } = identity
  return write(folder, IDENTITY, { schema: WORKER_SCHEMA, crawl, worker, store }, deps)
}

/** The committed length of each file as the worker last wrote it down; undefined where that is missing or damaged. */
export function readCommitted(
  folder: string,
  deps: WorkerFolderDeps = {},
): Readonly<Record<string, number>> | undefined {
  const position = parseObject(readSmall(join(folder, COMMITTED), deps) ?? '')
  if (position === undefined) return undefined
  const lengths = Object.entries(position)
  return lengths.every(([, length]) => Number.isSafeInteger(length) && (length as number) >= 0)
    ? (position as Record<string, number>)
    : undefined
}

/** Writes the position down, whole or not at all. Only ever called with what the store has committed. */
export function writeCommitted(
  folder: string,
  position: Readonly<Record<string, number>>,
  deps: WorkerFolderDeps = {},
): Promise<void> {
  return write(folder, COMMITTED, position, deps)
}

async function write(folder: string, name: string, value: object, deps: WorkerFolderDeps): Promise<void> {
  const { disk = createSystemDisk() } = deps
  disk.makeFolder(join(folder, STATE))
  await disk.replace(join(folder, name), `${JSON.stringify(value)}\n`)
}

/** Undefined for a file that is not there; one that is longer than any of ours is cut, and so is no JSON. */
function readSmall(path: string, { disk = createSystemDisk() }: WorkerFolderDeps): string | undefined {
  if (disk.sizeOf(path) === undefined) return undefined
  return Array.from(fileLines(path, MAX_FILE_BYTES), ({ bytes }) => bytes.toString()).join('\n')
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && NAME.test(value)
}
