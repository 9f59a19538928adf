/**
 * A web from a seed: hosts of very different sizes, most of them well and some of them ill in every way that hosts are
 * ill. The same numbers give the same web.
 */
import type { Rng } from '../base/index.ts'
import type { Origin } from '../model/index.ts'
import type {
  HostSpec,
  PageAnswer,
  PageSpec,
  RetryAfter,
  RobotsAnswer,
  RobotsRules,
  RobotsSpec,
  Storm,
  WebSpec,
} from './web-spec.ts'

export interface WebWishes {
  readonly hosts: number
  readonly pages: number
  /** From 0 (all is well) to 1: the share of hosts and pages that are ill. */
  readonly illness: number
  /** Whether things change with time: robots.txt, links, hosts that go down and come back. */
  readonly changing: boolean
  readonly traps: boolean
  /** Hosts refuse with 429 and 503 now and then. */
  readonly storms: boolean
  /** How many names an address has, about. */
  readonly namesPerAddress: number
  /** The share of hosts that take many seconds to answer. */
  readonly slowHosts: number
}

const HOUR_MS = 3_600_000

export function makeWeb(wishes: WebWishes, rng: Rng): WebSpec {
  const names = Array.from({ length: wishes.hosts }, (_, index) => hostName(index, rng))
  const origins = names.map((name) => originsOf(name, rng))
  const sizes = shares(wishes.hosts, wishes.pages, rng)
  const paths = sizes.map((size) => Array.from({ length: size }, (_, index) => pathOf(index, rng)))
  const anyPage = (host: number): string => {
    const own = paths[host] ?? []
    return (origins[host]?.[0] ?? '') + (own[rng.int(own.length)] ?? '/')
  }
  const hosts = names.map((name, index): HostSpec => {
    const hasTrap = wishes.traps && rng.next() < 0.3
    const own = origins[index] ?? []
    const main = own[0] as Origin
    const pages = new Map<string, PageSpec>()
    const list = paths[index] ?? []
    list.forEach((path, at) => {
      const links = linksOf(at, list, hasTrap)
      const origin = own.length > 1 && at > 0 && rng.next() < 0.3 ? (own[1] as Origin) : main
      const answer =
        at === 0 ? ({ kind: 'html' } as const) : pageAnswer(wishes, rng, () => anyPage(rng.int(wishes.hosts)))
      const changed = wishes.changing && rng.next() < 0.1
      pages.set(origin + path, {
        answer,
        links,
        ...(changed ? { laterLinks: [...links.slice(1), anyPage(index)] } : {}),
      })
      // The same path on the other origin leads there, as a site that moved to https does.
      if (origin !== main && !pages.has(main + path)) {
        pages.set(main + path, { answer: { kind: 'redirect', status: 301, to: origin + path }, links: [] })
      }
    })
    const sitemaps = sitemapsOf(main, list, rng)
    return {
      name,
      origins: own,
      address: `192.0.2.${1 + Math.floor((index * 7) % Math.max(1, wishes.hosts / wishes.namesPerAddress))}`,
      ...(wishes.changing && rng.next() < 0.15 ? { laterAddress: `192.0.2.${1 + rng.int(wishes.hosts)}` } : {}),
      state: hostState(wishes, rng),
      flapMs: 30_000 + rng.int(HOUR_MS),
      wireMs: 1 + rng.int(40),
      thinkMs: rng.next() < wishes.slowHosts ? 2_000 + rng.int(9_000) : 5 + rng.int(150),
      spread: 0.1 + 0.8 * rng.next(),
      changesAtMs: wishes.changing ? rng.int(2 * HOUR_MS) : 0,
      storms: wishes.storms && rng.next() < 0.4 ? stormsOf(rng) : [],
      robots: new Map(own.map((origin) => [origin, robotsOf(origin, sitemaps, wishes, rng, names)])),
      pages,
      sitemaps,
      hasTrap,
    }

    function linksOf(at: number, list: readonly string[], withTrap: boolean): string[] {
      const links: string[] = []
      // A tree, so that everything can be reached, and some links across it.
      for (const child of [2 * at + 1, 2 * at + 2]) if (child < list.length) links.push(list[child] as string)
      for (let extra = rng.int(3); extra > 0; extra--) links.push(list[rng.int(list.length)] as string)
      if (rng.next() < 0.25) links.push(anyPage(rng.int(wishes.hosts)))
      if (rng.next() < 0.05) links.push(`${list[0]}#part`, 'mailto:somebody@example.test')
      if (rng.next() < 0.05) links.push(`https://outside-${rng.int(3)}.example/`)
      if (at === 0) links.push(anyPage((index + 1) % wishes.hosts))
      if (withTrap && rng.next() < 0.2) links.push('/trap/1')
      return links
    }
  })
  const seedCount = 1 + rng.int(Math.max(1, Math.ceil(wishes.hosts / 2)))
  const seeds = hosts.slice(0, seedCount).map((host) => `${host.origins[0]}/`)
  return { hosts, seeds }
}

