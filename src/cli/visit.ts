/**
 * A visit to a few URLs without a crawl around it, for `robots` and `fetch`: the engine's own tasks, one request at a
 * time, each host at its pace. Each URL is tried once. What a task makes of an answer is decided by the engine alone.
 */
import { createRng, type Clock } from '../base/index.ts'
import type { Settings } from '../config/index.ts'
import {
  createAdmission,
  createFetcherOf,
  runPageTask,
  runRobotsTask,
  type TaskContext,
  type TaskResult,
} from '../engine/index.ts'
import type { Fetcher, FetchOutcome } from '../fetch/index.ts'
import {
  TiptoeError,
  UNKNOWN_HEALTH,
  type HostKey,
  type NormalizedUrl,
  type Origin,
  type RobotsRecord,
  type Task,
} from '../model/index.ts'
import { createHostRegistry, type HostRegistry, type RobotsVerdict } from '../politeness/index.ts'
import { createReader } from '../reading/index.ts'
import { createParameterStripper, createScope, hostKey, originOf, type Scope } from '../url/index.ts'

/** Origins whose robots.txt is remembered; as many as anyone names on a command line. */
const MAX_ORIGINS = 10_000

export interface RobotsVisit {
  readonly record: RobotsRecord
  /** Where the file was asked for, redirects included. */
  readonly asked: readonly NormalizedUrl[]
}

export interface PageVisit {
  /** What was received; undefined when nothing was asked. */
  readonly outcome: FetchOutcome | undefined
  /** What the crawler makes of it. */
  readonly result: TaskResult
}

export interface Visitor {
  readonly registry: HostRegistry
  readonly scope: Scope
  /** The robots.txt of the URL's origin, asked for once. */
  robots(url: NormalizedUrl): Promise<RobotsVisit>
  /** The verdict for a URL whose robots.txt was read. */
  verdict(url: NormalizedUrl): Promise<RobotsVerdict>
  /** Asks for a page if its robots.txt allows it; `redirects` led here. */
  page(url: NormalizedUrl, redirects: number): Promise<PageVisit>
  close(): Promise<void>
}

export interface VisitOptions {
  readonly settings: Settings
  /** Whom robots.txt is read for. */
  readonly productToken: string
  /** What a crawl would start from; decides which links belong to it. */
  readonly seeds: readonly NormalizedUrl[]
  readonly clock: Clock
}

export function createVisitor({ settings, productToken, seeds, clock }: VisitOptions): Visitor {
  const registry = createHostRegistry({
    defaultPolicy: { delayMs: settings.delayMs, concurrency: 1 },
    sites: settings.sites,
    productToken,
    load: async () => undefined,
  })
  const scope = createScope({ mode: settings.scope, seeds, include: settings.include, exclude: settings.exclude })
  const strip = createParameterStripper(settings.stripParameters)
  const admission = createAdmission({ scope, strip, tierOf: () => undefined })
  const known = new Map<Origin, RobotsVisit>()
  const crawlDelays = new Map<HostKey, number>()
  const delayOf = (host: HostKey): number => Math.max(registry.policyOf(host).delayMs, crawlDelays.get(host) ?? 0)
  const inner = createFetcherOf(settings, { clock })
  const reader = createReader({ threads: Math.min(1, settings.threads ?? 1) }, { clock })
  const paced = createPacedFetcher(inner, delayOf, clock)

  const contextFor = (fetcher: Fetcher): TaskContext => ({
    settings: { ...settings, attempts: 1 },
    clock,
    rng: createRng(0),
    fetcher,
    reader,
    registry,
    scope,
    repetitions: { judge: () => ({}) },
    productToken,
    tierOf: () => undefined,
    strip,
    admission,
    wantsSample: () => false,
    addEarly: async () => {},
    connection: () => 'up',
    isOurs: () => false,
    lease: {
      host: '' as HostKey,
      fence: 0,
      tasks: [],
      delayMs: 0,
      grantedAt: 0,
      notBefore: 0,
      expiresAt: Infinity,
      health: UNKNOWN_HEALTH,
      address: null,
      robotsVersion: null,
    },
    signal: new AbortController().signal,
  })
  const checkOnline = ({ offline }: TaskResult): void => {
    if (offline === undefined) return
    throw new TiptoeError('network', `this machine has no network: ${offline}`, { hint: 'check the connection' })
  }

  const robots = async (url: NormalizedUrl): Promise<RobotsVisit> => {
    const origin = originOf(url)
    const before = known.get(origin)
    if (before !== undefined) return before
    if (known.size >= MAX_ORIGINS) throw new TiptoeError('usage', `more than ${MAX_ORIGINS} origins at once`)
    let task = taskFor('robots', `${origin}/robots.txt` as NormalizedUrl, origin, 0)
    const asked: NormalizedUrl[] = []
    for (;;) {
      if (settings.ignoreRobotsBecause === undefined) asked.push(task.url)
      const result = await runRobotsTask(task, contextFor(paced))
      checkOnline(result)
      // The engine's own limit of redirects ends this.
      if (result.outcome.kind === 'moved') {
        task = taskFor('robots', result.outcome.url, origin, task.redirects + 1)
        continue
      }
      if (result.robots === undefined) throw new Error(`robots.txt of ${origin} ended as ${result.outcome.kind}`)
      const visit = { record: result.robots, asked }
      known.set(origin, visit)
      const host = hostKey(url)
      crawlDelays.set(host, Math.max(crawlDelays.get(host) ?? 0, visit.record.crawlDelayMs))
      return visit
    }
  }

  return {
    registry,
    scope,
    robots,
    async verdict(url) {
      await robots(url)
      return (await registry.verdict(url)) ?? { allowed: false, reason: 'robots-unreachable', detail: 'not known' }
    },
    async page(url, redirects) {
      await robots(url)
      let outcome: FetchOutcome | undefined
      const watched: Fetcher = {
        ...paced,
        async fetch(request, signal) {
          outcome = await paced.fetch(request, signal)
          return outcome
        },
      }
      const result = await runPageTask(taskFor('page', url, originOf(url), redirects), contextFor(watched))
      checkOnline(result)
      return { outcome, result }
    },
    async close() {
      await inner.close()
      await reader.close()
    },
  }
}

function taskFor(kind: Task['kind'], url: NormalizedUrl, origin: Origin, redirects: number): Task {
  const host = hostKey(url)
  return { id: 0, kind, url, host, origin, depth: 0, via: 'seed', tier: 'medium', attempts: 0, redirects, nesting: 0 }
}

/** Before each request waits until its host's delay has passed since the host's last answer. */
function createPacedFetcher(inner: Fetcher, delayOf: (host: HostKey) => number, clock: Clock): Fetcher {
  const answered = new Map<HostKey, number>()
  return {
    ...inner,
    async fetch(request, signal) {
      const host = hostKey(request.url)
      const last = answered.get(host)
      if (last !== undefined) await clock.sleepUntil(last + delayOf(host), signal)
      const outcome = await inner.fetch(request, signal)
      answered.set(host, outcome.kind === 'response' || outcome.kind === 'error' ? outcome.answeredAt : clock.now())
      return outcome
    },
  }
}
