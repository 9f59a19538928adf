/**
 * Before a crawl leaves its store: leases of workers that were lost are taken back, and messages between partitions that
 * they left behind are delivered, so that every URL stands in its queue and nothing is under way.
 */
import { formatDuration, type Clock } from '../../base/index.ts'
import { leaseTimeInForce, partitionsInForce, type Settings } from '../../config/index.ts'
import { openFleet } from '../../engine/index.ts'
import type { FleetCrawl, FleetInspector } from '../../frontier/index.ts'
import { TiptoeError } from '../../model/index.ts'
import type { StorePlace } from '../store-operand.ts'

const LOOK_MS = 1_000
/** Beside the longest lease, for messages and for servers that keep quiet. */
const MARGIN_MS = 60_000

/** A worker that has ended is forgotten within this time. */
const FORGOTTEN_MS = 15_000

/** Whoever works on the crawl must not find it gone. */
export async function workersGone(
  { crawl }: StorePlace,
  record: FleetCrawl,
  { clock, onWait }: { readonly clock: Clock; onWait(text: string): void },
): Promise<void> {
  const until = clock.now() + FORGOTTEN_MS
  for (let isFirst = true; ; isFirst = false) {
    const workers = (await record.members()).filter(({ role }) => role === 'worker')
    if (workers.length === 0) return
    const names = workers.map(({ id }) => id).join(', ')
    if (clock.now() >= until) {
      throw new TiptoeError('busy', `the crawl ${crawl} is being worked on by ${names}`, {
        hint: 'stop them, and move it when they are gone',
      })
    }
    if (isFirst) onWait(`until it is sure that ${names} ended`)
    await clock.sleepUntil(clock.now() + LOOK_MS)
  }
}

export async function settleDown(
  { url, crawl, password, caFile }: StorePlace,
  settings: Settings,
  inspector: FleetInspector,
  { clock, onWait }: { readonly clock: Clock; onWait(text: string): void },
): Promise<void> {
  const login = {
    store: url,
    crawl,
    worker: 'migrate',
    partitions: partitionsInForce(settings),
    stream: false,
    ...(password === undefined ? {} : { password }),
    ...(caFile === undefined ? {} : { caFile }),
  }
  const leaseMs = leaseTimeInForce(settings)
  const until = clock.now() + leaseMs + MARGIN_MS
  const fleet = openFleet(settings, login, { clock })
  const all = inspector.store.partitions.map(({ index }) => index)
  try {
    for (let isFirst = true; ; isFirst = false) {
      await fleet.tend(all)
      const views = await inspector.partitions()
      const leases = views.reduce((sum, view) => sum + view.leases, 0)
      const messages = views.reduce((sum, view) => sum + view.undelivered, 0)
      if (leases + messages === 0) return
      if (clock.now() >= until) {
        throw new TiptoeError(
          'busy',
          `the crawl ${crawl} does not come to rest: ${leases} leases, ${messages} messages`,
          {
            hint: 'a worker may still be at it: tiptoe status shows who',
          },
        )
      }
      if (isFirst) onWait(`until the leases of lost workers end, within ${formatDuration(leaseMs)}`)
      await clock.sleepUntil(clock.now() + LOOK_MS)
    }
  } finally {
    await fleet.close()
  }
}
