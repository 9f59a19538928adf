/**
 * A page as a Markdown file with front matter. It is written beside its place and moved there whole, so nobody ever
 * reads half a page, and the path depends on the URL alone, so fetching a page again writes the same file. Writing
 * goes on beside the crawl; whoever commits the page's record waits for it first.
 */
import { dirname, join } from 'node:path'
import { createLru, type Disk } from '../base/index.ts'
import { TiptoeError, type PageRecord } from '../model/index.ts'

/** Folders known to exist and to be folders of ours. */
const FOLDERS_KEPT = 10_000

export interface MarkdownWriter {
  write(path: string, record: PageRecord, markdown: string): Promise<void>
}

/** Paths are below `root`, with forward slashes, as `contentPath` makes them. */
export function createMarkdownWriter(root: string, disk: Disk): MarkdownWriter {
  const ready = createLru<string, true>(FOLDERS_KEPT)
  /** Makes the folder, refusing to walk through a link that could lead out of the output. */
  const prepare = (folder: string): void => {
    if (folder === '.' || ready.get(folder) === true) return
    prepare(dirname(folder))
    const path = join(root, folder)
    disk.makeFolder(path)
    if (!disk.isFolder(path)) {
      throw new TiptoeError('output', `${path} is a link, and nothing is written through it`, {
        hint: 'remove it, or choose another folder with --out',
      })
    }
    ready.set(folder, true)
  }
  return {
    async write(path, record, markdown) {
      prepare(dirname(path))
      await disk.replace(join(root, path), frontMatter(record) + markdown)
    },
  }
}

/** YAML whose values are JSON strings, which YAML reads as they are: nothing a page says can break out of them. */
function frontMatter(record: PageRecord): string {
  const fields: [string, string | null][] = [
    ['url', record.url],
    ['title', record.title],
    ['description', record.description],
    ['lang', record.lang],
    ['canonical', record.canonical],
    ['fetched', record.fetchedAt],
  ]
  const lines = fields.flatMap(([name, value]) => (value === null ? [] : [`${name}: ${JSON.stringify(value)}`]))
  return `---\n${lines.join('\n')}\n---\n\n`
}
