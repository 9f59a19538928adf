/**
 * The output folder of a crawl: four files of records, a tree of content and, if it is wanted, an archive. Records become
 * part of the output when their position is committed by the frontier; what lies beyond it after a crash is cut off on
 * opening.
 */
import { join } from 'node:path'
import { createSystemDisk, type Disk } from '../base/index.ts'
import { TiptoeError } from '../model/index.ts'
import { openAppendFile } from './append-file.ts'
import { RECORD_FILES, recordLine, type OutputRecord } from './record.ts'
import { ARCHIVE_INDEX } from './warc/archive-files.ts'
import { cutArchive, openArchive, type ArchiveOptions } from './warc/archive.ts'

export interface OutputFolder {
  /** Prepares what goes with a record into the archive. To be awaited before the record is appended. */
  prepare(record: OutputRecord): Promise<void>
  /** Writes the records and returns the length of each file. */
  append(records: readonly OutputRecord[]): Record<string, number>
  /** What was appended is on the disk. */
  sync(): void
  /** Takes back what was appended beyond this position, one that `append` returned before. */
  cut(position: Readonly<Record<string, number>>): void
  close(): void
}

export interface OutputFolderDeps {
  readonly disk?: Disk
  /** Absent: nothing is archived. What was archived before stays. */
  readonly archive?: ArchiveOptions
}

/** `committed` is the position that the frontier has; files that it does not name are empty. */
export function openOutputFolder(
  folder: string,
  committed: Readonly<Record<string, number>>,
  deps: OutputFolderDeps = {},
): OutputFolder {
  const disk = deps.disk ?? createSystemDisk()
  return explained(folder, () => {
    disk.makeFolder(folder)
    let { files, archive, archivedBefore } = openFiles(committed)
    return {
      async prepare({ exchange }) {
        try {
          if (exchange !== undefined) await archive?.prepare(exchange)
        } catch (error) {
          explain(folder, error)
        }
      },
      append(records) {
        return explained(folder, () => {
          for (const { name, file } of files) {
            const lines = records.flatMap((item) =>
              item.kind !== 'exchange' && RECORD_FILES[item.kind] === name
                ? [item.line ?? recordLine(item.record)]
                : [],
            )
            if (lines.length > 0) file.append(lines.join(''))
          }
          for (const { exchange } of records) if (exchange !== undefined) archive?.append(exchange)
          const lengths = Object.fromEntries(files.map(({ name, file }) => [name, file.length]))
          return { ...lengths, ...(archive?.position() ?? archivedBefore) }
        })
      },
      sync() {
        explained(folder, () => {
          for (const { file } of files) file.sync()
          archive?.sync()
        })
      },
      cut(position) {
        explained(folder, () => {
          close()
          ;({ files, archive, archivedBefore } = openFiles(position))
        })
      },
      close,
    }

    function openFiles(position: Readonly<Record<string, number>>) {
      const files = Object.values(RECORD_FILES).map((name) => ({
        name,
        file: openAppendFile(join(folder, name), position[name] ?? 0, disk),
      }))
      const archive = deps.archive === undefined ? undefined : openArchive(folder, position, deps.archive)
      const archivedBefore = archive === undefined ? cutArchive(folder, position, disk) : {}
      return { files, archive, archivedBefore }
    }

    function close(): void {
      for (const { file } of files) file.close()
      archive?.close()
    }
  })
}

/** Whether any of the files of records in this folder holds something, or its archive does. */
export function hasRecords(folder: string, deps: { readonly disk?: Pick<Disk, 'sizeOf'> } = {}): boolean {
  const { disk = createSystemDisk() } = deps
  const names = [...Object.values(RECORD_FILES), ARCHIVE_INDEX]
  return names.some((name) => (disk.sizeOf(join(folder, name)) ?? 0) > 0)
}

/** Runs `work`, and turns what the file system throws into an error that says what to do. */
export function explained<T>(folder: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    return explain(folder, error)
  }
}

const FULL = 'the disk is full: make room, and the same command goes on where the crawl stood'
/** What to do, by what the file system says. */
const HINTS: Readonly<Record<string, string>> = {
  ENOSPC: FULL,
  EDQUOT: FULL,
  ELOOP:
    'a file of the output is a link, and nothing is written through one: remove it, or choose another folder with --out',
}

/** Throws what the file system threw, with what to do about it. */
export function explain(folder: string, error: unknown): never {
  if (error instanceof TiptoeError) throw error
  const { code, message } = error as NodeJS.ErrnoException
  if (code === undefined) throw error
  const hint = HINTS[code] ?? 'check the folder and its permissions, or choose another with --out'
  throw new TiptoeError('output', `the output in ${folder} cannot be written: ${message}`, { cause: error, hint })
}
