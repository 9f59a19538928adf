/**
 * The files of an archive: `archive/tiptoe-20260102030405-00001.warc.gz` and so on, and their index.
 *
 * The committed position names one of them, the one that is being written, with its length. Files with smaller numbers
 * were complete before it was begun, and count whole. Files with larger numbers are from a moment that was never
 * committed. So a position stays small however many files there are.
 */
import type { Disk } from '../../base/index.ts'
import { timestamp14 } from './index-line.ts'
import { warcDate } from './warc-record.ts'

export const ARCHIVE_FOLDER = 'archive'
export const ARCHIVE_INDEX = `${ARCHIVE_FOLDER}/index.cdxj`

const NAME = /^tiptoe-\d{14}-(\d{5,9})\.warc\.gz$/

export interface ArchiveFile {
  readonly name: string
  /** Relative to the output folder, with forward slashes. */
  readonly path: string
  /** The bytes that are committed. */
  readonly length: number
}

/** Of a file of an archive; undefined for any other name. */
export function fileNumber(name: string): number | undefined {
  const digits = NAME.exec(name)?.[1]
  return digits === undefined ? undefined : Number(digits)
}

/** `at` is clock ms. */
export function fileName(number: number, at: number): string {
  return `tiptoe-${timestamp14(warcDate(at))}-${String(number).padStart(5, '0')}.warc.gz`
}

/** The file with the largest number among these names; undefined when none is of an archive. */
export function newestArchiveFile(names: readonly string[]): string | undefined {
  return names
    .filter((name) => fileNumber(name) !== undefined)
    .toSorted((one, other) => (fileNumber(one) ?? 0) - (fileNumber(other) ?? 0) || (one < other ? -1 : 1))
    .at(-1)
}

/** The file that the position names; undefined when nothing was archived. */
export function currentFile(
  position: Readonly<Record<string, number>>,
): (ArchiveFile & { number: number }) | undefined {
  let current: (ArchiveFile & { number: number }) | undefined
  for (const [path, length] of Object.entries(position)) {
    const name = path.startsWith(`${ARCHIVE_FOLDER}/`) ? path.slice(ARCHIVE_FOLDER.length + 1) : ''
    const number = fileNumber(name)
    if (number !== undefined && number > (current?.number ?? 0)) current = { name, path, length, number }
  }
  return current
}

/** All that is committed, in order. `folder` is the output folder. */
export function archiveFiles(
  folder: string,
  position: Readonly<Record<string, number>>,
  disk: Pick<Disk, 'namesIn' | 'sizeOf'>,
): ArchiveFile[] {
  const current = currentFile(position)
  if (current === undefined) return []
  const earlier = disk
    .namesIn(`${folder}/${ARCHIVE_FOLDER}`)
    .map((name) => ({ name, number: fileNumber(name) ?? Infinity }))
    .filter(({ number }) => number < current.number)
    .toSorted((one, other) => one.number - other.number || (one.name < other.name ? -1 : 1))
    .map(({ name }) => {
      const path = `${ARCHIVE_FOLDER}/${name}`
      return { name, path, length: disk.sizeOf(`${folder}/${path}`) ?? 0 }
    })
  return [...earlier, { name: current.name, path: current.path, length: current.length }]
}
