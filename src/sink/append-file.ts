/**
 * A file that only grows, and whose committed length somebody else keeps. After a crash it is cut back to that
 * length, so a line that was never committed, or only half written, is gone.
 */
import type { Disk } from '../base/index.ts'
import { TiptoeError } from '../model/index.ts'

export interface AppendFile {
  /** Bytes, all of them written to the file. */
  readonly length: number
  /**
   * Adds to the end; text as UTF-8. If it throws, the file may be longer than `length`; the next opening puts that
   * right.
   */
  append(data: string | Uint8Array): void
  /** Fills `into` from this place on; throws if the file ends before. */
  read(into: Uint8Array, position: number): void
  /** What was appended is on the disk, not only with the operating system. */
  sync(): void
  close(): void
}

export function openAppendFile(path: string, committed: number, disk: Disk): AppendFile {
  const file = disk.openGrowing(path)
  const present = file.size()
  if (present < committed) {
    file.close()
    throw new TiptoeError('output', `${path} has ${present} bytes, but ${committed} were committed`, {
      hint: 'records were removed from it: put the file back, or start over with --fresh',
    })
  }
  if (present > committed) file.truncate(committed)
  let length = committed
  let dirty = false
  return {
    get length() {
      return length
    },
    append(data) {
      const bytes = typeof data === 'string' ? Buffer.from(data) : data
      for (let written = 0; written < bytes.length;) written += file.write(bytes, written)
      length += bytes.length
      dirty = true
    },
    read(into, position) {
      if (file.read(into, position) === into.length) return
      throw new TiptoeError('output', `${path} ends before byte ${position + into.length}`, {
        hint: 'something else wrote to it: start over with --fresh, and let nothing change the files of a running crawl',
      })
    },
    sync() {
      if (dirty) file.sync()
      dirty = false
      if (file.isNamed()) return
      throw new TiptoeError('output', `${path} was removed while the crawl wrote to it`, {
        hint: 'what it held is lost: start over with --fresh, and let nothing move the files of a running crawl',
      })
    },
    close: () => file.close(),
  }
}
