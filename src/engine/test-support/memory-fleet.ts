/**
 * A store of a fleet as tests have it: one frontier in memory, shared by whoever connects, with what belongs to the crawl
 * beside it. While it is out of reach every verb waits, as over a connection that is made anew.
 */
import type { Clock } from '../../base/index.ts'
import {
  createFrontier,
  type FleetCrawl,
  type FleetFrontier,
  type Frontier,
  type Member,
  type Output,
  type OutputPosition,
} from '../../frontier/index.ts'
import type { ConnectFleet } from '../fleet/fleet-store.ts'
import { createRateWindow, type RateWindow } from '../rate-window.ts'

export interface MemoryFleet {
  readonly connect: ConnectFleet
  readonly crawl: FleetCrawl
  /** Partitions that were looked after, by who asked for it. */
  readonly tended: { readonly worker: string; readonly partitions: readonly number[] }[]
  /** What each worker was last told to ask first. */
  readonly preferred: Map<string, readonly number[]>
  /** The store goes out of reach, or comes back. */
  lose(): void
  find(): void
}

export function createMemoryFleet(clock: Clock, partitions = 4): MemoryFleet {
  let shared: Frontier | undefined
  let inReach = Promise.withResolvers<void>()
  inReach.resolve()
  const listeners = new Set<Parameters<FleetFrontier['onTrouble']>[0]>()
  const positions = new Map<string, OutputPosition>()
  const tended: MemoryFleet['tended'] = []
  const preferred = new Map<string, readonly number[]>()
  const crawl = createMemoryCrawl(clock)

  /** Every function of an object, once the store can be reached. */
  const over = <T extends object>(target: () => T, names: readonly (keyof T)[]): T =>
    Object.fromEntries(
      names.map((name) => [
        name,
        async (...args: unknown[]) => {
          await inReach.promise
          return (target()[name] as (...given: unknown[]) => unknown)(...args)
        },
      ]),
    ) as T

  const connect: ConnectFleet = ({ worker }, options) => {
    const frontier = (): Frontier => (shared ??= createFrontier({ ...options, store: 'memory', clock }))
    const verbs = over(frontier, ['add', 'lease', 'settle', 'extend', 'host', 'stats'])
    return {
      ...verbs,
      async settle(settlements, output) {
        let reached: OutputPosition | undefined
        const watched: Output | undefined = output && {
          ...output,
          append: (accepted) => (reached = output.append(accepted)),
        }
        const answer = await verbs.settle(settlements, watched)
        if (reached !== undefined) positions.set(worker, reached)
        return answer
      },
      stats: async () => ({ ...(await verbs.stats()), output: positions.get(worker) ?? {} }),
      close: async () => {},
      crawl: over(() => crawl, Object.keys(crawl) as (keyof FleetCrawl)[]),
      onTrouble: (listener) => void listeners.add(listener),
      async tend(these) {
        await inReach.promise
        tended.push({ worker, partitions: these })
        return { nextAt: null }
      },
      prefer: (these) => void preferred.set(worker, these),
      disown: async () => {},
      partitions,
    }
  }
  return {
    connect,
    crawl,
    tended,
    preferred,
    lose() {
      inReach = Promise.withResolvers()
      for (const listener of listeners) listener({ kind: 'lost', detail: 'connection refused' })
    },
    find() {
      inReach.resolve()
      for (const listener of listeners) listener({ kind: 'back', detail: 'connected again' })
    },
  }
}

function createMemoryCrawl(clock: Clock): FleetCrawl {
  let config: string | undefined
  let halted: string | undefined
  let leader: { readonly id: string; readonly until: number } | undefined
  let assignments: Readonly<Record<string, readonly number[]>> = {}
  let window: RateWindow | undefined
  let fetched = 0
  const seeds = new Set<string>()
  const alive = new Map<string, { readonly member: Member; readonly until: number }>()
  return {
    config: async (proposed) => (config ??= proposed),
    async replaceConfig(replacement) {
      config = replacement
    },
    seeds: async () => [...seeds],
    async addSeeds(urls) {
      for (const url of urls) seeds.add(url)
    },
    beat: async (member, ttlMs) => void alive.set(member.id, { member, until: clock.now() + ttlMs }),
    members: async () => [...alive.values()].filter(({ until }) => until > clock.now()).map(({ member }) => member),
    async lead(id, ttlMs) {
      if (leader !== undefined && leader.id !== id && leader.until > clock.now()) return false
      leader = { id, until: clock.now() + ttlMs }
      return true
    },
    async resign(id) {
      if (leader?.id === id) leader = undefined
    },
    async assign(partitionsByWorker) {
      assignments = partitionsByWorker
    },
    assignment: async (worker) => assignments[worker],
    async halt(reason) {
      halted ??= reason
    },
    halted: async () => halted,
    async resume() {
      halted = undefined
    },
    async takePermits(wanted, perSecond, goodMs) {
      window ??= createRateWindow(perSecond, { clock })
      return window.take({ wanted, goodMs })
    },
    async countBytes(bytes, corrected) {
      fetched = (corrected ?? fetched) + bytes
      return fetched
    },
  }
}
