/**
 * Which URLs a crawl must find, and what may become of each, by a walk over the plan of the web that shares nothing with
 * the crawler but how URLs are written. Where the web is of two minds (a host that comes and goes, a robots.txt that
 * changes), the walk follows both: some URLs must be found, some may be, and some have several possible fates.
 */
import type { HostKey, NormalizedUrl, Origin } from '../model/index.ts'
import { createScope, hostKey, normalizeUrl, originOf, registrableDomain, targetOf, type Scope } from '../url/index.ts'
import type { Page } from './page-book.ts'
import type { Scenario } from './scenario.ts'
import { Violation } from './violation.ts'
import { MOVED_RULES } from './web.ts'
import { isTrap, permits, trapPage, type HostSpec, type RobotsAnswer, type RobotsRules } from './web-spec.ts'

/** A web that is larger than this is not walked. */
const MOST_URLS = 3_000
/** Redirects that a robots.txt may go through. */
const ROBOTS_REDIRECTS = 5
/** Refusals in a row that make a host be given up, perhaps. */
const GIVE_UP = 5
/** Answers of 503 in good times that make a URL be given up. */
const ILL_ATTEMPTS = 3

type Fate = string

/** What an origin's robots.txt may come to. */
interface Robots {
  readonly rules: readonly (RobotsRules | 'all')[]
  /** Skip reasons that may apply to the whole origin. */
  readonly refusals: readonly Fate[]
}

interface Edge {
  readonly to: NormalizedUrl
  readonly step: 0 | 1
  readonly certain: boolean
}

interface Prospect {
  readonly fates: ReadonlySet<Fate>
  readonly edges: readonly Edge[]
}

export function checkFates(scenario: Scenario, pages: ReadonlyMap<string, Page>, isWhole: boolean): void {
  const walk = walkWeb(scenario)
  if (walk === undefined) return
  const trapped = new Set(scenario.web.hosts.filter(({ hasTrap }) => hasTrap).map(({ name }) => name))
  for (const [url, { fate, host }] of pages) {
    const isSuspect = scenario.settings.traps && trapped.has(host) && isTrap(targetOf(url as NormalizedUrl))
    if (!walk.may.has(url) && !isSuspect) throw new Violation('oracle', url, 'discovered, though nothing leads there')
    if (fate === undefined || !walk.may.has(url)) continue
    const fates = walk.fatesOf(url as NormalizedUrl)
    if (!fates.has(fate)) throw new Violation('oracle', url, `ended as ${fate}, not as one of ${[...fates].join(', ')}`)
  }
  if (!isWhole || scenario.settings.maxPages !== undefined) return
  for (const url of walk.must.keys()) {
    if (!pages.has(url)) throw new Violation('oracle', url, 'never discovered')
  }
}

interface Walk {
  /** Each with the smallest depth that it may have, or surely has. */
  readonly may: ReadonlyMap<string, number>
  readonly must: ReadonlyMap<string, number>
  fatesOf(url: NormalizedUrl): ReadonlySet<Fate>
}

function walkWeb(scenario: Scenario): Walk | undefined {
  const { settings, web } = scenario
  const hosts = new Map<string, HostSpec>(web.hosts.map((host) => [host.name, host]))
  const seeds = web.seeds as readonly NormalizedUrl[]
  const scope = createScope({ mode: settings.scope, seeds, include: [], exclude: [] })
  const maxDepth = settings.maxDepth ?? Infinity
  const prospects = new Map<string, Prospect>()
  const robotsOf = new Map<string, Robots>()
  const longestChain = new Map<string, number>()

  const robots = (origin: Origin): Robots => {
    let known = robotsOf.get(origin)
    if (known === undefined) robotsOf.set(origin, (known = readRobots(origin, hosts, scenario)))
    return known
  }
  const prospect = (url: NormalizedUrl): Prospect => {
    let known = prospects.get(url)
    if (known === undefined) {
      known = lookAt(url, hosts, robots(originOf(url)), scenario, scope, longestChain.get(url) ?? 0)
      prospects.set(url, known)
    }
    return known
  }

  /** Redirects in a row that may lead to each URL: a first walk without regard to anything else. */
  const reach = (certainOnly: boolean): Map<string, number> | undefined => {
    const depths = new Map<string, number>()
    const opened = new Set<string>()
    const pending: [NormalizedUrl, number][] = seeds.map((seed) => [seed, 0])
    for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
      const [url, depth] = next
      if ((depths.get(url) ?? Infinity) <= depth) continue
      depths.set(url, depth)
      if (depths.size > MOST_URLS) return undefined
      if (depth > maxDepth) continue
      const origin = originOf(url)
      if (!opened.has(origin)) {
        opened.add(origin)
        for (const found of sitemapsOf(origin, robots(origin), hosts, scenario, certainOnly)) {
          if (scope.check(found).inScope) pending.push([found, 1])
        }
      }
      const { fates, edges } = prospect(url)
      const isSure = fates.size === 1
      for (const { to, step, certain } of edges) {
        if (certainOnly && !(certain && isSure)) continue
        if (step === 0) longestChain.set(to, Math.max(longestChain.get(to) ?? 0, (longestChain.get(url) ?? 0) + 1))
        pending.push([to, depth + step])
      }
    }
    return depths
  }

  // Twice: how long chains of redirects can get is known only after the first.
  if (reach(false) === undefined) return undefined
  prospects.clear()
  const may = reach(false)
  if (may === undefined) return undefined
  prospects.clear()
  const must = reach(true) ?? new Map<string, number>()
  return {
    may,
    must,
    fatesOf(url) {
      const fates = new Set<Fate>()
      if ((must.get(url) ?? Infinity) > maxDepth) fates.add('skip depth')
      if ((may.get(url) ?? Infinity) <= maxDepth) for (const fate of prospect(url).fates) fates.add(fate)
      return fates
    },
  }
}

