/**
 * What goes over the wire for one task, kept for the archive and handed over with the task's record. The memory of a body
 * is the archive's to give back.
 */
import type { Fetcher, FetchResponse } from '../../fetch/index.ts'
import type { Task, Whole } from '../../model/index.ts'
import type { ArchivedExchange } from '../../sink/index.ts'
import type { TaskResult } from './context.ts'

export interface ArchivingFetcher extends Fetcher {
  /** The result with the exchange that led to it; one without a record gets one for the exchange alone. */
  archived(task: Task, result: TaskResult): TaskResult
}

export function createArchivingFetcher(fetcher: Fetcher): ArchivingFetcher {
  let last: FetchResponse | undefined
  return {
    async fetch(request, signal) {
      const outcome = await fetcher.fetch({ ...request, keepWire: true }, signal)
      last = outcome.kind === 'response' ? outcome : undefined
      return outcome
    },
    // Named one by one, since there is a fetcher for each task and a copy of whatever it has takes far longer.
    resolve: fetcher.resolve,
    close: fetcher.close,
    stats: fetcher.stats,
    archived(task, result) {
      const response = last
      last = undefined
      // A task that is given back is fetched again, and archived then.
      if (response?.wire === undefined || result.outcome.kind === 'returned') return result
      const { record } = result
      const exchange = exchangeOf(task, response, response.wire, record?.kind === 'page' ? record.record.charset : null)
      // What a page said has been read, and no file is made of its body. Not enumerable, so that a copy that goes to another
      // thread leaves it behind.
      if (record?.kind === 'page' && record.html === undefined && response.release !== undefined) {
        Object.defineProperty(exchange, 'release', { value: response.release })
      }
      return { ...result, record: record === undefined ? { kind: 'exchange', exchange } : { ...record, exchange } }
    },
  }
}

function exchangeOf(
  task: Task,
  response: FetchResponse,
  wire: NonNullable<FetchResponse['wire']>,
  charset: string | null,
): ArchivedExchange {
  const { status, startedAt, endedAt, address, protocol, truncated } = response
  const exchange: Whole<Omit<ArchivedExchange, 'release'>> = {
    url: task.url,
    wire,
    status,
    startedAt,
    endedAt,
    address,
    protocol,
    tls: wire.tls,
    truncated: truncated ? 'length' : undefined,
    via: task.via,
    referrer: task.referrer,
    depth: task.depth,
    charset,
  }
  return exchange as ArchivedExchange
}
