/**
 * The embedded home without its file: the same tables, storage and rules on a database in memory, which outlives the
 * frontiers opened on it. What a simulation kills and opens again, thousands of times a minute.
 */
import { DatabaseSync } from 'node:sqlite'
import type { Clock, Rng } from '../../base/index.ts'
import type { Frontier, FrontierOptions } from '../contract.ts'
import { createRules, type RunOptions } from '../rules.ts'
import { prepareLayout } from './database.ts'
import { recordOpening } from './opening.ts'
import { createMemoryRunFiles } from './seen/index.ts'
import { createEmbeddedStorage, type StorageLimits } from './storage.ts'

const NAME = 'memory'
/** A simulated crawl is small, and opens often: what is put off in a large one is put off in it too, a little at a time. */
const LIMITS: StorageLimits = {
  recentUrls: 256,
  memtable: 64,
  writing: { changes: 64, newUrls: 64, steps: 8 },
  orders: {
    windows: { portion: 16, longest: 64 },
    queues: { lines: 64, entries: 1_024, firstPortion: 2, lastPortion: 16, longest: 64, gone: 1 },
  },
}
const BLOOM = { capacity: 100_000, falsePositiveRate: 0.01 }

export interface MemoryDatabase {
  /**
   * Opens the crawl. A frontier that was opened before and not closed counts as killed: what it had not committed is
   * rolled back, and it throws when it is used again. With `rng`, nothing in it depends on the machine.
   */
  open(
    options: FrontierOptions & Pick<RunOptions, 'hostsKept'>,
    deps: { readonly clock: Clock; readonly rng?: Rng },
  ): Frontier
  /** Lets go of everything that was ever stored. */
  close(): void
}

export function createMemoryDatabase(): MemoryDatabase {
  // A database of this sort lives as long as one connection to it: this one, which does nothing else.
  const address = `file:${crypto.randomUUID()}?mode=memory&cache=shared`
  const keeper = new DatabaseSync(address)
  const files = createMemoryRunFiles()
  let created = prepareLayout(keeper, NAME)
  let current: DatabaseSync | undefined
  /** A connection that is closed rolls back what it had not committed, and takes nothing more. */
  const kill = (): void => {
    if (current?.isOpen === true) current.close()
    current = undefined
  }
  return {
    open(options, deps) {
      kill()
      const db = new DatabaseSync(address)
      current = db
      const run = recordOpening(db, { created, now: deps.clock.now(), groups: options.groups })
      created = false
      const onClose = (): void => db.close()
      const storage = createEmbeddedStorage(db, {
        folder: NAME,
        files,
        bloom: BLOOM,
        limits: LIMITS,
        ...deps,
        onClose,
      })
      return aliveWhile(() => current === db, createRules(storage, { ...options, ...run }, deps))
    },
    close() {
      kill()
      keeper.close()
    },
  }
}

/** The frontier, for as long as nobody killed it. */
function aliveWhile(isAlive: () => boolean, frontier: Frontier): Frontier {
  const alive = (): Frontier => {
    if (!isAlive()) throw new Error('the frontier was killed')
    return frontier
  }
  return {
    add: async (found) => alive().add(found),
    lease: async (request) => alive().lease(request),
    settle: async (settlements, output) => alive().settle(settlements, output),
    extend: async (lease) => alive().extend(lease),
    host: async (key, change) => alive().host(key, change),
    stats: async () => alive().stats(),
    close: async () => alive().close(),
  }
}