/** Refusals and failures of a host that may come in a row; from five on it may be given up. */
function troubles(host: HostSpec): number {
  let count = 0
  for (const storm of host.storms) count += storm.requests
  for (const { failures } of host.robots.values()) count += failures?.times ?? 0
  for (const { answer } of host.pages.values()) {
    if (answer.kind === 'ill' || answer.kind === 'hang' || answer.kind === 'reset') return Infinity
    if (answer.kind === 'flaky' && answer.status === 'reset') count += answer.times
  }
  for (const spec of host.robots.values()) {
    for (const { answer } of spec.versions) if (answer.kind !== 'rules' && answer.kind !== 'redirect') count += GIVE_UP
  }
  return host.thinkMs > 1_000 || host.state !== 'up' ? Infinity : count
}

/** Whether requests to a host may time out or find nobody, for reasons of its own or of ours. */
function isPatchy(host: HostSpec, { faults }: Scenario): boolean {
  const weSleep = faults.some(({ fault }) => fault.kind === 'freeze' || fault.kind === 'suspend')
  return weSleep || host.state !== 'up' || host.thinkMs > 1_000
}

function readRobots(origin: Origin, hosts: ReadonlyMap<string, HostSpec>, scenario: Scenario): Robots {
  const { settings } = scenario
  const host = hosts.get(hostKey(`${origin}/` as NormalizedUrl))
  const unreachable = ['skip robots-unreachable']
  if (host === undefined || host.state === 'nameless' || host.state === 'down' || host.state === 'silent') {
    return { rules: [], refusals: unreachable }
  }
  const spec = host.robots.get(origin)
  if (spec === undefined) return { rules: ['all'], refusals: isPatchy(host, scenario) ? unreachable : [] }
  const rules: (RobotsRules | 'all')[] = []
  const refusals = new Set<Fate>(isPatchy(host, scenario) || troubles(host) >= GIVE_UP ? unreachable : [])
  const take = (answer: RobotsAnswer): void => {
    switch (answer.kind) {
      case 'rules': {
        const askedMs = (answer.rules.crawlDelaySeconds ?? 0) * 1_000
        if (askedMs > settings.maxCrawlDelayMs && settings.crawlDelayOverMax === 'skip')
          refusals.add('skip crawl-delay')
        else rules.push(answer.rules)
        return
      }
      case 'status':
        if (answer.status < 500 && answer.status !== 429) rules.push('all')
        else refusals.add('skip robots-unreachable')
        return
      case 'redirect': {
        const target = new URL(answer.to, `${origin}/`)
        const there = hosts.get(target.hostname)
        if (there === undefined || isPatchy(there, scenario)) refusals.add('skip robots-unreachable')
        if (there === undefined || (there.state !== 'up' && there.state !== 'flapping')) return
        const redirects = 1 + Number(target.pathname.split('/').at(-1))
        rules.push(redirects > ROBOTS_REDIRECTS ? 'all' : MOVED_RULES)
        return
      }
      case 'hang':
      case 'reset':
        refusals.add('skip robots-unreachable')
    }
  }
  for (const { answer } of spec.versions) take(answer)
  // Failures before the first good answer: with enough attempts they are overcome.
  if (spec.failures !== undefined && spec.failures.times >= settings.attempts) refusals.add('skip robots-unreachable')
  return { rules, refusals: [...refusals] }
}

