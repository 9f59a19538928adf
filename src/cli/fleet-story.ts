/**
 * The story of one URL of a crawl on a store. The servers have the row of a URL while it is open, and nothing but its
 * fingerprint when it is settled: what became of it is in the record that its worker wrote.
 */
import { join } from 'node:path'
import { openExportSource, type ExportSource } from '../export/index.ts'
import type { FleetHost, FleetRow } from '../frontier/index.ts'
import type { NormalizedUrl } from '../model/index.ts'
import { RECORD_FILES } from '../sink/index.ts'
import { hostKey, originOf } from '../url/index.ts'
import { countOf, formatCount } from './count-words.ts'
import { openFleetView, type FleetView } from './fleet-view.ts'
import { waitOf } from './host-words.ts'
import type { Invocation } from './invocation.ts'
import { findLastRecord } from './last-record.ts'
import { timestamp, whenWords } from './report-lines.ts'
import { hostStanding, type Story } from './url-story.ts'

type OpenRow = Awaited<ReturnType<typeof findRow>>

export async function fleetStory(
  url: NormalizedUrl,
  place: string,
  workers: readonly string[],
  invocation: Invocation,
  now: number,
): Promise<Story> {
  const view = await openFleetView(place, invocation)
  try {
    return await storyOf(url, workers, view, invocation.version, now)
  } finally {
    await view.inspector.close()
  }
}

async function storyOf(
  url: NormalizedUrl,
  workers: readonly string[],
  view: FleetView,
  version: string,
  now: number,
): Promise<Story> {
  const { inspector, strip, scope, registry, settings } = view
  // The crawl may know it without some of its parameters.
  const candidates = [
    { kind: 'page', url },
    { kind: 'sitemap', url },
    { kind: 'page', url: strip(url) },
  ] as const
  const standings = await inspector.standing(candidates)
  const found = standings.findIndex(({ state }) => state !== 'unknown')
  const asked = candidates[found]?.url ?? strip(url)
  const kind = candidates[found]?.kind
  const standing = standings[found]
  const host = await inspector.host(hostKey(asked))
  const robots = host?.lanes.find(({ origin }) => origin === originOf(asked))?.robots
  const verdict = (await registry.verdict(asked)) ?? null
  const common = {
    url: asked,
    known: kind ?? null,
    scope: scope.check(asked),
    robots: {
      verdict,
      detail: robots?.detail ?? 'robots.txt of this origin has not been read',
      ...(robots === undefined ? {} : { fetchedAt: timestamp(robots.fetchedAt), version: robots.version }),
      ...(robots?.staleSince == null ? {} : { staleSince: timestamp(robots.staleSince) }),
    },
    host: hostStanding(host, settings, now),
  }
  if (kind === undefined || standing === undefined || host === undefined) {
    return { ...common, next: await strangerNext(common, view) }
  }
  const isStream = settings.sink === 'redis-stream'
  const source = workers.length === 0 || isStream ? undefined : await recordsOf(workers, view, version)
  if (standing.state !== 'open') return { ...common, ...settled(asked, source, view) }
  const row = await findRow(asked, kind, host, view)
  return {
    ...common,
    state: row.state,
    ...(row.reason === '' ? {} : { reason: row.reason }),
    ...(row.lease === undefined ? {} : { lease: row.lease }),
    ...(row.ahead === undefined ? {} : { ahead: row.ahead }),
    depth: standing.depth,
    ...(row.via === undefined ? {} : { via: row.via }),
    ...(row.attempts === undefined ? {} : { attempts: row.attempts }),
    ...(row.referrer === undefined
      ? {}
      : { referrers: [{ url: row.referrer, kind: 'page', via: '', depth: standing.depth }] as const }),
    ...(standing.referrers < VISITED ? { named: standing.referrers } : {}),
    next: nextOf(row, host, view, now),
  }
}

/** Stands for the number of referrers of a page that was fetched before. */
const VISITED = 127

async function recordsOf(workers: readonly string[], view: FleetView, version: string): Promise<ExportSource> {
  const outputs = await view.inspector.outputs()
  const positions = { crawl: view.crawl, positionOf: async (worker: string) => outputs.get(worker) ?? {} }
  return openExportSource(workers, { version, positions })
}

/** What the records of a settled URL say. */
function settled(
  url: NormalizedUrl,
  source: ExportSource | undefined,
  { seeds, strip, settings }: FleetView,
): Pick<Story, 'state' | 'reason' | 'record' | 'depth' | 'via' | 'referrers' | 'next'> {
  const kinds = [
    ['page', 'done'],
    ['skip', 'skipped'],
    ['fail', 'failed'],
  ] as const
  for (const { path, output } of source?.folders ?? []) {
    for (const [kind, state] of kinds) {
      const name = RECORD_FILES[kind]
      const record = findLastRecord(join(path, name), output[name] ?? 0, url)
      if (record === undefined) continue
      const reason = record['reason'] ?? record['error']
      return {
        state,
        ...(typeof reason === 'string' ? { reason } : {}),
        ...discoveryIn(record),
        record,
        next: FINAL,
      }
    }
  }
  const unread =
    settings.sink === 'redis-stream'
      ? 'Its record is in a stream of the store.'
      : 'Name the folders of the workers to see it.'
  const where = source === undefined ? unread : 'None of these folders has it.'
  const isSeed = seeds.some((seed) => strip(seed) === url)
  return { state: 'final', ...(isSeed ? { via: 'seed', depth: 0 } : {}), next: `${FINAL} ${where}` }
}

