/** Pages as a tree of plain text, each where its Markdown is in `content/`. */
import { contentPath } from '../sink/index.ts'
import { normalizeUrl } from '../url/index.ts'
import type { ReadContent } from './content-files.ts'
import type { DraftFolder } from './drafts.ts'
import { textOf } from './markdown/plain-text.ts'
import type { PageIndex } from './page-index.ts'

const EXTENSION = 'txt'

export function writeTextFolder(
  index: PageIndex,
  read: ReadContent,
  folder: DraftFolder,
): { files: number; bytes: number } {
  let files = 0
  let bytes = 0
  for (const { page, record } of index.records()) {
    const url = normalizeUrl(record.url)
    const markdown = read(page, record)
    if (url === undefined || markdown === undefined) continue
    bytes += folder.write(contentPath(url, EXTENSION), [textOf(markdown)])
    files += 1
  }
  return { files, bytes }
}
