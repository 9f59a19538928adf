/**
 * The files of an archive and their index, as an export reads them: all folders together, as one archive. Where the
 * index of a folder is missing or shorter than it was committed, one is made anew from the files, beside the crawl and
 * not in it.
 */
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSystemDisk } from '../../base/index.ts'
import { ARCHIVE_FOLDER, ARCHIVE_INDEX, archiveFiles, type ArchiveFile } from '../../sink/index.ts'
import type { ExportSource, SourceFolder } from '../source.ts'
import { rebuiltIndexLines } from './rebuilt-index.ts'
import { sortedIndexLines, type IndexPart } from './sorted-index.ts'

const disk = createSystemDisk()

/** What one folder has. */
export interface FolderArchive {
  readonly folder: SourceFolder
  readonly files: readonly ArchiveFile[]
  /** Put before the names of its files: workers that began in the same second have files of the same name. */
  readonly prefix: string
}

/** Folders without an archive are left out. Names stay as they are where there is one folder. */
export function archivesOf({ folders }: ExportSource): FolderArchive[] {
  const prefixOf = (place: number): string => (folders.length === 1 ? '' : `${String(place + 1).padStart(5, '0')}-`)
  return folders
    .map((folder, place) => ({
      folder,
      files: archiveFiles(folder.path, folder.output, disk),
      prefix: prefixOf(place),
    }))
    .filter(({ files }) => files.length > 0)
}

/** What a file is called in the export. */
export function exportedPath({ prefix }: FolderArchive, { name }: ArchiveFile): string {
  return `${ARCHIVE_FOLDER}/${prefix}${name}`
}

export interface ArchiveIndex {
  readonly bytes: number
  /** Lines without their ends, in the order of their bytes. */
  lines(): Iterable<string>
  close(): void
}

export async function openArchiveIndex(archives: readonly FolderArchive[]): Promise<ArchiveIndex> {
  let made: string | undefined
  const close = (): void => {
    if (made !== undefined) rmSync(made, { recursive: true, force: true })
  }
  try {
    const parts: IndexPart[] = []
    for (const archive of archives) {
      const written = writtenIndex(archive)
      if (written !== undefined) {
        parts.push(written)
        continue
      }
      made ??= mkdtempSync(join(tmpdir(), 'tiptoe-export-'))
      parts.push(await rebuild(archive, join(made, `index-${parts.length}.cdxj`)))
    }
    const bytes = parts.reduce((sum, { end }) => sum + end, 0)
    return { bytes, lines: () => sortedIndexLines(parts), close }
  } catch (error) {
    close()
    throw error
  }
}

/** As the crawl has it; undefined when it has lost it. */
function writtenIndex({ folder, prefix }: FolderArchive): IndexPart | undefined {
  const end = folder.output[ARCHIVE_INDEX] ?? 0
  const path = join(folder.path, ARCHIVE_INDEX)
  return end > 0 && (disk.sizeOf(path) ?? 0) >= end ? { path, end, prefix } : undefined
}

async function rebuild({ folder, files, prefix }: FolderArchive, path: string): Promise<IndexPart> {
  let end = 0
  writeFileSync(path, '')
  for await (const line of rebuiltIndexLines(folder.path, files)) {
    appendFileSync(path, line)
    end += line.length
  }
  return { path, end, prefix }
}
