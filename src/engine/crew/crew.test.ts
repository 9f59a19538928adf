import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { clockOrigin, createRng, createSystemClock } from '../../base/index.ts'
import { settingsFromLibrary, type CrawlerOptions } from '../../config/index.ts'
import { createFrontier, type Settlement } from '../../frontier/index.ts'
import type { ImpoliteRequest, NormalizedUrl } from '../../model/index.ts'
import { linksTo } from '../test-support/virtual-web.ts'
import { frontierOptionsOf } from '../frontier-options.ts'
import { createManners } from '../manners.ts'
import { createSeedScope } from '../seed-scope.ts'
import { createSettler } from '../settler.ts'
import { seedFound } from '../crawl.ts'
import { createWorkshop } from '../workshop.ts'
import { createEngine, type EngineAmongOthers } from '../engine.ts'
import { createCrew, type CrewOptions, type OwnPart } from './crew.ts'

const TRICKY = new URL('../test-support/tricky-thread.ts', import.meta.url)

/** A site on loopback, and a crew that crawls it. */
async function setUp(
  paths: readonly string[],
  options: CrawlerOptions,
  works: 'threads' | 'all' = 'threads',
  trial: NonNullable<CrewOptions['trial']> = { program: TRICKY },
) {
  const origin = clockOrigin()
  const clock = createSystemClock(origin)
  const seen: string[] = []
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    seen.push(path)
    if (path === '/robots.txt') response.writeHead(404).end()
    else response.writeHead(200, { 'content-type': 'text/html' }).end(path === '/' ? linksTo(...paths) : '<p>A page')
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const seed = `http://127.0.0.1:${port}/` as NormalizedUrl
  const settings = settingsFromLibrary(
    { delay: 0, sitemaps: false, traps: false, allowAddress: ['127.0.0.0/8'], retryDelay: '10ms', ...options },
    '0.0.0',
  )
  const impolite: ImpoliteRequest[] = []
  const manners = createManners(settings, {
    clock,
    loadHost: (host) => frontier.host(host),
    onViolation: (request) => impolite.push(request),
  })
  const frontier = createFrontier({
    ...frontierOptionsOf(settings, {
      policyOf: (host) => manners.registry.policyOf(host),
      isFleet: false,
      once: false,
    }),
    store: 'memory',
    clock,
  })
  const settled: Settlement[] = []
  const seedScope = createSeedScope(settings, [seed])
  const repetitions = { judge: () => ({}) }
  const { tasks } = createWorkshop(settings, { clock, registry: manners.registry, seedScope, repetitions })
  const own = (part: OwnPart): EngineAmongOthers =>
    createEngine({ ...part, audit: manners.audit, worker: 'here', drainMs: settings.drainMs, tasks })
  const crew = createCrew({
    ...manners,
    threads: 2,
    ...(works === 'all' ? { own } : {}),
    slots: settings.concurrency,
    worker: 'here',
    settings,
    seedScope,
    frontier,
    settler: createSettler(frontier, undefined, { clock }),
    repetitions,
    onSettled: (settlement) => settled.push(settlement),
    thread: { wantsMarkdown: false, isArchiving: false, clockOrigin: origin },
    clock,
    rng: createRng(1),
    trial,
  })
  const outcomes = (path: string): string[] =>
    settled
      .filter(({ task, outcome }) => task.url === seed + path.slice(1) && outcome.kind !== 'returned')
      .map(({ outcome }) => outcome.kind)
  return {
    crew,
    frontier,
    seen,
    impolite,
    outcomes,
    run: () => crew.run(async () => void (await frontier.add([seedFound(seed, () => undefined)]))),
  }
}

const PAGES = Array.from({ length: 40 }, (_, number) => `/${number}`)

test('threads work on one host at once, and each page is had once', async () => {
  const { run, frontier, outcomes, impolite, seen } = await setUp(PAGES, { concurrency: 8, perHost: 8 })
  expect(await run()).toBe('finished')
  expect(await frontier.stats()).toMatchObject({ done: 41, failed: 0, queued: 0, leased: 0 })
  for (const path of PAGES) expect(outcomes(path)).toEqual(['done'])
  expect(seen).toHaveLength(42)
  expect(impolite).toEqual([])
})

test('the thread of the frontier works with the others', async () => {
  const { run, frontier, outcomes, impolite, seen } = await setUp(PAGES, { concurrency: 8, perHost: 8 }, 'all')
  expect(await run()).toBe('finished')
  expect(await frontier.stats()).toMatchObject({ done: 41, failed: 0, queued: 0, leased: 0 })
  for (const path of PAGES) expect(outcomes(path)).toEqual(['done'])
  expect([seen.length, impolite]).toEqual([42, []])
})

test.each(['/exit', '/memory'])(
  'a page that takes its thread down (%s) costs itself three attempts, and no other page',
  async (path) => {
    const { run, frontier, outcomes } = await setUp([path, ...PAGES], { concurrency: 4, perHost: 4, attempts: 9 })
    expect(await run()).toBe('finished')
    expect(await frontier.stats()).toMatchObject({ done: 41, failed: 1, queued: 0, leased: 0 })
    expect(outcomes(path)).toEqual(['retry', 'retry', 'failed'])
    for (const other of PAGES) expect(outcomes(other)).toEqual(['done'])
  },
)

test.each(['threads', 'all'] as const)(
  'a host that may be asked by several at once is asked so by %s together',
  async (works) => {
    const pace = { concurrency: 6, perHost: 3, delay: '50ms' }
    const { run, seen, impolite } = await setUp(PAGES.slice(0, 12), pace, works)
    expect(await run()).toBe('finished')
    expect(impolite).toEqual([])
    expect(seen).toHaveLength(14)
  },
)

test('a stop gives back what is not done', async () => {
  const { run, crew, frontier } = await setUp(PAGES, { concurrency: 2, delay: '100ms' })
  const over = run()
  const stats = async (): Promise<number> => (await frontier.stats()).done
  while ((await stats()) < 3) await new Promise((resolve) => setImmediate(resolve))
  crew.stop()
  expect(await over).toBe('stopped')
  const { done, queued, leased, discovered } = await frontier.stats()
  expect({ leased, all: done + queued }).toEqual({ leased: 0, all: discovered })
  expect(done).toBeLessThan(20)
})

test('threads that are lost again and again, with nothing done, end the crawl', async () => {
  const program = new URL('../test-support/short-lived-thread.ts', import.meta.url)
  const { run } = await setUp([], { concurrency: 2 }, 'threads', { program })
  await expect(run()).rejects.toMatchObject({ code: 'threads' })
})

test('a thread that cannot be replaced is done without, as long as there are others', async () => {
  let starts = 0
  const { run, outcomes } = await setUp(['/exit'], { concurrency: 2, attempts: 9 }, 'threads', {
    get program() {
      starts += 1
      return starts <= 2 ? TRICKY : new URL('http://no.test/program')
    },
  })
  await expect(run()).rejects.toMatchObject({ code: 'threads' })
  expect(outcomes('/exit')).toEqual(['retry', 'retry'])
})

test('a stop is over when threads are lost before they have begun', async () => {
  const onStop = "(said) => { if (said.some(([, , name]) => name === 'stop')) process.exit(1) }"
  const code = `import { parentPort } from 'node:worker_threads'; parentPort.on('message', ${onStop})`
  const { crew } = await setUp([], {}, 'threads', {
    program: new URL(`data:text/javascript,${encodeURIComponent(code)}`),
  })
  const over = crew.run()
  await new Promise((resolve) => setImmediate(resolve))
  crew.stop()
  expect(await over).toBe('stopped')
})
