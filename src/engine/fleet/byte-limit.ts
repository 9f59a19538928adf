/**
 * The limit of bytes that all workers of a fleet keep together. Each says what it has fetched as soon as that is committed,
 * and hears the sum of all before it asks for leases: once the limit is passed nobody is given any, so what comes on top is
 * what was under way at that moment. The crawl is ended for all by whoever sees it first.
 *
 * The sum is only quick. A message that was sent twice is in it twice, so before the crawl is ended the partitions are
 * asked, which count each outcome once; and whoever coordinates asks them now and then, should the sum have been lost.
 */
import type { FleetFrontier, Frontier, LeaseAnswer } from '../../frontier/index.ts'

const NO_LEASES: LeaseAnswer = { leases: [], nextAt: null, state: 'open' }

export function limitBytes(
  frontier: Frontier,
  fleet: Pick<FleetFrontier, 'crawl' | 'stats'>,
  maxBytes: number,
  /** The crawl is ended for all. */
  onReached: () => void,
): Frontier {
  const { crawl } = fleet
  let unsaid = 0
  let isReached = false
  let isBegun = false

  /** What this worker's sum starts from: a store that was filled by a move has bytes that nobody has said. */
  const begin = async (): Promise<void> => {
    const { bytes } = await fleet.stats()
    if ((await crawl.countBytes(0)) < bytes) await crawl.countBytes(0, bytes)
    isBegun = true
  }
  const say = async (): Promise<void> => {
    if (isReached) return
    if (!isBegun) await begin()
    const said = unsaid
    unsaid = 0
    if ((await crawl.countBytes(said)) < maxBytes) return
    const { bytes } = await fleet.stats()
    if (bytes < maxBytes) return void (await crawl.countBytes(0, bytes))
    await crawl.halt('bytes')
    isReached = true
    onReached()
  }

  return {
    ...frontier,
    async lease(request) {
      await say()
      return isReached ? NO_LEASES : frontier.lease(request)
    },
    async settle(settlements, output) {
      const answer = await frontier.settle(settlements, output)
      for (const [index, result] of answer.results.entries())
        if (result === 'settled') unsaid += settlements[index]?.bytes ?? 0
      if (unsaid > 0) await say()
      return answer
    },
  }
}
