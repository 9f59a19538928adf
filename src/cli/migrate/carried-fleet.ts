/** Hosts and open URLs of a crawl on a store, as they are carried to another home. */
import type { CarriedHost, CarriedUrl, FleetHost, FleetInspector, FleetRow } from '../../frontier/index.ts'

const HOUR_MS = 3_600_000

/**
 * A host that was asked counts as asked until the move: the clocks of the workers and of the server are not ours, and
 * one delay more than needed harms nobody. `quietUntil`: its server changed, and until then something may be sent to the
 * host that the server knows nothing of.
 */
export function carriedHost(
  host: FleetHost,
  { movedAt, quietUntil }: { readonly movedAt: number; readonly quietUntil: number | null },
): CarriedHost {
  const { key, tier, pages, cash, credit, depth, changePages, changeRate, revisitRate } = host
  const { blockedUntil, blockedReason, health, address, closestMs } = host
  const askedUntil = host.answeredAt === null ? null : Math.max(host.answeredAt, movedAt)
  const answeredAt = quietUntil === null ? askedUntil : Math.max(askedUntil ?? 0, quietUntil)
  return {
    key,
    tier,
    pages,
    cash,
    credit,
    depth,
    changePages,
    changeRate,
    revisitRate,
    answeredAt,
    blockedUntil,
    blockedReason,
    health,
    address,
    closestMs,
    errands: host.errands,
    traps: host.learned,
    lanes: host.lanes.map(({ origin, robots, robotsNotBefore, robotsAttempts, robotsMoved }) => ({
      origin,
      robots: robots === undefined ? null : { ...robots, body: host.bodies[origin] ?? '' },
      robotsNotBefore,
      robotsAttempts,
      robotsMoved,
    })),
  }
}

/** An open URL, and where it stands. */
export interface OpenUrl {
  readonly row: FleetRow
  readonly state: CarriedUrl['state']
  readonly at: number
}

/** Every open URL. Nobody works on the crawl, so none is leased. */
export async function* openUrls(inspector: FleetInspector): AsyncGenerator<OpenUrl> {
  for await (const host of inspector.hosts()) {
    for await (const row of inspector.rowsOf(host)) yield { row, state: 'queued', at: 0 }
    for (const state of ['held', 'aside'] as const) {
      if (host[state] === 0) continue
      for await (const row of inspector.parkedOf(host, state)) yield { row, state, at: 0 }
    }
  }
  for await (const { row, at } of inspector.waiting()) yield { row, state: 'waiting', at }
}

export function carriedOpenUrl(
  { row, state, at }: OpenUrl,
  known: Awaited<ReturnType<FleetInspector['standing']>>[number] | undefined,
): CarriedUrl {
  const isOpen = known?.state === 'open'
  return {
    kind: row.kind,
    url: row.url,
    via: row.via,
    redirects: row.redirects,
    nesting: row.nesting,
    foundAt: row.foundHour * HOUR_MS,
    slot: row.slot,
    depth: isOpen ? Math.min(row.depth, known.depth) : row.depth,
    state,
    rank: row.rank,
    attempts: row.attempts,
    reason: row.reason === '' ? null : row.reason,
    at,
    referrer: row.referrer ?? null,
    referrers: isOpen ? known.referrers : 1,
    visit: null,
    children: [],
  }
}
