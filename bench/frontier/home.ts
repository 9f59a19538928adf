/**
 * The frontier, grown up to a mark and measured there. Each question is for a process of its own, which goes on with the
 * folder that the one before has left: so memory is that of one size, and opening is that of a process just started.
 *
 *   node bench/frontier/home.ts FOLDER [PROFILES]
 */
import { rmSync } from 'node:fs'
import type { Clock } from '../../src/base/index.ts'
import { createFrontier, type Frontier, type Lease, type Settlement } from '../../src/frontier/index.ts'
import type { FoundUrl, NormalizedUrl, Task } from '../../src/model/index.ts'
import { diskBytes, memoryOfProcess } from '../support/footprint.ts'
import { serve, tell } from '../support/worker.ts'
import { boundHeap, launch } from '../support/launched.ts'
import {
  createStopwatch,
  LINKS_PER_CALL,
  SEED,
  WANT,
  WARM_UP,
  type HomeFigures,
  type Mark,
  type Timed,
} from './measured.ts'
import { profiled } from './profiled.ts'
import { PAGES_PER_CALL, replay } from './replay.ts'
import { createWorld, depthOf, NEW_PER_PAGE, urlOf, type Draw, type Page } from './world.ts'

launch()

/** By the clock that is moved by hand, between one call and the next. */
const STEP_MS = 10
/** The pace of every host: then a lease has one task. Without a delay it has up to sixteen. */
const DELAY_MS = 1_000
const TASKS_OF_QUICK_LEASE = 16

const [folder = '', profiles] = process.argv.slice(2)
let now = 0
let delayMs = DELAY_MS
const clock = { now: () => now, wall: () => now } as Clock
let world = createWorld(SEED)
let textBytes = 0

const open = (place: string): Frontier =>
  createFrontier({ store: place, clock, policyOf: () => ({ delayMs, concurrency: 1 }) })

function linksOf(pages: readonly Page[]): FoundUrl[] {
  return pages.flatMap(({ page, known, fresh }) => {
    const referrer = urlOf(page) as NormalizedUrl
    return [...known, ...fresh].map((link) => ({
      url: urlOf(link) as NormalizedUrl,
      kind: 'page' as const,
      depth: depthOf(link),
      via: 'link' as const,
      referrer,
    }))
  })
}

const freshBytes = (pages: readonly Page[]): number =>
  pages.reduce((sum, { fresh }) => sum + fresh.reduce((bytes, link) => bytes + urlOf(link).length, 0), 0)

/** New links only, up to so many URLs in all. */
async function fill(frontier: Frontier, urls: number): Promise<Timed> {
  const watch = createStopwatch()
  while (world.urls < urls) {
    const pages = world.grow(Math.min(LINKS_PER_CALL, urls - world.urls))
    const links = linksOf(pages)
    textBytes += freshBytes(pages)
    const { added } = await watch.time(links.length, () => frontier.add(links))
    if (added !== links.length) throw new Error(`of ${links.length} new links ${added} were new to the frontier`)
    now += STEP_MS
    boundHeap()
  }
  return watch.read()
}

/** Links of pages, most of them known. */
async function addLinks(frontier: Frontier, count: number, draw: Draw): Promise<Timed> {
  const watch = createStopwatch()
  for (let left = count; left > 0; left -= LINKS_PER_CALL) {
    const pages = world.pages(PAGES_PER_CALL, draw)
    const links = linksOf(pages)
    textBytes += freshBytes(pages)
    const fresh = pages.length * NEW_PER_PAGE
    const { added } = await watch.time(links.length, () => frontier.add(links))
    if (added !== fresh) throw new Error(`of ${fresh} new links ${added} were new to the frontier`)
    now += STEP_MS
    boundHeap()
  }
  return watch.read()
}

function settlementsOf(lease: Lease): Settlement[] {
  const health = { ...lease.health, streak: lease.health.streak + 1, latencyMs: STEP_MS }
  return lease.tasks.map((task): Settlement => {
    const base = { lease, task, answeredAt: now, host: { health }, outcome: { kind: 'done' } } as const
    return task.kind === 'robots' ? { ...base, robots: robotsOf(task) } : { ...base, ...contentOf(task) }
  })
}

function robotsOf({ origin }: Task): NonNullable<Settlement['robots']> {
  return {
    origin,
    state: 'rules',
    refusal: null,
    status: 200,
    detail: 'HTTP 200',
    fetchedAt: now,
    version: '1a2b3c4d',
    staleSince: null,
    expiresAt: now + 30 * 86_400_000,
    body: 'User-agent: *\nDisallow: /private/\n',
    crawlDelayMs: 0,
  }
}

function contentOf({ id }: Task): Pick<Settlement, 'visit' | 'bytes' | 'tokens'> {
  const hash = (id * 0x9e3779b1).toString(16).padStart(16, '0').slice(-16)
  // One host in two gives an ETag.
  const etag = id % 2 === 0 ? `"${hash}"` : null
  return { visit: { change: 'new', hash, etag, lastModified: null }, bytes: 30_000, tokens: 1_500 }
}

/** One round of a crawl: what is leased is answered so much later. The leases it had. */
async function turn(frontier: Frontier, answerMs = STEP_MS, want = WANT): Promise<readonly Lease[]> {
  const { leases } = await frontier.lease({ worker: 'bench', want })
  now += answerMs
  if (leases.length > 0) await frontier.settle(leases.flatMap(settlementsOf))
  return leases
}

