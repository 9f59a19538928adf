/** Whether the content of a page is where its record says, and where only its URL may have put it. */
import { lstatSync, realpathSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { createLru } from '../../base/index.ts'
import type { NormalizedUrl } from '../../model/index.ts'
import { contentPath } from '../../sink/index.ts'

const FOLDERS_KEPT = 10_000

/** Returns what is wrong, in words; undefined when nothing is. A record without a path has no content to look for. */
export function createContentCheck(folder: string): (url: NormalizedUrl, path: unknown) => string | undefined {
  const root = realpathSync(folder)
  const inside = createLru<string, boolean>(FOLDERS_KEPT)
  /** A link on the way may lead out of the folder. */
  const isInside = (path: string): boolean => {
    const known = inside.get(path)
    if (known !== undefined) return known
    const way = relative(root, realpathSync(path))
    const answer = way !== '..' && !way.startsWith(`..${sep}`)
    inside.set(path, answer)
    return answer
  }
  return (url, path) => {
    if (path === undefined) return undefined
    if (path !== `content/${contentPath(url, 'md')}`) return `its record names ${JSON.stringify(path)}`
    const file = join(root, path)
    const found = lstatSync(file, { throwIfNoEntry: false })
    if (found === undefined) return `${path} is missing`
    if (!found.isFile()) return `${path} is no file`
    // Front matter is always there: an empty file is what a power cut leaves.
    if (found.size === 0) return `${path} is empty`
    return isInside(dirname(file)) ? undefined : `${path} lies outside the folder`
  }
}
