/**
 * The disk, passed in: the few operations that the output of a crawl is made of. A home that loses or tears what was
 * not synced can stand in for the real one. Errors are those of the file system, with its `code`.
 */
import {
  closeSync,
  constants,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { createSystemClock } from './clock.ts'
import { createFileReplacer } from './file-replacer.ts'
import { makeFolderApart } from './folder-apart.ts'
import { makeFolder } from './make-folder.ts'

/** A file that is written only at its end, and read anywhere. */
export interface GrowingFile {
  /** Bytes, as the operating system has them. */
  size(): number
  truncate(size: number): void
  /** Writes `bytes` from this index on; returns how many it took, which may be fewer than all. */
  write(bytes: Uint8Array, from: number): number
  /** Reads from this place on until `into` is full or the file ends; returns how many bytes there were. */
  read(into: Uint8Array, position: number): number
  /** What was written is on the disk, not only with the operating system. */
  sync(): void
  /** False when the name was removed while the file is open: what is written then is seen by nobody. */
  isNamed(): boolean
  close(): void
}

export interface Disk {
  /** Opens a file at its end, making it if it is not there. */
  openGrowing(path: string): GrowingFile
  /** Writes a file whole or not at all: beside its place, then moved there. Not synced. */
  replace(path: string, content: string | Uint8Array): Promise<void>
  /** Names of what is in a folder, in no order; none when there is no such folder. */
  namesIn(folder: string): string[]
  /** Removes a file; one that is not there is no error. */
  remove(path: string): void
  /** Makes a folder and those above it; one that is there already is left alone. */
  makeFolder(path: string): void
  /** The same for a folder of very many files, where new ones are not dear because of others that were there before. */
  makeFolderApart(path: string): void
  /** Whether there is a folder at this very path; a link to one is none. */
  isFolder(path: string): boolean
  /** Bytes; undefined when there is no such file. */
  sizeOf(path: string): number | undefined
}

/** What is there already may be a link that leads out of the folder: nothing is ever written through one. */
const APPEND = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW

export function createSystemDisk(): Disk {
  const clock = createSystemClock()
  return {
    openGrowing(path) {
      const descriptor = openSync(path, APPEND)
      return {
        size: () => fstatSync(descriptor).size,
        truncate: (size) => ftruncateSync(descriptor, size),
        write: (bytes, from) => writeSync(descriptor, bytes, from),
        read(into, position) {
          let filled = 0
          for (let got = -1; got !== 0 && filled < into.length; filled += got) {
            got = readSync(descriptor, into, filled, into.length - filled, position + filled)
          }
          return filled
        },
        sync: () => fdatasyncSync(descriptor),
        isNamed: () => fstatSync(descriptor).nlink > 0,
        close: () => closeSync(descriptor),
      }
    },
    replace: createFileReplacer(clock),
    namesIn(folder) {
      try {
        return readdirSync(folder)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
        throw error
      }
    },
    remove: (path) => rmSync(path, { force: true }),
    makeFolder,
    makeFolderApart: (path) => makeFolderApart(path, clock),
    isFolder: (path) => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false,
    sizeOf: (path) => statSync(path, { throwIfNoEntry: false })?.size,
  }
}
