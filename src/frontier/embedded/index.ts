/** The embedded home: one folder for each crawl, durable against a kill and a power cut, opened in constant time. */
import type { Clock } from '../../base/index.ts'
import type { Frontier, FrontierOptions } from '../contract.ts'
import { createRules } from '../rules.ts'
import { explained, openDatabase } from './database.ts'
import { createEmbeddedStorage } from './storage.ts'

export { isLocked } from './database.ts'
export { openInspector, type HostView, type Inspector, type UrlView } from './inspector.ts'

export function openEmbeddedFrontier(
  folder: string,
  options: FrontierOptions,
  deps: { readonly clock: Clock },
): Frontier {
  const { db, created, close } = openDatabase(folder)
  const meta = (key: string): number | undefined =>
    (db.prepare('SELECT value FROM meta WHERE key = ?').get(key) as { value: number } | undefined)?.value
  const keep = db.prepare('INSERT OR REPLACE INTO meta VALUES (?, ?)')
  explained(folder, () => {
    // Kept for later openings too: an orderly stop right after an unclean one must not cut the wait short.
    if (!created && meta('clean') !== 1) keep.run('unclean_at', deps.clock.now())
    // Until it is closed in order, this run counts as one that may have had requests under way.
    keep.run('clean', 0)
  })
  const uncleanAt = meta('unclean_at') ?? null
  const storage = explained(folder, () => createEmbeddedStorage(db, folder, close))
  return createRules(storage, { ...options, uncleanAt }, deps)
}
