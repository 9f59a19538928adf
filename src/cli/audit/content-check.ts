/** Whether the content of a page is where its record says, and where only its URL may have put it. */
import { lstatSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInsideCheck } from '../../base/index.ts'
import type { NormalizedUrl } from '../../model/index.ts'
import { contentPath } from '../../sink/index.ts'

/** Returns what is wrong, in words; undefined when nothing is. A record without a path has no content to look for. */
export function createContentCheck(
  folder: string,
): (url: NormalizedUrl, path: unknown, extension: 'md' | 'html') => string | undefined {
  const root = realpathSync(folder)
  const isInside = createInsideCheck(root)
  return (url, path, extension) => {
    if (path === undefined) return undefined
    if (path !== `content/${contentPath(url, extension)}`) return `its record names ${JSON.stringify(path)}`
    const file = join(root, path)
    const found = lstatSync(file, { throwIfNoEntry: false })
    if (found === undefined) return `${path} is missing`
    if (!found.isFile()) return `${path} is no file`
    // Front matter is always there: an empty file is what a power cut leaves.
    if (found.size === 0 && extension === 'md') return `${path} is empty`
    return isInside(dirname(file)) ? undefined : `${path} lies outside the folder`
  }
}
