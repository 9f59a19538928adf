/** The embedded home: one folder for each crawl, durable against a kill and a power cut, opened in constant time. */
import { join } from 'node:path'
import type { Clock } from '../../base/index.ts'
import type { Frontier, FrontierOptions } from '../contract.ts'
import { createRules, type RunOptions } from '../rules.ts'
import { explained, openDatabase, SEEN_FOLDER } from './database.ts'
import { recordOpening } from './opening.ts'
import { createFolderRunFiles } from './seen/index.ts'
import { createEmbeddedStorage, type EmbeddedStorageOptions } from './storage.ts'
import { refuseBarred } from './transfer-bar.ts'

export { isLocked } from './database.ts'
export { openInspector, type HostView, type Inspector, type UrlView } from './inspector.ts'
export { createMemoryDatabase, type MemoryDatabase } from './memory-database.ts'
export type { Bar } from './transfer-bar.ts'
export { openEmbeddedSource, type EmbeddedSource, type Portion } from './transfer-source.ts'
export { openEmbeddedTarget, type EmbeddedTarget, type EmbeddedWriter } from './transfer-target.ts'

/** For as many URLs as a crawl on one machine may have; the memory is taken as they come. */
const DEFAULT_BLOOM = { capacity: 100_000_000, falsePositiveRate: 0.01 }

export function openEmbeddedFrontier(
  folder: string,
  options: FrontierOptions & Pick<RunOptions, 'hostsKept'> & Partial<Pick<EmbeddedStorageOptions, 'bloom'>>,
  deps: { readonly clock: Clock },
): Frontier {
  const { db, created, close } = openDatabase(folder)
  return explained(folder, () => {
    try {
      refuseBarred(db)
      const run = recordOpening(db, { created, now: deps.clock.now(), groups: options.groups })
      return createRules(
        createEmbeddedStorage(db, {
          folder,
          files: createFolderRunFiles(join(folder, SEEN_FOLDER)),
          bloom: options.bloom ?? DEFAULT_BLOOM,
          onClose: close,
          clock: deps.clock,
        }),
        { ...options, ...run },
        deps,
      )
    } catch (error) {
      close()
      throw error
    }
  })
}
