/**
 * How URLs come in: insert-if-absent, the minimum depth over all paths, and the queue that a URL belongs to.
 *
 * Held URLs (deeper than the limit) are queued like any other in the counters, but in no lane: a shorter path found
 * later puts them into one, and does the same for what was reached through them.
 */
import type { FoundUrl, HostKey, NormalizedUrl, Task } from '../model/index.ts'
import { hostKey, originOf } from '../url/index.ts'
import type { AddAnswer, FrontierOptions, Settlement } from './contract.ts'
import { createKnownLinks, type KnownLink } from './known-links.ts'
import { hintModified } from './recrawl.ts'
import type { Host, Roster } from './roster.ts'
import { isMilestone, rankOf, REVISIT_RANK, SITEMAP_RANK } from './score.ts'
import { foundByLink } from './settled-links.ts'
import type { Child, Counters, Storage, UrlRow, VisitRow } from './storage.ts'

export interface Intake {
  add(found: readonly FoundUrl[], now: number): AddAnswer
  /** Adds what a task's answer names; answers with the other hosts among it, each once. */
  addFrom(source: Task, named: Named, now: number): ReadonlySet<HostKey>
  /** Moves a row to another state, and counts that. What is final is the caller's to count. */
  move(row: UrlRow, to: UrlRow['state']): void
  /** Gives a row the place in the queue that its score asks for; to be written by the caller. */
  grade(row: UrlRow, visit: VisitRow | undefined): void
}

/** What an answer names. */
export interface Named {
  readonly found: Settlement['found'] | undefined
  readonly links: Settlement['links'] | undefined
  readonly numbering: Settlement['numbering'] | undefined
}

const NO_HOSTS: ReadonlySet<HostKey> = new Set()

