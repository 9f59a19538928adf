/**
 * How much of a folder's files is whole, where nobody says how much of it was committed: lines that have their end, and
 * records of an archive that can be read to theirs. It may be more than was committed, and is never half a record.
 */
import { closeSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { createSystemDisk } from '../base/index.ts'
import { ARCHIVE_FOLDER, newestArchiveFile, RECORD_FILES } from '../sink/index.ts'
import { wholeRecordsEnd } from './wacz/warc-records.ts'

const BLOCK_BYTES = 64 * 1024
const LINE_FEED = 0x0a
const disk = createSystemDisk()

/** The index of an archive is left out: it is made anew from what is whole. */
export async function wholeRecords(folder: string): Promise<Record<string, number>> {
  const lengths: Record<string, number> = {}
  for (const name of Object.values(RECORD_FILES)) lengths[name] = wholeLinesEnd(join(folder, name))
  const newest = newestArchiveFile(disk.namesIn(join(folder, ARCHIVE_FOLDER)))
  if (newest !== undefined) {
    const path = `${ARCHIVE_FOLDER}/${newest}`
    lengths[path] = await wholeRecordsEnd(join(folder, path), disk.sizeOf(join(folder, path)) ?? 0)
  }
  return lengths
}

/** Behind the last line feed; 0 for a file without one, and for one that is not there. */
function wholeLinesEnd(path: string): number {
  const size = disk.sizeOf(path) ?? 0
  if (size === 0) return 0
  const descriptor = openSync(path, 'r')
  try {
    const block = Buffer.allocUnsafe(BLOCK_BYTES)
    for (let end = size; end > 0; end -= BLOCK_BYTES) {
      const start = Math.max(0, end - BLOCK_BYTES)
      const read = readSync(descriptor, block, 0, end - start, start)
      const at = block.subarray(0, read).lastIndexOf(LINE_FEED)
      if (at !== -1) return start + at + 1
    }
    return 0
  } finally {
    closeSync(descriptor)
  }
}
