/**
 * The files that page records point to: Markdown and HTML, each at the path that its record names. They may be written by
 * any thread, since no two pages have one path; whoever commits the record waits for them first.
 */
import { join } from 'node:path'
import { createSystemDisk, type Disk } from '../base/index.ts'
import { createContentFolder } from './content-folder.ts'
import { markdownFile } from './markdown-file.ts'
import { explain, explained } from './output-folder.ts'
import type { OutputRecord } from './record.ts'

const CONTENT = 'content'

export interface ContentFiles {
  /** Writes what a record only points to. To be awaited before the record is appended. */
  write(record: OutputRecord): Promise<void>
}

/** To be called before anybody writes. */
export function makeContentFolder(folder: string, disk: Disk): void {
  explained(folder, () => disk.makeFolderApart(join(folder, CONTENT)))
}

export function createContentFiles(folder: string, deps: { readonly disk?: Disk } = {}): ContentFiles {
  const { disk = createSystemDisk() } = deps
  const content = createContentFolder(join(folder, CONTENT), disk)
  return {
    async write(item) {
      if (item.kind !== 'page') return
      const { record, markdown, html } = item
      const { markdownPath, htmlPath } = record
      try {
        if (markdownPath !== undefined && markdown !== null) {
          await content.write(belowContent(markdownPath), markdownFile(record, markdown))
        }
        if (htmlPath !== undefined && html !== undefined) await content.write(belowContent(htmlPath), html)
      } catch (error) {
        explain(folder, error)
      }
    },
  }
}

function belowContent(path: string): string {
  return path.slice(CONTENT.length + 1)
}
