/**
 * A growing file whose additions are gathered and written together, since each call of the operating system costs as much
 * as a few kilobytes. Its length counts what is gathered, and whatever is read is written first. What is gathered and
 * never written is lost when it is closed.
 */
import type { AppendFile } from './append-file.ts'

/** When so much is gathered it is written, whoever asks for it or not. */
const MAX_GATHERED_BYTES = 1024 * 1024

export interface GatheringFile extends AppendFile {
  /** All that was appended is written. */
  write(): void
}

export function gatherInto(file: AppendFile): GatheringFile {
  let parts: Uint8Array[] = []
  let gatheredBytes = 0
  const write = (): void => {
    if (gatheredBytes === 0) return
    const all = Buffer.concat(parts, gatheredBytes)
    parts = []
    gatheredBytes = 0
    file.append(all)
  }
  return {
    get length() {
      return file.length + gatheredBytes
    },
    append(data) {
      const bytes = typeof data === 'string' ? Buffer.from(data) : data
      parts.push(bytes)
      gatheredBytes += bytes.length
      if (gatheredBytes >= MAX_GATHERED_BYTES) write()
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