/** Every host that is due has its turn once: those that are new with their robots.txt. */
async function passRobots(frontier: Frontier): Promise<Timed> {
  const watch = createStopwatch()
  let asked = 0
  // While time stands still nobody is due twice.
  for (let more = true; more;) {
    const leases = await watch.time(0, () => turn(frontier, 0))
    asked += leases.length
    boundHeap()
    more = leases.length > 0
  }
  const { requests } = await frontier.stats()
  if (requests.robots < world.hosts)
    throw new Error(`only ${requests.robots} of ${world.hosts} hosts gave their robots.txt`)
  return { ...watch.read(), operations: asked }
}

async function leaseAndSettle(frontier: Frontier, count: number, want = WANT): Promise<Timed> {
  const watch = createStopwatch()
  now += DELAY_MS
  let tasks = 0
  while (tasks < count) {
    const leases = await watch.time(0, () => turn(frontier, STEP_MS, want))
    tasks += leases.reduce((sum, lease) => sum + lease.tasks.length, 0)
    // Where there are few hosts, all of them wait.
    if (leases.length < want) now += DELAY_MS
    boundHeap()
  }
  return { ...watch.read(), operations: tasks }
}

/** Everything that is measured at a mark but opening. */
async function measure(
  place: string,
  { urls, links, tasks }: Mark,
  say: (what: string) => void,
  profilesTo?: string,
): Promise<Omit<HomeFigures, 'openMs'>> {
  const frontier = open(place)
  say('fill')
  const filled = await fill(frontier, urls)
  say('robots.txt')
  const robots = await passRobots(frontier)
  say('add, skewed')
  const skewed = await profiled(profilesTo, `add-skewed-${urls}`, () => addLinks(frontier, links, 'skewed'))
  say('add, uniform')
  const uniform = await profiled(profilesTo, `add-uniform-${urls}`, () => addLinks(frontier, links, 'uniform'))
  say('lease and settle')
  const settled = await profiled(profilesTo, `lease-settle-${urls}`, () => leaseAndSettle(frontier, tasks))
  say('lease and settle, no delay')
  delayMs = 0
  const quick = await profiled(profilesTo, `lease-settle-quick-${urls}`, () =>
    leaseAndSettle(frontier, tasks, Math.ceil(WANT / TASKS_OF_QUICK_LEASE)),
  )
  delayMs = DELAY_MS
  const { discovered, bloomFalsePositives } = await frontier.stats()
  if (discovered !== world.urls) throw new Error(`${world.urls} were added and ${discovered} are known`)
  const memory = memoryOfProcess()
  const diskBytesOpen = diskBytes(place)
  say('close')
  await frontier.close()
  return {
    urls: world.urls,
    hosts: world.hosts,
    textBytes,
    fill: filled,
    robots,
    skewed,
    uniform,
    tasks: settled,
    quick,
    memory,
    diskBytes: diskBytes(place),
    diskBytesOpen,
    bloomFalsePositives,
  }
}

/** All of it once in another folder, so that a mark is not measured with code that was never run. */
async function warmUp(): Promise<void> {
  const place = `${folder}-warm-up`
  await measure(place, WARM_UP, () => {})
  rmSync(place, { recursive: true })
}

/** How far an earlier process came. */
export interface Before {
  readonly done: readonly Mark[]
  readonly textBytes: number
  /** By the clock that is moved by hand. */
  readonly now: number
}

function goOnFrom(before: Before): void {
  world = replay(createWorld(SEED), before.done)
  textBytes = before.textBytes
  now = before.now
}

const verbs = {
  async mark({ mark, before }: { readonly mark: Mark; readonly before: Before }): Promise<{
    readonly figures: Omit<HomeFigures, 'openMs'>
    readonly now: number
  }> {
    now = before.now
    await warmUp()
    goOnFrom(before)
    const say = (what: string): void => void process.stderr.write(`${mark.urls.toLocaleString('en')} URLs: ${what}\n`)
    const figures = await measure(folder, mark, say, profiles)
    return { figures, now }
  },
  /** How long it takes until the first lease is answered. After a kill, hosts may have to wait before they are due. */
  async open(at: number): Promise<{ readonly openMs: number; readonly discovered: number; readonly now: number }> {
    now = at + DELAY_MS
    const started = performance.now()
    const frontier = open(folder)
    const { leases } = await frontier.lease({ worker: 'bench', want: WANT })
    const openMs = performance.now() - started
    if (leases.length > 0) await frontier.settle(leases.flatMap(settlementsOf))
    const { discovered, done, failed, queued, leased, skipped } = await frontier.stats()
    const ended = done + failed + Object.values(skipped).reduce((sum, count) => sum + count, 0)
    if (discovered !== queued + leased + ended) throw new Error('the counters do not add up')
    now += 2 * DELAY_MS
    if ((await turn(frontier)).length === 0) throw new Error('nothing is due')
    await frontier.close()
    return { openMs, discovered, now }
  },
  /** Adds, leases and settles until it is killed, and tells what is confirmed. */
  async work(before: Before): Promise<void> {
    goOnFrom(before)
    const frontier = open(folder)
    for (;;) {
      await addLinks(frontier, LINKS_PER_CALL, 'uniform')
      await turn(frontier)
      await tell({ confirmed: world.urls, now } satisfies News)
    }
  },
}

/** What a worker tells before it is killed. */
export interface News {
  readonly confirmed: number
  readonly now: number
}

export type HomeVerbs = typeof verbs
serve(verbs)
