/** The embedded home: one folder for each crawl, durable against a kill and a power cut, opened in constant time. */
import type { Clock } from '../../base/index.ts'
import type { Frontier, FrontierOptions } from '../contract.ts'
import { createRules, type RunOptions } from '../rules.ts'
import { explained, openDatabase } from './database.ts'
import { recordOpening } from './opening.ts'
import { createEmbeddedStorage } from './storage.ts'

export { isLocked } from './database.ts'
export { openInspector, type HostView, type Inspector, type UrlView } from './inspector.ts'
export { createMemoryDatabase, type MemoryDatabase } from './memory-database.ts'

export function openEmbeddedFrontier(
  folder: string,
  options: FrontierOptions & Pick<RunOptions, 'hostsKept'>,
  deps: { readonly clock: Clock },
): Frontier {
  const { db, created, close } = openDatabase(folder)
  return explained(folder, () => {
    try {
      const run = recordOpening(db, { created, now: deps.clock.now(), groups: options.groups })
      return createRules(
        createEmbeddedStorage(db, { folder, onClose: close, clock: deps.clock }),
        { ...options, ...run },
        deps,
      )
    } catch (error) {
      close()
      throw error
    }
  })
}
