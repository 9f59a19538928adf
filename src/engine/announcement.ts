/** What listeners of a crawl are told of a settlement, once it is durable. */
import type { Settlement } from '../frontier/index.ts'
import type { CrawlEvents } from '../model/index.ts'
import type { OutputRecord } from '../sink/index.ts'
import type { EventBus } from '../telemetry/index.ts'

export function announce({ task, outcome, host, record }: Settlement, events: EventBus<CrawlEvents>): void {
  if (outcome.kind === 'retry' && task.kind === 'page') {
    events.emit('retry', { url: task.url, notBefore: outcome.notBefore })
  }
  // What is given back was not asked for: its host is left alone already, and that has been told.
  if (host?.blockedUntil !== undefined && outcome.kind !== 'returned') {
    events.emit('blocked', { host: task.host, until: host.blockedUntil, reason: host.blockedReason ?? '' })
  }
  const item = record as OutputRecord | undefined
  if (item?.kind === 'page') events.emit('page', { ...item.record, markdown: item.markdown })
  else if (item?.kind === 'skip') events.emit('skip', item.record)
  else if (item?.kind === 'fail') events.emit('fail', item.record)
  else if (item?.kind === 'revisit') events.emit('revisit', item.record)
}
