/**
 * The limit of pages, exact over all partitions: each may fetch what it was granted from a pool that belongs to the crawl
 * as a whole. Grants and returns are two numbers for each partition that only grow, the pool being the author of the one
 * and the partition of the other; both sides keep the largest they have heard. So no order of messages, none that is lost or
 * comes twice, makes more of them than the limit. A server that changed may have forgotten, and a limit that changed makes
 * grants too large: then a partition has no room until it has heard the pool, and the pool grants nothing until it has heard
 * all partitions.
 */
import { loadCrawlScript, loadScript } from './scripts.ts'
import type { Partition, Store } from './store.ts'

export interface Limits {
  /** Gets room for so many more pages of a partition, or as many as there are. Answers the room that it has then. */
  take(partition: Partition, wanted: number): Promise<number>
}

interface State {
  readonly granted: number
  readonly returned: number
  readonly room: number
}
interface PoolAnswer {
  readonly unsure?: true
  readonly granted: number
  readonly returned: number
  readonly got: number
}
/** Partition, granted, returned. */
type Heard = readonly [number, number, number]

const PARTITION = loadScript('limits')
const POOL = loadCrawlScript('crawl-limits')

export function createLimits({ store }: { readonly store: Store }): Limits {
  const { partitions, settings } = store
  const ask = async (partition: Partition, asked: object): Promise<State> =>
    (await partition.call(PARTITION, partition.keys.fixed, asked)) as State
  const hear = (from: readonly Partition[], asked: object): Promise<Heard[]> =>
    Promise.all(
      from.map(async (partition): Promise<Heard> => {
        const { granted, returned } = await ask(partition, asked)
        return [partition.index, granted, returned]
      }),
    )
  const askPool = async (partition: Partition, wanted: number, states: readonly Heard[]): Promise<PoolAnswer> => {
    const asked = { most: settings.maxPages ?? 0, partitions: partitions.length, partition: partition.index, wanted }
    const answer = (await store.callCrawl(POOL, ['limits'], { ...asked, states })) as PoolAnswer
    if (answer.unsure !== true) return answer
    const all = await hear(partitions, { giveBack: true })
    return (await store.callCrawl(POOL, ['limits'], { ...asked, states: [...states, ...all], all: true })) as PoolAnswer
  }

  return {
    async take(partition, wanted) {
      if (settings.maxPages === undefined) return Infinity
      let answer = await askPool(partition, wanted, [])
      if (answer.got === 0 && wanted > 0) {
        // All is granted; what others do not need is as good.
        const others = partitions.filter((other) => other !== partition)
        answer = await askPool(partition, wanted, await hear(others, { giveBack: true }))
      }
      return (await ask(partition, { granted: answer.granted, returned: answer.returned })).room
    },
  }
}
