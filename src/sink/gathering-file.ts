/**
 * A growing file whose additions are gathered and written together, since each call of the operating system costs as much
 * as a few kilobytes. Its length counts what is gathered, and whatever is read is written first. What is gathered and
 * never written is lost when it is closed.
 */
import type { AppendFile } from './append-file.ts'

/** When more than this would be gathered, what there is is written first, whoever asks for it or not. */
const MAX_GATHERED_BYTES = 1024 * 1024
const FIRST_ROOM_BYTES = 64 * 1024
/** A character of a string is so many bytes of UTF-8 at most. */
const MAX_CHARACTER_BYTES = 3

export interface GatheringFile extends AppendFile {
  /** All that was appended is written. */
  write(): void
}

export function gatherInto(file: AppendFile): GatheringFile {
  /** Used again after each write: fresh memory for each would be the collector's to find again. */
  let room = Buffer.allocUnsafeSlow(FIRST_ROOM_BYTES)
  let gatheredBytes = 0
  const write = (): void => {
    if (gatheredBytes === 0) return
    const all = room.subarray(0, gatheredBytes)
    gatheredBytes = 0
    file.append(all)
  }
  /** Whether there is room for so many bytes, or can be. */
  const makeRoom = (bytes: number): boolean => {
    if (gatheredBytes + bytes <= room.length) return true
    if (gatheredBytes + bytes > MAX_GATHERED_BYTES) write()
    if (bytes > MAX_GATHERED_BYTES) return false
    if (gatheredBytes + bytes > room.length) {
      const larger = Buffer.allocUnsafeSlow(2 ** Math.ceil(Math.log2(gatheredBytes + bytes)))
      larger.set(room.subarray(0, gatheredBytes))
      room = larger
    }
    return true
  }
  return {
    get length() {
      return file.length + gatheredBytes
    },
    append(data) {
      const isText = typeof data === 'string'
      if (!makeRoom(isText ? MAX_CHARACTER_BYTES * data.length : data.length)) file.append(data)
      else if (isText) gatheredBytes += room.write(data, gatheredBytes)
      else {
        room.set(data, gatheredBytes)
        gatheredBytes += data.length
      }
    },
    write,
    read(into, position) {
      write()
      file.read(into, position)
    },
    sync() {
      write()
      file.sync()
    },
    close: () => file.close(),
  }
}