function lookAt(
  url: NormalizedUrl,
  hosts: ReadonlyMap<string, HostSpec>,
  robots: Robots,
  scenario: Scenario,
  scope: Scope,
  chain: number,
): Prospect {
  const { settings } = scenario
  const path = targetOf(url)
  const host = hosts.get(hostKey(url))
  const fates = new Set<Fate>(robots.refusals)
  // Judged before anything is asked, robots.txt included.
  const isSuspect = settings.traps && host?.hasTrap === true && isTrap(path)
  if (isSuspect) fates.add('skip trap')
  if (settings.maxPagesPerHost !== undefined) fates.add('skip host-budget')
  const allows = new Set(robots.rules.map((rules) => rules === 'all' || permits(rules, path)))
  if (allows.has(false)) fates.add('skip robots')
  if (host === undefined || !allows.has(true)) return { fates, edges: [] }
  if (isPatchy(host, scenario) || troubles(host) >= GIVE_UP) fates.add('skip host-unavailable')
  if (isPatchy(host, scenario)) for (const code of ['connect', 'timeout', 'protocol']) fates.add(`fail ${code}`)

  // A URL that meets a 503 again and again, while the others are answered well, counts as ill itself.
  const refusals = host.storms.reduce((sum, { status, requests }) => sum + (status === 503 ? requests : 0), 0)
  if (refusals >= ILL_ATTEMPTS) fates.add('fail http')

  const page = host.pages.get(url) ?? (host.hasTrap ? trapPage(path) : undefined)
  if (page?.life?.gone !== undefined) {
    fates.add('fail http')
    if (scenario.revisits !== undefined) fates.add('skip gone')
  }
  const loop = /^\/loop\/(\d)$/.exec(path)
  const answer =
    page?.answer ??
    (loop === null ? undefined : { kind: 'redirect' as const, status: 302, to: `/loop/${(Number(loop[1]) % 3) + 1}` })
  const edges: Edge[] = []
  const follow = (links: readonly string[], certain: boolean): void => {
    for (const link of links) {
      const to = normalizeUrl(link, url)
      if (to !== undefined && scope.check(to).inScope) edges.push({ to, step: 1, certain })
    }
  }
  switch (answer?.kind) {
    case undefined:
      fates.add('fail http')
      break
    case 'html':
    case 'flaky': {
      fates.add('page')
      // Where requests time out, those count as attempts too.
      if (answer.kind === 'flaky' && (answer.times >= settings.attempts || isPatchy(host, scenario))) {
        fates.add(answer.status === 'reset' ? 'fail protocol' : 'fail http')
      }
      if (answer.kind === 'html' && answer.nofollow === true) break
      const later = page?.laterLinks
      // Where a trap leads has no end; that it leads there is known without following it.
      follow(
        (page?.links ?? []).filter((link) => !isSuspect || !isTrap(link)),
        later === undefined,
      )
      follow(later ?? [], false)
      break
    }
    case 'text':
      fates.add('page')
      break
    case 'status':
      fates.add('fail http')
      break
    case 'redirect': {
      const to = answer.to === '' ? undefined : normalizeUrl(answer.to, url)
      if (to === undefined) fates.add('fail redirect')
      else {
        const isLong = chain >= settings.maxRedirects
        if (isLong) fates.add('skip redirect-limit')
        if (!scope.check(to).inScope) fates.add('skip redirect-scope')
        else {
          fates.add('skip redirect')
          edges.push({ to, step: 0, certain: !isLong })
        }
      }
      break
    }
    case 'ill':
      fates.add('fail http')
      break
    case 'hang':
      fates.add('fail timeout')
      break
    case 'reset':
      fates.add('fail protocol')
  }
  return { fates, edges }
}

/** Pages that the sitemaps of an origin name. */
function sitemapsOf(
  origin: Origin,
  robots: Robots,
  hosts: ReadonlyMap<string, HostSpec>,
  { settings, web }: Scenario,
  certainOnly: boolean,
): NormalizedUrl[] {
  const name = hostKey(`${origin}/` as NormalizedUrl)
  const host = hosts.get(name)
  if (!settings.sitemaps || host === undefined || robots.rules.length === 0) return []
  const siteOf = (host: HostKey): string => (settings.scope === 'domain' ? registrableDomain(host) : host)
  const isOurs =
    settings.scope === 'any' || web.seeds.some((seed) => siteOf(hostKey(seed as NormalizedUrl)) === siteOf(name))
  const isSure = robots.rules.length === 1 && robots.refusals.length === 0 && troubles(host) === 0
  if (!isOurs || (certainOnly && !isSure)) return []
  const named = robots.rules.flatMap((rules) => (rules === 'all' ? [] : rules.sitemaps))
  const found: NormalizedUrl[] = []
  const allowed = (url: string): boolean =>
    robots.rules.some((rules) => rules === 'all' || permits(rules, targetOf(url as NormalizedUrl)))
  const read = (url: string): void => {
    const file = host.sitemaps.get(url)
    if (file === undefined || !allowed(url)) return
    for (const entry of file.urls) {
      if (file.index) read(entry)
      else found.push(entry as NormalizedUrl)
    }
  }
  for (const url of new Set([...named, `${origin}/sitemap.xml`])) read(url)
  return found
}