export function createIntake(
  storage: Storage,
  roster: Roster,
  counters: Counters,
  options: Pick<FrontierOptions, 'maxDepth' | 'maxPages' | 'maxPagesPerHost' | 'recrawl' | 'score'>,
  touched: Set<Host>,
): Intake {
  const { maxDepth } = options
  const isLimited = options.maxPages !== undefined || options.maxPagesPerHost !== undefined
  /** URLs that were new, since the crawl was opened. */
  let inserted = 0
  const tooDeep = (kind: UrlRow['kind'], depth: number): boolean =>
    kind === 'page' && maxDepth !== undefined && depth > maxDepth

  /** A row has come into its state, or leaves it. */
  const count = (row: UrlRow, by: 1 | -1): void => {
    const { host, lane } = roster.byLane(row.lane)
    if (row.state === 'queued') {
      lane.row.queued[row.slot] += by
      counters.tiers[roster.tierOf(host, row.slot)].queued += by
      storage.updateLane(lane.row)
      touched.add(host)
    } else if (row.state === 'held') counters.held += by
    else if (row.state === 'aside') counters.aside += by
  }

  const rank = (row: Omit<UrlRow, 'id'>, referrers: number, visit: VisitRow | undefined): number => {
    if (row.kind === 'sitemap') return SITEMAP_RANK
    const { depth, foundAt } = row
    if (visit === undefined) return rankOf({ depth, referrers, changeRate: undefined, since: foundAt }, options.score)
    // Where the number of pages is limited, those that are had already go first: new ones may have no room.
    if (isLimited) return REVISIT_RANK
    const changeRate = visit.changeShape / visit.changeTimeMs
    return rankOf({ depth, referrers, changeRate, since: visit.checkedAt }, options.score)
  }
  const grade = (row: UrlRow, visit: VisitRow | undefined): void => {
    row.rank = rank(row, storage.referrers(row.id), visit)
  }

  const move = (row: UrlRow, to: UrlRow['state']): void => {
    count(row, -1)
    row.state = to
    count(row, 1)
    storage.update(row)
  }

  const insert = (found: FoundUrl, depth: number, referrer: number, now: number): KnownLink => {
    const { host, lane } = roster.settleIn(hostKey(found.url), originOf(found.url))
    const row: Omit<UrlRow, 'id'> = {
      kind: found.kind,
      url: found.url,
      lane: lane.row.id,
      via: found.via,
      referrer,
      redirects: found.redirects ?? 0,
      nesting: found.nesting ?? 0,
      foundAt: now,
      slot: found.tier ?? 'auto',
      depth,
      state: tooDeep(found.kind, depth) ? 'held' : 'queued',
      rank: 0,
      attempts: 0,
      reason: null,
      at: 0,
    }
    row.rank = rank(row, 1, undefined)
    const id = storage.insert(row)
    inserted += 1
    if (found.kind === 'page') {
      counters.discovered += 1
      counters.open += 1
      if (depth < host.row.depth) {
        host.row.depth = depth
        touched.add(host)
      }
    } else counters.sitemapsOpen += 1
    count({ ...row, id }, 1)
    return { id, host: host.row.key }
  }

  /** A shorter path: the row moves up, and so does all that was found behind it. */
  const relax = (start: number, startDepth: number): void => {
    const pending: [number, number][] = [[start, startDepth]]
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const [id, depth] = next
      const row = storage.url(id)
      if (depth >= row.depth) continue
      row.depth = depth
      if (row.state === 'queued' || row.state === 'held') grade(row, storage.visit(id))
      if (row.state === 'held' && !tooDeep(row.kind, depth)) move(row, 'queued')
      else storage.update(row)
      // What a page names is known once it was fetched, and whatever became of it since.
      if (maxDepth === undefined) continue
      for (const child of storage.children(id)) pending.push([child.id, depth + child.step])
    }
  }

  /** One more page names this URL: now and then that gives it a better place. */
  const countReferrer = (id: number): void => {
    if (!isMilestone(storage.countReferrer(id))) return
    if (storage.isEnded(id)) return
    const row = storage.url(id)
    if (row.state !== 'queued' || row.kind !== 'page') return
    grade(row, storage.visit(id))
    storage.update(row)
  }

  /** A sitemap says when the page was changed. */
  const heedModified = (id: number, modifiedAt: number, now: number): void => {
    const visit = storage.visit(id)
    if (visit === undefined || visit.dueAt === null) return
    const hintedAt = hintModified(visit, modifiedAt, now)
    if (hintedAt === undefined) return
    const row = storage.url(id)
    const { leastMs } = options.recrawl.intervals[roster.tierOf(roster.byLane(row.lane).host, row.slot)]
    // A visit that was missed is one all the same.
    const dueAt = Math.max(hintedAt, Math.max(visit.checkedAt, row.at) + leastMs)
    if (dueAt < visit.dueAt || hintedAt > visit.dueAt) storage.saveVisit({ ...visit, dueAt })
  }

  /** Links of one page come together: the last referrer is often the next. */
  let referrer: FoundUrl['referrer']
  let referrerId = 0
  const referrerOf = (item: FoundUrl): number => {
    if (item.referrer === undefined) return 0
    if (item.referrer === referrer && referrerId !== 0) return referrerId
    referrer = item.referrer
    referrerId = storage.find('page', referrer)
    return referrerId
  }

  const knownLinks = createKnownLinks()
  /** The id of a known URL; 0 for one that is new. */
  const idOf = (kind: FoundUrl['kind'], url: NormalizedUrl): number => {
    if (kind !== 'page') return storage.find(kind, url)
    const met = knownLinks.find(url)
    if (met !== undefined) return met.id
    const id = storage.find(kind, url)
    if (id !== 0 && knownLinks.isMetAgain(id)) knownLinks.put(url, { id, host: hostKey(url) })
    return id
  }
  /** The same with its host, which is compared with that of the source, and is the same string as a rule. */
  const lookUp = (kind: FoundUrl['kind'], url: NormalizedUrl, near: HostKey): KnownLink | undefined => {
    const isPage = kind === 'page'
    const met = isPage ? knownLinks.find(url) : undefined
    if (met !== undefined) return met
    const id = storage.find(kind, url)
    if (id === 0) return undefined
    const host = hostKey(url)
    const link = { id, host: host === near ? near : host }
    if (isPage && knownLinks.isMetAgain(id)) knownLinks.put(url, link)
    return link
  }

  /** A known URL is found again; `isNamed`: it counts as one more referrer. */
  const meet = (id: number, depth: number, isNamed: boolean): void => {
    if (isNamed) countReferrer(id)
    if (depth < storage.depth(id)) relax(id, depth)
  }
  const meetItem = (id: number, item: FoundUrl, depth: number, isNamed: boolean, now: number): void => {
    meet(id, depth, isNamed)
    if (item.modifiedAt !== undefined) heedModified(id, item.modifiedAt, now)
  }
  const take = (item: FoundUrl, depth: number, source: Task, isNamed: boolean, now: number): KnownLink => {
    const known = lookUp(item.kind, item.url, source.host)
    if (known === undefined) return insert(item, depth, source.id, now)
    meetItem(known.id, item, depth, isNamed, now)
    return known
  }
  /** The same for a link, for which nothing is made if it is known. */
  const takeLink = (url: NormalizedUrl, depth: number, source: Task, isNamed: boolean, now: number): KnownLink => {
    const known = lookUp('page', url, source.host)
    if (known === undefined) return insert(foundByLink(url, source), depth, source.id, now)
    meet(known.id, depth, isNamed)
    return known
  }

  return {
    move,
    grade,
    add(found, now) {
      const before = inserted
      for (const item of found) {
        const id = idOf(item.kind, item.url)
        if (id === 0) insert(item, item.depth, referrerOf(item), now)
        else meetItem(id, item, item.depth, true, now)
      }
      return { added: inserted - before, known: found.length - (inserted - before) }
    },
    addFrom(source, { found = [], links = [], numbering }, now) {
      let others: Set<HostKey> | undefined
      // Without a limit the depth only orders a queue, and is not worth the room that all links take.
      const children: Child[] | undefined = maxDepth === undefined || source.kind !== 'page' ? undefined : []
      // A page that is fetched again names what it named before.
      const isNamed = source.last === undefined
      // The source may have been found on a shorter path while it was being fetched: what it names moves up with it.
      const lift = source.depth - storage.depth(source.id)
      const keep = ({ id, host }: KnownLink, step: 0 | 1): void => {
        if (host !== source.host) (others ??= new Set()).add(host)
        children?.push({ id, step })
      }
      for (const item of found) {
        keep(take(item, item.depth - lift, source, isNamed, now), item.depth > source.depth ? 1 : 0)
      }
      const depth = source.depth + 1 - lift
      const met = numbering === undefined ? undefined : knownLinks.of(numbering.era)
      for (let at = 0; at < links.length; at++) {
        const number = numbering?.numbers[at] ?? 0
        let link = met?.[number]
        if (link !== undefined) meet(link.id, depth, isNamed)
        else {
          link = takeLink(links[at] as NormalizedUrl, depth, source, isNamed, now)
          if (met !== undefined) met[number] = link
        }
        keep(link, 1)
      }
      if (children !== undefined && children.length > 0) storage.setChildren(source.id, children)
      return others ?? NO_HOSTS
    },
  }
}
