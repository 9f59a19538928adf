/**
 * A disk that outlives the processes that write to it, and forgets what it may forget. After a kill everything that
 * was written is there, as an operating system keeps it; after a power cut only what was synced is sure, and of the
 * rest a part may be there, torn. It can be full.
 */
import { dirname } from 'node:path'
import type { Disk, GrowingFile, Rng } from '../base/index.ts'
import { Killed, type SimProcess } from './world.ts'

/** How long a file that is written whole takes, at most. */
const REPLACE_MS = 3

export interface SimDisk {
  /** The disk as this process has it. Each call goes through `step` first, which may kill the process or make it fail. */
  of(process: SimProcess, step: (what: string) => void): Disk
  /** Power fails: whatever is not synced may be lost, wholly or in part. */
  cutPower(rng: Rng): void
  /** While it is full nothing more can be written. */
  setFull(isFull: boolean): void
  /** Bytes from `from` on to `to`, as the operating system has them. */
  read(path: string, from: number, to: number): Buffer
  sizeOf(path: string): number | undefined
  /** Names of the files in a folder. */
  namesIn(folder: string): string[]
  has(path: string): boolean
}

interface File {
  bytes: Buffer
  size: number
  /** Of `bytes`, what is on the disk for sure. */
  syncedSize: number
  /** What lay beyond the end before the file was cut, until that too is synced. */
  cutOff: Buffer | undefined
}

export function createSimDisk(): SimDisk {
  const files = new Map<string, File>()
  const folders = new Set<string>()
  /** Files written whole and never synced. */
  const drafts = new Map<string, string | Uint8Array>()
  let isFull = false

  const open = (path: string): File => {
    let file = files.get(path)
    if (file === undefined)
      files.set(path, (file = { bytes: Buffer.alloc(4_096), size: 0, syncedSize: 0, cutOff: undefined }))
    return file
  }
  const ensureRoom = (path: string): void => {
    if (isFull) throw Object.assign(new Error(`ENOSPC: no space left on device, write '${path}'`), { code: 'ENOSPC' })
  }
  const put = (file: File, bytes: Uint8Array): void => {
    if (file.size + bytes.length > file.bytes.length) {
      const larger = Buffer.alloc(2 * (file.size + bytes.length))
      file.bytes.copy(larger, 0, 0, file.size)
      file.bytes = larger
    }
    file.bytes.set(bytes, file.size)
    file.size += bytes.length
  }

  const growing = (path: string, process: SimProcess, step: (what: string) => void): GrowingFile => {
    const file = open(path)
    const act = (what: string): void => {
      step(what)
      if (!process.alive) throw new Killed()
    }
    return {
      size: () => file.size,
      truncate(size) {
        act('truncate')
        file.cutOff ??= Buffer.from(file.bytes.subarray(size, Math.max(size, file.syncedSize)))
        file.size = size
        file.syncedSize = Math.min(file.syncedSize, size)
        act('truncated')
      },
      write(bytes, from) {
        act('write')
        ensureRoom(path)
        // A write may be cut short at any byte; the caller goes on from there.
        const part =
          bytes.length - from > 64
            ? bytes.subarray(from, from + Math.ceil((bytes.length - from) * 0.75))
            : bytes.subarray(from)
        put(file, part)
        act('written')
        return part.length
      },
      sync() {
        act('sync')
        file.syncedSize = file.size
        file.cutOff = undefined
        act('synced')
      },
      read: (into, position) =>
        file.bytes.copy(into, 0, position, Math.max(position, Math.min(file.size, position + into.length))),
      isNamed: () => true,
      close: () => {},
    }
  }

  const namesIn = (folder: string): string[] =>
    [...files.keys()].filter((path) => dirname(path) === folder).map((path) => path.slice(folder.length + 1))

  return {
    of: (process, step) => ({
      openGrowing: (path) => growing(path, process, step),
      async replace(path, content) {
        step('replace')
        ensureRoom(path)
        await new Promise<void>((resolve) => process.later((content.length % (8 * REPLACE_MS)) / 8, resolve))
        step('replaced')
        drafts.set(path, content)
      },
      namesIn,
      remove(path) {
        step('remove')
        files.delete(path)
        drafts.delete(path)
      },
      makeFolder: (path) => void folders.add(path),
      makeFolderApart: (path) => void folders.add(path),
      isFolder: (path) => folders.has(path),
      sizeOf: (path) => files.get(path)?.size ?? drafts.get(path)?.length,
    }),
    cutPower(rng) {
      for (const file of files.values()) {
        if (file.cutOff !== undefined && rng.next() < 0.5) {
          // The cut itself was never synced: the old end is back.
          file.size = file.syncedSize
          put(file, file.cutOff)
        } else file.size = file.syncedSize + rng.int(file.size - file.syncedSize + 1)
        const torn = file.size - file.syncedSize
        if (torn > 0 && rng.next() < 0.5) file.bytes.fill(0, file.syncedSize + rng.int(torn), file.size)
        file.syncedSize = file.size
        file.cutOff = undefined
      }
      for (const path of drafts.keys()) if (rng.next() < 0.2) drafts.delete(path)
    },
    setFull(full) {
      isFull = full
    },
    read: (path, from, to) =>
      files.get(path)?.bytes.subarray(from, Math.min(to, files.get(path)?.size ?? 0)) ?? Buffer.alloc(0),
    sizeOf: (path) => files.get(path)?.size,
    namesIn,
    has: (path) => files.has(path) || drafts.has(path),
  }
}
