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
  const clean = db.prepare("SELECT value FROM meta WHERE key = 'clean'").get() as { value: number } | undefined
  // Until it is closed in order, this run counts as one that may have had requests under way.
  explained(folder, () => db.exec("INSERT OR REPLACE INTO meta VALUES ('clean', 0)"))
  const uncleanAt = created || clean?.value === 1 ? null : deps.clock.now()
  const storage = explained(folder, () => createEmbeddedStorage(db, folder, close))
  return createRules(storage, { ...options, uncleanAt }, deps)
}
