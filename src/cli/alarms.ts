/** The alarms of the audit, said at once and even with `-q`: whoever runs the crawl may want to stop it. */
import type { CrawlEvents } from '../model/index.ts'
import { countEvents, type EventBus } from '../telemetry/index.ts'
import type { Terminal } from './terminal.ts'

/** Requests named one by one at most; the rest are counted. */
const TOLD = 10
const FAULT = 'this must never happen and is a fault of Tiptoe; please report it with these lines'

/** Returns how many there have been so far. */
export function tellAlarms(events: EventBus<CrawlEvents>, terminal: Terminal): Readonly<Record<'impolite', number>> {
  const counts = countEvents(events, ['impolite'])
  events.on('impolite', ({ host, kind, detail }) => {
    const told = counts.impolite
    if (told <= TOLD) terminal.error(`impolite to ${host} (${kind}): ${detail}`, told === 1 ? FAULT : undefined)
    else if (told === TOLD + 1) terminal.error('more such requests were made; the summary has their number')
  })
  return counts
}