function hostName(index: number, rng: Rng): string {
  const site = `site${rng.next() < 0.4 ? Math.floor(index / 3) : index}`
  return rng.next() < 0.3 ? `h${index}.${site}.test` : `www${index}.${site}.test`
}

function originsOf(name: string, rng: Rng): Origin[] {
  const draw = rng.next()
  if (draw < 0.75) return [`https://${name}` as Origin]
  if (draw < 0.9) return [`https://${name}` as Origin, `http://${name}` as Origin]
  return [`https://${name}` as Origin, `https://${name}:8443` as Origin]
}

/** Sizes by a power law: the first host has most of the pages. */
function shares(hosts: number, pages: number, rng: Rng): number[] {
  const weights = Array.from({ length: hosts }, (_, index) => 1 / (1 + index) ** (0.6 + 0.6 * rng.next()))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  return weights.map((weight) => Math.max(1, Math.round((pages * weight) / total)))
}

const FOLDERS = ['/', '/a/', '/docs/', '/private/', '/private/open/', '/old/']

function pathOf(index: number, rng: Rng): string {
  return index === 0 ? '/' : `${FOLDERS[rng.int(FOLDERS.length)]}p${index}${rng.next() < 0.1 ? `?q=${index}` : ''}`
}

function hostState(wishes: WebWishes, rng: Rng): HostSpec['state'] {
  if (rng.next() >= wishes.illness * 0.6) return 'up'
  const states = ['down', 'nameless', 'silent', wishes.changing ? 'flapping' : 'down'] as const
  return states[rng.int(states.length)] as HostSpec['state']
}

function pageAnswer(wishes: WebWishes, rng: Rng, anyPage: () => string): PageAnswer {
  const draw = rng.next()
  if (draw < 0.05) return { kind: 'redirect', status: 301 + rng.int(2), to: anyPage() }
  if (draw < 0.07) return { kind: 'redirect', status: 302, to: 'https://outside-1.example/gone' }
  if (draw < 0.09) return { kind: 'html', nofollow: true }
  if (draw < 0.11) return { kind: 'text' }
  if (rng.next() >= wishes.illness) return { kind: 'html' }
  const answers: PageAnswer[] = [
    { kind: 'status', status: 404 },
    { kind: 'status', status: 500 },
    { kind: 'flaky', status: 500, times: 1 + rng.int(2) },
    { kind: 'flaky', status: 'reset', times: 1 + rng.int(2) },
    { kind: 'status', status: 410 },
    { kind: 'redirect', status: 302, to: '/loop/1' },
    { kind: 'redirect', status: 302, to: '' },
    { kind: 'ill' },
    { kind: 'hang' },
    { kind: 'reset' },
  ]
  return answers[rng.int(answers.length)] as PageAnswer
}

export function retryAfterOf(rng: Rng): RetryAfter {
  const kinds: RetryAfter[] = [
    { kind: 'none' },
    { kind: 'seconds', seconds: 1 + rng.int(30) },
    { kind: 'seconds', seconds: 60 + rng.int(600) },
    { kind: 'seconds', seconds: 0 },
    { kind: 'seconds', seconds: 9_999_999_999 },
    { kind: 'date', inMs: 1_000 + rng.int(120_000) },
    { kind: 'date', inMs: -rng.int(100_000_000) },
    { kind: 'text', text: 'soon' },
    { kind: 'text', text: '-5' },
    { kind: 'text', text: '1.5' },
    { kind: 'text', text: '1e3' },
  ]
  // The absurd one costs a simulated day, so it is rare.
  const index = rng.int(kinds.length)
  return index === 4 && rng.next() < 0.7 ? (kinds[1] as RetryAfter) : (kinds[index] as RetryAfter)
}

