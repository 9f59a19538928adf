/**
 * The few operations on files that runs need, as a port, and its home in a folder. A file is written once, from its
 * beginning to its end, and never changed. What `finish` returned from survives a power cut; what it did not may be
 * there in part. Errors of the file system are thrown as they are, with their `code`.
 */
import {
  closeSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  openSync,
  readdirSync,
  readSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { makeFolder } from '../../../base/index.ts'

export interface RunFiles {
  /** Where they are, for messages. */
  readonly place: string
  /** Every file there is, finished or not. */
  list(): string[]
  create(name: string): RunDraft
  /** Undefined when there is no such file. */
  open(name: string): RunFile | undefined
  /** One that is not there is no error. */
  remove(name: string): void
}

/** A file that is being written. */
export interface RunDraft {
  append(bytes: Uint8Array): void
  /** What was appended is on the disk, so that little is left to wait for at the end. */
  sync(): void
  /** The whole file and its name are on the disk. */
  finish(): void
  /** Ends the writing of a file that nobody wants. */
  abandon(): void
}

export interface RunFile {
  readonly size: number
  /** Fills `into` from this offset on, which must lie in the file with all that is asked for. */
  read(into: Uint8Array, offset: number): void
  close(): void
}

/** Nothing else in the folder is listed, hence nothing else is ever removed. */
const NAME = /^\d+\.run$/

/** Keeps runs in this folder, which is made if it is not there. */
export function createFolderRunFiles(folder: string): RunFiles {
  makeFolder(folder)
  syncFolder(dirname(folder))
  const pathOf = (name: string): string => join(folder, name)
  return {
    place: folder,
    list: () => readdirSync(folder).filter((name) => NAME.test(name)),
    create(name) {
      const descriptor = openSync(pathOf(name), 'w')
      return {
        append(bytes) {
          for (let from = 0; from < bytes.length;) from += writeSync(descriptor, bytes, from)
        },
        sync: () => fdatasyncSync(descriptor),
        finish() {
          fsyncSync(descriptor)
          closeSync(descriptor)
          syncFolder(folder)
        },
        abandon() {
          closeSync(descriptor)
          unlinkSync(pathOf(name))
        },
      }
    },
    open(name) {
      const descriptor = unlessMissing(() => openSync(pathOf(name), 'r'))
      if (descriptor === undefined) return undefined
      return {
        size: fstatSync(descriptor).size,
        read(into, offset) {
          let filled = readSync(descriptor, into, 0, into.length, offset)
          while (filled < into.length) {
            const more = readSync(descriptor, into, filled, into.length - filled, offset + filled)
            if (more === 0) throw new RangeError(`${pathOf(name)} ends before offset ${offset + into.length}`)
            filled += more
          }
        },
        close: () => closeSync(descriptor),
      }
    },
    remove(name) {
      unlessMissing(() => unlinkSync(pathOf(name)))
    },
  }
}

function unlessMissing<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** The names in a folder are on the disk. Windows has no such request, and needs none. */
function syncFolder(folder: string): void {
  if (process.platform === 'win32') return
  const descriptor = openSync(folder, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
