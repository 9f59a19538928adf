/** A fetcher whose requests are counted, so that a machine without a network is told from hosts that do not answer. */
import type { Fetcher } from '../fetch/index.ts'
import type { Reachability } from './reachability.ts'

export function createCountedFetcher(fetcher: Fetcher, network: Pick<Reachability, 'begun' | 'ended'>): Fetcher {
  return {
    ...fetcher,
    async fetch(request, signal) {
      network.begun()
      const outcome = await fetcher.fetch(request, signal)
      network.ended(outcome.kind === 'response')
      return outcome
    },
  }
}
