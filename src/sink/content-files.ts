/**
 * The files that page records point to: Markdown and HTML, each at the path that its record names. They may be written by
 * any thread, since no two pages have one path; whoever commits the record waits for them first.
 */
import { join } from 'node:path'
import { createSystemDisk, type Disk } from '../base/index.ts'
import { createContentFolder } from './content-folder.ts'
import { markdownFile } from './markdown-file.ts'
import { explain } from './output-folder.ts'
import type { OutputRecord, PageOutput } from './record.ts'

const CONTENT = 'content'

export interface ContentFiles {
  /** Writes what a record only points to. To be awaited before the record is appended. */
  write(record: OutputRecord): Promise<void>
}

export function createContentFiles(folder: string, deps: { readonly disk?: Disk } = {}): ContentFiles {
  const { disk = createSystemDisk() } = deps
  const content = createContentFolder(join(folder, CONTENT), disk)
  return {
    async write(item) {
      if (item.kind !== 'page') return
      try {
        for (const [path, text] of filesOf(item)) await content.write(path, text)
      } catch (error) {
        explain(folder, error)
      }
    },
  }
}

/** Below the folder of content. */
function filesOf({ record, markdown, html }: PageOutput): [path: string, text: string | Uint8Array][] {
  const { markdownPath, htmlPath } = record
  const files: [string, string | Uint8Array][] = []
  if (markdownPath !== undefined && markdown !== null) files.push([markdownPath, markdownFile(record, markdown)])
  if (htmlPath !== undefined && html !== undefined) files.push([htmlPath, html])
  return files.map(([path, text]) => [path.slice(CONTENT.length + 1), text])
}
