/**
 * The output folder of a crawl: four files of records and a tree of Markdown. Records become part of the output when
 * their position is committed by the frontier; what lies beyond it after a crash is cut off on opening.
 */
import { join } from 'node:path'
import { createSystemDisk, type Disk } from '../base/index.ts'
import { TiptoeError } from '../model/index.ts'
import { openAppendFile } from './append-file.ts'
import { createMarkdownWriter } from './markdown-file.ts'
import { RECORD_FILES, type OutputRecord } from './record.ts'

export interface OutputFolder {
  /** Writes what a record only points to. To be awaited before the record is appended. */
  writeContent(record: OutputRecord): Promise<void>
  /** Writes the records and returns the length of each file; on the disk when it returns. */
  append(records: readonly OutputRecord[]): Record<string, number>
  close(): void
}

/** `committed` is the position that the frontier has; files that it does not name are empty. */
export function openOutputFolder(
  folder: string,
  committed: Readonly<Record<string, number>>,
  deps: { readonly disk?: Disk } = {},
): OutputFolder {
  const { disk = createSystemDisk() } = deps
  return explained(folder, () => {
    disk.makeFolder(folder)
    const files = Object.values(RECORD_FILES).map((name) => ({
      name,
      file: openAppendFile(join(folder, name), committed[name] ?? 0, disk),
    }))
    const markdown = createMarkdownWriter(join(folder, 'content'), disk)
    return {
      async writeContent(item) {
        if (item.kind !== 'page' || item.markdown === null || item.record.markdownPath === undefined) return
        const path = item.record.markdownPath.slice('content/'.length)
        await markdown.write(path, item.record, item.markdown).catch((error: unknown) => explain(folder, error))
      },
      append(records) {
        return explained(folder, () => {
          for (const { name, file } of files) {
            const lines = records.filter((record) => RECORD_FILES[record.kind] === name).map(line)
            if (lines.length > 0) file.append(lines.join(''))
          }
          for (const { file } of files) file.sync()
          return Object.fromEntries(files.map(({ name, file }) => [name, file.length]))
        })
      },
      close() {
        for (const { file } of files) file.close()
      },
    }
  })
}

/** Whether any of the files of records in this folder holds something. */
export function hasRecords(folder: string, deps: { readonly disk?: Disk } = {}): boolean {
  const { disk = createSystemDisk() } = deps
  return Object.values(RECORD_FILES).some((name) => (disk.sizeOf(join(folder, name)) ?? 0) > 0)
}

/** One line of JSON. The two line separators that JSON allows and some readers split at are escaped. */
function line(item: OutputRecord): string {
  const text = JSON.stringify(item.record)
  return `${text.replaceAll('\u2028', String.raw`\u2028`).replaceAll('\u2029', String.raw`\u2029`)}\n`
}

/** Runs `work`, and turns what the file system throws into an error that says what to do. */
export function explained<T>(folder: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    return explain(folder, error)
  }
}

/** Throws what the file system threw, with what to do about it. */
function explain(folder: string, error: unknown): never {
  if (error instanceof TiptoeError) throw error
  const { code, message } = error as NodeJS.ErrnoException
  if (code === undefined) throw error
  const hint =
    code === 'ENOSPC' || code === 'EDQUOT'
      ? 'the disk is full: make room, and the same command goes on where the crawl stood'
      : 'check the folder and its permissions, or choose another with --out'
  throw new TiptoeError('output', `the output in ${folder} cannot be written: ${message}`, { cause: error, hint })
}