function discoveryIn(record: Readonly<Record<string, unknown>>): Pick<Story, 'depth' | 'via' | 'referrers'> {
  const { depth, via, referrer } = record
  return {
    ...(typeof depth === 'number' ? { depth } : {}),
    ...(typeof via === 'string' ? { via } : {}),
    ...(typeof referrer === 'string' ? { referrers: [{ url: referrer, kind: 'page', via: '', depth: 0 }] } : {}),
  }
}

const FINAL = 'Nothing: this is final.'

/** Where the row of an open URL stands: in a lease, waiting, parked, or in a queue. */
async function findRow(url: NormalizedUrl, kind: 'page' | 'sitemap', host: FleetHost, { inspector }: FleetView) {
  const { name } = inspector.store.fingerprints.ofUrl(kind, url)
  for await (const lease of inspector.leases()) {
    if (lease.host !== host.key) continue
    const task = lease.tasks.find((each) => each.name === name)
    if (task === undefined) continue
    return {
      ...partsOf(task.row),
      state: 'leased',
      at: lease.until,
      lease: { worker: lease.worker, until: timestamp(lease.until) },
    }
  }
  for await (const { row, at } of inspector.waiting()) {
    if (row.name === name) return { ...partsOf(row), state: 'waiting', at }
  }
  for (const state of ['held', 'aside'] as const) {
    if (host[state] === 0) continue
    for await (const row of inspector.parkedOf(host, state))
      if (row.name === name) return { ...partsOf(row), state, at: 0 }
  }
  const [origin, ranks] = [originOf(url), new Map<string, number>()]
  let mine: { readonly row: FleetRow; readonly before: number } | undefined
  for await (const row of inspector.rowsOf(host)) {
    if (originOf(row.url) !== origin) continue
    const list = `${row.slot} ${row.rank}`
    const before = ranks.get(list) ?? 0
    if (row.name === name) mine = { row, before }
    ranks.set(list, before + 1)
  }
  // It has just left its queue, or come into it.
  if (mine === undefined) return { ...partsOf(undefined), state: 'queued', at: 0 }
  const { slot, rank } = mine.row
  let ahead = mine.before
  for (const [list, count] of ranks) {
    const [itsSlot, itsRank] = list.split(' ')
    if (itsSlot === slot && Number(itsRank) < rank) ahead += count
  }
  return { ...partsOf(mine.row), state: 'queued', at: 0, ahead }
}

function partsOf(row: FleetRow | undefined) {
  return {
    via: row?.via,
    attempts: row?.attempts,
    reason: row?.reason ?? '',
    referrer: row?.referrer,
    lease: undefined as Story['lease'],
    ahead: undefined as number | undefined,
  }
}

function nextOf(row: OpenRow, host: FleetHost, view: FleetView, now: number): string {
  if (row.lease !== undefined) {
    return `${row.lease.worker} is at it. If nothing is heard of it by then, it goes back to its queue.`
  }
  if (row.state === 'waiting') return `It is tried again ${whenWords(row.at, now)}.`
  if (row.state === 'held')
    return 'It is held for being too deep. A shorter path would free it; without one it is skipped at the end.'
  if (row.state === 'aside')
    return 'It waits until nothing else is left, and is skipped then unless its kind proves worth fetching.'
  const wait = waitOf(host, view, now)
  const place =
    row.ahead === undefined || row.ahead === 0
      ? 'It is the next of its origin and tier'
      : `${countOf(row.ahead, 'URL')} of its origin and tier ${row.ahead === 1 ? 'comes' : 'come'} before it`
  const turn =
    wait === undefined
      ? `${host.key} is leased`
      : wait.at <= now
        ? `${host.key} is due now`
        : `${host.key} may be asked ${whenWords(wait.at, now)} (${wait.reason})`
  return `${place}; ${turn}.`
}

async function strangerNext(story: Pick<Story, 'scope' | 'robots'>, { inspector }: FleetView): Promise<string> {
  if (!story.scope.inScope) return 'The crawl does not take it in: it is out of scope, wherever it may be linked.'
  const { open } = await inspector.counters()
  const wait =
    open === 0
      ? 'No page or sitemap that was read names it, and nothing is left to read.'
      : `No page or sitemap read so far names it; ${formatCount(open)} ${open === 1 ? 'is' : 'are'} still queued.`
  return story.robots.verdict?.allowed === false ? `${wait} If one does, it will be skipped.` : wait
}
