/**
 * How URLs come in: insert-if-absent, the minimum depth over all paths, and the queue that a URL belongs to.
 *
 * Held URLs (deeper than the limit) are queued like any other in the counters, but in no lane: a shorter path found
 * later puts them into one, and does the same for what was reached through them.
 */
import type { FoundUrl, Task } from '../model/index.ts'
import { hostKey, originOf, urlKey } from '../url/index.ts'
import type { AddAnswer } from './contract.ts'
import type { Host, Roster } from './roster.ts'
import type { Child, Counters, Storage, UrlRow } from './storage.ts'

/** The order within a lane: sitemaps first, since they name pages; then pages by depth, then as they were found. */
export function rankOf(row: Pick<UrlRow, 'kind' | 'depth'>): number {
  return row.kind === 'sitemap' ? 0 : row.depth + 1
}

export interface Intake {
  /** Adds URLs; with `source`, as what that task's answer names. */
  add(found: readonly FoundUrl[], source: Task | undefined): AddAnswer
  /** Puts a row in state `queued` into its lane. */
  enqueue(row: UrlRow): void
  /** Takes a row out of wherever its state has it. */
  dequeue(row: UrlRow): void
}

export function createIntake(
  storage: Storage,
  roster: Roster,
  counters: Counters,
  maxDepth: number | undefined,
  touched: Set<Host>,
): Intake {
  const tooDeep = (kind: UrlRow['kind'], depth: number): boolean =>
    kind === 'page' && maxDepth !== undefined && depth > maxDepth

  const enqueue = (row: UrlRow): void => {
    const { host, lane } = roster.byLane(row.lane)
    storage.enqueue(row.lane, rankOf(row), row.id)
    lane.row.queued += 1
    storage.updateLane(lane.row)
    touched.add(host)
  }

  const dequeue = (row: UrlRow): void => {
    const { host, lane } = roster.byLane(row.lane)
    if (row.state === 'queued') {
      storage.dequeue(row.lane, rankOf(row), row.id)
      lane.row.queued -= 1
      storage.updateLane(lane.row)
      touched.add(host)
    } else if (row.state === 'held') {
      storage.release(host.row.id, row.id)
      counters.held -= 1
    }
  }

  const insert = (found: FoundUrl, referrer: number): number => {
    const { host, lane } = roster.settleIn(hostKey(found.url), originOf(found.url))
    const held = tooDeep(found.kind, found.depth)
    const tier = found.tier ?? 'medium'
    const row: Omit<UrlRow, 'id'> = {
      kind: found.kind,
      url: found.url,
      lane: lane.row.id,
      via: found.via,
      referrer,
      redirects: found.redirects ?? 0,
      nesting: found.nesting ?? 0,
      tier,
      depth: found.depth,
      state: held ? 'held' : 'queued',
      attempts: 0,
      reason: null,
      at: 0,
    }
    const id = storage.insert(urlKey(found.url), row)
    if (found.kind === 'page') {
      counters.discovered += 1
      counters.open += 1
      counters.tiers[tier] += 1
    } else counters.sitemapsOpen += 1
    if (held) {
      counters.held += 1
      storage.hold(host.row.id, id)
    } else enqueue({ ...row, id })
    return id
  }

  /** A shorter path: the row moves up, and so does all that was found behind it. */
  const relax = (start: number, startDepth: number): void => {
    const pending: [number, number][] = [[start, startDepth]]
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const [id, depth] = next
      const row = storage.url(id)
      if (depth >= row.depth) continue
      const queued = row.state === 'queued' || row.state === 'held'
      if (queued) dequeue(row)
      row.depth = depth
      if (row.state === 'held' && !tooDeep(row.kind, depth)) row.state = 'queued'
      storage.update(row)
      if (row.state === 'queued') enqueue(row)
      else if (row.state === 'held') {
        storage.hold(roster.byLane(row.lane).host.row.id, row.id)
        counters.held += 1
      } else for (const child of storage.children(id)) pending.push([child.id, depth + child.step])
    }
  }

  return {
    enqueue,
    dequeue,
    add(found, source) {
      let added = 0
      const children: Child[] = []
      // The source may have been found on a shorter path while it was being fetched: what it names moves up with it.
      const lift = source === undefined ? 0 : source.depth - storage.url(source.id).depth
      for (const item of found) {
        const depth = item.depth - lift
        const known = storage.find(item.kind, urlKey(item.url))
        let id: number
        if (known === undefined) {
          id = insert(lift === 0 ? item : { ...item, depth }, source?.id ?? referrerOf(item))
          added += 1
        } else {
          id = known.id
          storage.countReferrer(id)
          if (depth < known.depth) relax(id, depth)
        }
        if (source?.kind === 'page') children.push({ id, step: item.depth > source.depth ? 1 : 0 })
      }
      // Without a limit the depth only orders a queue, and is not worth the room that all links take.
      if (maxDepth !== undefined && source !== undefined && children.length > 0)
        storage.setChildren(source.id, children)
      return { added, known: found.length - added }
    },
  }

  function referrerOf(item: FoundUrl): number {
    return item.referrer === undefined ? 0 : (storage.find('page', urlKey(item.referrer))?.id ?? 0)
  }
}
