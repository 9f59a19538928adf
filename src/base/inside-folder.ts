/** Whether a folder really lies where its path says: a link on the way may lead out. */
import { realpathSync } from 'node:fs'
import { relative, sep } from 'node:path'
import { createLru } from './lru.ts'

/** Folders whose answer is remembered. */
const FOLDERS_KEPT = 10_000

/** `root` is a real path. Throws for a folder that is not there. */
export function createInsideCheck(root: string): (folder: string) => boolean {
  const answers = createLru<string, boolean>(FOLDERS_KEPT)
  return (folder) => {
    const known = answers.get(folder)
    if (known !== undefined) return known
    const way = relative(root, realpathSync(folder))
    const isInside = way !== '..' && !way.startsWith(`..${sep}`)
    answers.set(folder, isInside)
    return isInside
  }
}
