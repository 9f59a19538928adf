/**
 * The tree of content files. Each is written beside its place and moved there whole, so nobody ever reads half a page,
 * and nothing is written through a link that could lead out of the output. Writing may go on beside the crawl; whoever
 * commits the page's record waits for it first.
 */
import { join } from 'node:path'
import { createLru, type Disk } from '../base/index.ts'
import { TiptoeError } from '../model/index.ts'

/** Folders known to exist and to be folders of ours. */
const FOLDERS_KEPT = 10_000

export interface ContentFolder {
  /** `path` is below the folder, with forward slashes, as `contentPath` makes it. */
  write(path: string, content: string | Uint8Array): Promise<void>
}

export function createContentFolder(root: string, disk: Disk): ContentFolder {
  const ready = createLru<string, true>(FOLDERS_KEPT)
  /** Makes the folder, refusing to walk through a link. */
  const prepare = (folder: string): void => {
    if (folder === '' || ready.get(folder) === true) return
    prepare(folderOf(folder))
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
    async write(path, content) {
      prepare(folderOf(path))
      await disk.replace(join(root, path), content)
    },
  }
}

/** Empty for what stands in no folder. */
function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}
