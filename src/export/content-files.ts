/**
 * The Markdown of a page, from the folder that has its record, where its URL alone can have put it, without the front
 * matter. A link in its place or on
 * the way is not followed out of the folder; a file that is missing or too large is no text.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInsideCheck, createLru } from '../base/index.ts'
import type { PageRecord } from '../model/index.ts'
import { contentPath } from '../sink/index.ts'
import { normalizeUrl } from '../url/index.ts'
import type { IndexedPage } from './page-index.ts'
import type { ExportSource } from './source.ts'

/** Markdown has 8 Mi characters at the most, of up to three bytes, and some front matter. */
const MAX_FILE_BYTES = 32 * 1024 * 1024

/** Folders whose real places are known. */
const FOLDERS_KEPT = 1_000

export type ReadContent = (page: Pick<IndexedPage, 'folder'>, record: PageRecord) => string | undefined

export function createContentReader({ folders }: ExportSource): ReadContent {
  const readers = createLru<number, (record: PageRecord) => string | undefined>(FOLDERS_KEPT)
  return ({ folder }, record) => {
    const known = readers.get(folder)
    if (known !== undefined) return known(record)
    const reader = createFolderReader(folders[folder]?.path ?? '')
    readers.set(folder, reader)
    return reader(record)
  }
}

function createFolderReader(folder: string): (record: PageRecord) => string | undefined {
  const root = realpathSync(folder)
  const isInside = createInsideCheck(root)
  return (record) => {
    const url = normalizeUrl(record.url)
    if (url === undefined || record.markdownPath !== `content/${contentPath(url, 'md')}`) return undefined
    const path = join(root, record.markdownPath)
    try {
      if (!isInside(dirname(path))) return undefined
      return withoutFrontMatter(readBounded(path) ?? '')
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'ENOENT' || code === 'ELOOP' || code === 'ENOTDIR' || code === 'EISDIR') return undefined
      throw error
    }
  }
}

function readBounded(path: string): string | undefined {
  const descriptor = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
  try {
    const found = fstatSync(descriptor)
    return found.isFile() && found.size <= MAX_FILE_BYTES ? readFileSync(descriptor, 'utf8') : undefined
  } finally {
    closeSync(descriptor)
  }
}

/** Its values are JSON on one line each, so the first line of three dashes behind the first line ends it. */
function withoutFrontMatter(text: string): string {
  if (!text.startsWith('---\n')) return text
  const end = text.indexOf('\n---\n', 3)
  return end === -1 ? text : text.slice(end + 5).replace(/^\n+/, '')
}
