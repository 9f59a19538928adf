/**
 * The files of an archive and their index, as an export reads them. Where the index is missing or shorter than it was
 * committed, one is made anew from the files, beside the crawl and not in it.
 */
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSystemDisk } from '../../base/index.ts'
import { ARCHIVE_INDEX, archiveFiles, type ArchiveFile } from '../../sink/index.ts'
import type { ExportSource } from '../source.ts'
import { rebuiltIndexLines } from './rebuilt-index.ts'
import { sortedIndexLines } from './sorted-index.ts'

const disk = createSystemDisk()

export function archivesOf(source: ExportSource): ArchiveFile[] {
  return archiveFiles(source.folder, source.output, disk)
}

export interface ArchiveIndex {
  readonly bytes: number
  /** Lines without their ends, in the order of their bytes. */
  lines(): Iterable<string>
  close(): void
}

export async function openArchiveIndex(source: ExportSource, archives: readonly ArchiveFile[]): Promise<ArchiveIndex> {
  const committed = source.output[ARCHIVE_INDEX] ?? 0
  const written = join(source.folder, ARCHIVE_INDEX)
  const present = disk.sizeOf(written) ?? 0
  if (committed > 0 && present >= committed) return indexIn(written, committed, () => {})
  const folder = mkdtempSync(join(tmpdir(), 'tiptoe-export-'))
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  try {
    const path = join(folder, 'index.cdxj')
    let bytes = 0
    writeFileSync(path, '')
    for await (const line of rebuiltIndexLines(source.folder, archives)) {
      appendFileSync(path, line)
      bytes += line.length
    }
    return indexIn(path, bytes, remove)
  } catch (error) {
    remove()
    throw error
  }
}

function indexIn(path: string, bytes: number, close: () => void): ArchiveIndex {
  return { bytes, lines: () => sortedIndexLines(path, bytes), close }
}
