/**
 * The disk, passed in: the few operations that the output of a crawl is made of. A home that loses or tears what was
 * not synced can stand in for the real one. Errors are those of the file system, with its `code`.
 */
import {
  closeSync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  lstatSync,
  openSync,
  rename,
  statSync,
  writeFile,
  writeSync,
} from 'node:fs'
import { makeFolder } from './make-folder.ts'

/** A file that is written only at its end. */
export interface GrowingFile {
  /** Bytes, as the operating system has them. */
  size(): number
  truncate(size: number): void
  /** Writes `bytes` from this index on; returns how many it took, which may be fewer than all. */
  write(bytes: Uint8Array, from: number): number
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
  replace(path: string, text: string): Promise<void>
  /** Makes a folder and those above it; one that is there already is left alone. */
  makeFolder(path: string): void
  /** Whether there is a folder at this very path; a link to one is none. */
  isFolder(path: string): boolean
  /** Bytes; undefined when there is no such file. */
  sizeOf(path: string): number | undefined
}

export function createSystemDisk(): Disk {
  return {
    openGrowing(path) {
      const descriptor = openSync(path, 'a+')
      return {
        size: () => fstatSync(descriptor).size,
        truncate: (size) => ftruncateSync(descriptor, size),
        write: (bytes, from) => writeSync(descriptor, bytes, from),
        sync: () => fdatasyncSync(descriptor),
        isNamed: () => fstatSync(descriptor).nlink > 0,
        close: () => closeSync(descriptor),
      }
    },
    // With callbacks, since a page for every file makes the cost of a promise at each step add up.
    replace: (path, text) =>
      new Promise((resolve, reject) => {
        const draft = `${path}.part`
        const done = (error: Error | null): void => (error === null ? resolve() : reject(error))
        writeFile(draft, text, (error) => (error === null ? rename(draft, path, done) : reject(error)))
      }),
    makeFolder,
    isFolder: (path) => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false,
    sizeOf: (path) => statSync(path, { throwIfNoEntry: false })?.size,
  }
}