function stormsOf(rng: Rng): Storm[] {
  const storms: Storm[] = []
  let from = rng.int(8)
  for (let count = 1 + rng.int(3); count > 0; count--) {
    const requests = 1 + rng.int(3)
    storms.push({ fromRequest: from, requests, status: rng.next() < 0.5 ? 429 : 503, retryAfter: retryAfterOf(rng) })
    from += requests + rng.int(6)
  }
  return storms
}

function robotsOf(
  origin: Origin,
  sitemaps: HostSpec['sitemaps'],
  wishes: WebWishes,
  rng: Rng,
  names: readonly string[],
): RobotsSpec {
  const answer = (): RobotsAnswer => {
    const draw = rng.next()
    if (draw < 0.65) return { kind: 'rules', rules: rulesOf(origin, sitemaps, rng) }
    if (draw < 0.85) return { kind: 'status', status: 404 - rng.int(4) }
    if (draw < 0.92) return { kind: 'redirect', to: redirectOf(rng, names) }
    return { kind: 'rules', rules: { disallow: ['/'], allow: ['/$never'], sitemaps: [] } }
  }
  const illAnswer = (): RobotsAnswer => {
    const answers: RobotsAnswer[] = [
      { kind: 'status', status: 500 },
      { kind: 'status', status: 503, retryAfter: retryAfterOf(rng) },
      { kind: 'status', status: 429, retryAfter: retryAfterOf(rng) },
      { kind: 'hang' },
      { kind: 'reset' },
    ]
    return answers[rng.int(answers.length)] as RobotsAnswer
  }
  const first = rng.next() < wishes.illness * 0.4 ? illAnswer() : answer()
  const versions: { fromMs: number; answer: RobotsAnswer }[] = [{ fromMs: 0, answer: first }]
  if (wishes.changing && rng.next() < 0.5) {
    versions.push({ fromMs: rng.int(HOUR_MS), answer: rng.next() < 0.3 ? illAnswer() : answer() })
  }
  const failing = rng.next() < wishes.illness * 0.4
  return { versions, ...(failing ? { failures: { times: 1 + rng.int(2), answer: illAnswer() } } : {}) }
}

function rulesOf(origin: Origin, sitemaps: HostSpec['sitemaps'], rng: Rng): RobotsRules {
  const disallow = ['/private/', '/a/', '/old/'].filter(() => rng.next() < 0.35)
  const allow = disallow.includes('/private/') && rng.next() < 0.5 ? ['/private/open/'] : []
  const delays = [undefined, undefined, undefined, 0.25, 1, 1.5, 2.75, 5]
  const crawlDelaySeconds = delays[rng.int(delays.length)]
  const named = [...sitemaps.keys()].filter((url) => url.startsWith(`${origin}/`) && url.includes('named'))
  return { disallow, allow, sitemaps: named, ...(crawlDelaySeconds === undefined ? {} : { crawlDelaySeconds }) }
}

/** Chains of `/robots-moved/N` lead on until N is 0; `/robots-moved/9` is longer than anybody follows. */
function redirectOf(rng: Rng, names: readonly string[]): string {
  const path = `/robots-moved/${[0, 1, 3, 4, 9][rng.int(5)]}`
  return rng.next() < 0.4 ? `https://${names[rng.int(names.length)]}${path}` : path
}

function sitemapsOf(origin: Origin, paths: readonly string[], rng: Rng): HostSpec['sitemaps'] {
  const files = new Map<string, { index: boolean; urls: string[] }>()
  const some = (): string[] => paths.filter(() => rng.next() < 0.4).map((path) => origin + path)
  const draw = rng.next()
  if (draw < 0.5) return files
  if (draw < 0.75) files.set(`${origin}/sitemap.xml`, { index: false, urls: some() })
  else {
    files.set(`${origin}/sitemap-named.xml`, {
      index: true,
      urls: [`${origin}/sitemap-2.xml`, `${origin}/sitemap-none.xml`],
    })
    files.set(`${origin}/sitemap-2.xml`, { index: false, urls: some() })
  }
  return files
}
