/**
 * The embedded home, read out to be moved elsewhere: hosts and URLs in order of their discovery, in portions, each found
 * again by where the last one ended. Nobody else can work on the crawl meanwhile, and nothing of it is changed but the
 * bar, which says where it went.
 */
import type { NormalizedUrl } from '../../model/index.ts'
import type { Counters, HostRow, UrlRow, VisitRow } from '../storage.ts'
import type { CarriedHost, CarriedUrl } from '../transfer.ts'
import { explained, openDatabase } from './database.ts'
import { createFacts } from './facts.ts'
import { openInspector, type HostView } from './inspector.ts'
import { errandRow, ERRANDS_OF, KINDS, prepareList, urlRow, type Values } from './rows.ts'
import { openSnapshot } from './snapshot.ts'
import { liftBar, readBar, writeBar, type Bar } from './transfer-bar.ts'

export interface Portion<T> {
  readonly items: readonly T[]
  /** To go on behind; null when these are the last. */
  readonly next: number | null
}

export interface EmbeddedSource {
  readonly counters: Counters
  /** Pages and sitemaps that are known. */
  readonly urlCount: number
  /** Whether the last process that worked on the crawl closed it in order: otherwise something may have been sent since. */
  readonly clean: boolean
  /** When the crawl was last opened after such a stop: no host may be asked before its delay has passed since then. */
  readonly uncleanAt: number | null
  /** Why the crawl may not be worked on; undefined when it may. */
  readonly bar: Bar | undefined
  hosts(behind: number, count: number): Portion<CarriedHost>
  urls(behind: number, count: number): Portion<CarriedUrl>
  /** From now on nobody works on the crawl here. */
  setBar(bar: Bar): void
  liftBar(): void
  close(): void
}

export function openEmbeddedSource(folder: string): EmbeddedSource {
  // The lock keeps everyone else away while what is committed is read beside it.
  const { db: own, close } = openDatabase(folder)
  try {
    return readingOf(folder, own, close)
  } catch (error) {
    close()
    throw error
  }
}

function readingOf(folder: string, own: ReturnType<typeof openDatabase>['db'], close: () => void): EmbeddedSource {
  const inspector = openInspector(folder)
  const { db } = openSnapshot(folder)
  const facts = createFacts(db, Infinity)
  const statement = {
    urls: prepareList(db, 'SELECT * FROM url WHERE id > ? ORDER BY id LIMIT ?'),
    hosts: db.prepare('SELECT name FROM host WHERE id > ? ORDER BY id LIMIT ?'),
    text: db.prepare('SELECT url, kind FROM main.url WHERE id = ?'),
    children: db.prepare('SELECT links FROM children WHERE url = ?'),
    errands: prepareList(db, ERRANDS_OF),
  }
  const textOf = (id: number): { url: NormalizedUrl; kind: number } | undefined =>
    statement.text.get(id) as { url: NormalizedUrl; kind: number } | undefined

  const childrenOf = (id: number): CarriedUrl['children'] => {
    const row = statement.children.get(id) as { links: Uint8Array } | undefined
    if (row === undefined) return []
    return Array.from(new Uint32Array(row.links.slice().buffer)).flatMap((word) => {
      const child = textOf(Math.floor(word / 2))
      if (child === undefined) return []
      return [{ kind: KINDS[child.kind] as UrlRow['kind'], url: child.url, step: (word & 1) as 0 | 1 }]
    })
  }
  const carriedUrl = (row: UrlRow): CarriedUrl => {
    const { id, lane: _lane, referrer, ...rest } = row
    return {
      ...rest,
      referrer: referrer === 0 ? null : (textOf(referrer)?.url ?? null),
      referrers: facts.referrers(id),
      visit: withoutId(inspector.visit(id)),
      children: childrenOf(id),
    }
  }
  const carriedHost = (host: HostView): CarriedHost => {
    const { id, due: _due, order: _order, lanes, ...rest } = host satisfies HostRow
    return {
      ...rest,
      lanes: lanes.map((lane) => ({
        origin: lane.origin,
        robots: inspector.robots(lane) ?? null,
        robotsNotBefore: lane.robotsNotBefore,
        robotsAttempts: lane.robotsAttempts,
        robotsMoved: lane.robotsMoved,
      })),
      errands: (statement.errands.all(id) as unknown as Values[]).map((values) => {
        const { id: _id, ...errand } = errandRow(values)
        return errand
      }),
      traps: inspector.traps(id) ?? null,
    }
  }

  return {
    counters: inspector.counters(),
    urlCount: (db.prepare('SELECT max(id) AS n FROM main.url').get() as { n: number | null }).n ?? 0,
    clean: inspector.clean,
    uncleanAt:
      (db.prepare("SELECT value FROM meta WHERE key = 'unclean_at'").get() as { value: number } | undefined)?.value ??
      null,
    get bar() {
      return readBar(own)
    },
    hosts(behind, count) {
      const names = statement.hosts.all(behind, count) as { name: HostRow['key'] }[]
      const views = names.flatMap(({ name }) => inspector.hostByKey(name) ?? [])
      const last = views.at(-1)
      return { items: views.map(carriedHost), next: views.length < count || last === undefined ? null : last.id }
    },
    urls(behind, count) {
      const rows = (statement.urls.all(behind, count) as unknown as Values[]).map(urlRow)
      const last = rows.at(-1)
      return { items: rows.map(carriedUrl), next: rows.length < count || last === undefined ? null : last.id }
    },
    setBar: (bar) => explained(folder, () => writeBar(own, bar)),
    liftBar: () => explained(folder, () => liftBar(own)),
    close() {
      inspector.close()
      db.close()
      close()
    },
  }
}

function withoutId(row: VisitRow | undefined): Omit<VisitRow, 'id'> | null {
  if (row === undefined) return null
  const { id: _id, ...visit } = row
  return visit
}
