/**
 * The simulated web at work: what arrives at a host, what it answers and when. Its log, in the time of the world, is
 * the truth that the checkers judge by; it knows nothing of leases, policies or the crawler.
 */
import type { Rng } from '../base/index.ts'
import {
  editionAt,
  isTrap,
  robotsAt,
  robotsText,
  trapPage,
  type HostSpec,
  type PageLife,
  type PageSpec,
  type RetryAfter,
  type RobotsAnswer,
  type RobotsRules,
  type WebSpec,
} from './web-spec.ts'
import { onGrid, WORLD_START, type SimProcess } from './world.ts'

export type VisitKind = 'robots' | 'sitemap' | 'page'

/** One request, from its start to its end. Times are the world's. */
export interface Visit {
  readonly serial: number
  readonly process: SimProcess
  readonly host: WebHost
  readonly url: string
  readonly path: string
  readonly origin: string
  readonly kind: VisitKind
  readonly startedAt: number
  /** How often its process had been frozen when it started; -1 when it was sent in the very moment of being frozen. */
  readonly freezes: number
  /** When it came to the host; undefined before, and for ever if it never does. */
  arrivedAt: number | undefined
  /** When the host sent the first byte. */
  answeredAt: number | undefined
  /** When the crawler had the first byte, the failure, or gave up. */
  heardAt: number | undefined
  /** The answer began, and never ended. */
  brokeOff: boolean
  over: boolean
}

export interface WebHost {
  readonly spec: HostSpec
  readonly index: number
  /** Requests that arrived, but for robots.txt. */
  requests: number
  readonly asked: Map<string, number>
}

/** What a host does about a request that has arrived. */
export type Reaction =
  | {
      readonly kind: 'answer'
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly body: string
      readonly thinkMs: number
      readonly bodyMs: number
      /** For a robots.txt that says something: what. */
      readonly rules?: RobotsRules
      readonly retryAfter?: RetryAfter
      /** For a page whose text changes: which edition of it was sent, or is still the right one. */
      readonly edition?: number
    }
  | { readonly kind: 'reset'; readonly thinkMs: number }
  | { readonly kind: 'refuse' }
  | { readonly kind: 'hang' }

/** Hears of everything, in order. */
export interface WebObserver {
  started?(visit: Visit): void
  arrived?(visit: Visit): void
  answered?(visit: Visit, reaction: Reaction): void
  /** The crawler knows: the first byte, a failure, or that it gave up waiting. */
  heard?(visit: Visit, reaction: Reaction | undefined): void
  ended?(visit: Visit): void
}

export type RequestHeaders = Readonly<Record<string, string>>

export interface Web {
  readonly spec: WebSpec
  host(name: string): WebHost | undefined
  /** What the host does about a request that arrives at this time. Names of headers are in lower case. */
  react(host: WebHost, url: string, path: string, at: number, headers: RequestHeaders): Reaction
  /** True when nothing listens at this time. */
  isDown(host: WebHost, at: number): boolean
  addressOf(host: WebHost, at: number): string
  readonly rng: Rng
  readonly observers: WebObserver[]
}

export function createWeb(spec: WebSpec, rng: Rng): Web {
  const hosts = new Map<string, WebHost>(
    spec.hosts.map((host, index) => [host.name, { spec: host, index, requests: 0, asked: new Map() }]),
  )

  const lognormal = (median: number, spread: number): number => {
    const u = Math.max(rng.next(), 1e-9)
    const normal = Math.sqrt(-2 * Math.log(u)) * Math.cos(2 * Math.PI * rng.next())
    return onGrid(Math.min(median * Math.exp(spread * normal), 120_000))
  }

  const isDown = (host: WebHost, at: number): boolean => {
    if (host.spec.state === 'down') return true
    if (host.spec.state !== 'flapping') return false
    return Math.floor((at - WORLD_START) / host.spec.flapMs) % 2 === 1
  }

  const answer = (
    host: WebHost,
    status: number,
    body: string,
    headers: Readonly<Record<string, string>>,
    more: { rules?: RobotsRules; retryAfter?: RetryAfter; edition?: number } = {},
  ): Reaction => ({
    kind: 'answer',
    status,
    headers,
    body,
    thinkMs: lognormal(host.spec.thinkMs, host.spec.spread),
    bodyMs: rng.next() < 0.1 ? onGrid(rng.next() * 400) : 0,
    ...more,
  })

  const refusal = (host: WebHost, status: number, retryAfter: RetryAfter, at: number): Reaction => {
    const value = retryAfterText(retryAfter, at)
    return answer(host, status, 'later', value === undefined ? {} : { 'retry-after': value }, { retryAfter })
  }

  const robots = (host: WebHost, reply: RobotsAnswer, at: number): Reaction => {
    switch (reply.kind) {
      case 'rules':
        return answer(host, 200, robotsText(reply.rules), { 'content-type': 'text/plain' }, { rules: reply.rules })
      case 'status':
        return refusal(host, reply.status, reply.retryAfter ?? { kind: 'none' }, at)
      case 'redirect':
        return answer(host, 302, '', { location: reply.to })
      case 'hang':
        return { kind: 'hang' }
      case 'reset':
        return { kind: 'reset', thinkMs: lognormal(host.spec.thinkMs, 0.3) }
    }
  }

  /** A page that changes: not there, still the same as the one asked for, or its edition of now. */
  const lively = (
    host: WebHost,
    life: PageLife,
    at: number,
    headers: RequestHeaders,
    body: (edition: number) => string,
  ): Reaction => {
    const edition = editionAt(life, at - WORLD_START)
    if (edition === undefined) return answer(host, life.gone?.status ?? 404, 'gone', { 'content-type': 'text/plain' })
    const { number, sinceMs } = edition
    const etag = `"edition-${number}"`
    const validators: Record<string, string> =
      life.validator === 'etag'
        ? { etag }
        : life.validator === 'date'
          ? { 'last-modified': new Date(WORLD_START + sinceMs).toUTCString() }
          : {}
    validators['date'] = new Date(at).toUTCString()
    const isSame =
      (life.validator === 'etag' && headers['if-none-match'] === etag) ||
      (life.validator === 'date' && Date.parse(headers['if-modified-since'] ?? '') >= WORLD_START + sinceMs)
    if (isSame) return answer(host, 304, '', validators, { edition: number })
    return answer(host, 200, body(number), { 'content-type': 'text/html', ...validators }, { edition: number })
  }

  const page = (
    host: WebHost,
    url: string,
    found: PageSpec,
    at: number,
    times: number,
    headers: RequestHeaders,
  ): Reaction => {
    const { answer: how, life } = found
    const changed = found.laterLinks !== undefined && at - WORLD_START >= host.spec.changesAtMs
    const links = changed ? (found.laterLinks ?? []) : found.links
    const html = (): Reaction =>
      life === undefined
        ? answer(host, 200, htmlOf(url, links, how, 0), { 'content-type': 'text/html' })
        : lively(host, life, at, headers, (edition) => htmlOf(url, links, how, edition))
    switch (how.kind) {
      case 'html':
        return html()
      case 'text':
        return answer(host, 200, `This is ${url}.\n`, { 'content-type': 'text/plain; charset=utf-8' })
      case 'status':
        return answer(host, how.status, 'no', { 'content-type': 'text/plain' })
      case 'flaky':
        if (times >= how.times) return html()
        if (how.status === 'reset') return { kind: 'reset', thinkMs: lognormal(host.spec.thinkMs, 0.3) }
        return answer(host, how.status, 'not now', {})
      case 'redirect':
        return answer(host, how.status, '', how.to === '' ? {} : { location: how.to })
      case 'ill':
        return refusal(host, 503, { kind: 'none' }, at)
      case 'hang':
        return { kind: 'hang' }
      case 'reset':
        return { kind: 'reset', thinkMs: lognormal(host.spec.thinkMs, 0.3) }
    }
  }

  return {
    spec,
    rng,
    observers: [],
    host: (name) => hosts.get(name),
    isDown,
    addressOf: ({ spec }, at) =>
      at - WORLD_START >= spec.changesAtMs ? (spec.laterAddress ?? spec.address) : spec.address,
    react(host, url, path, at, headers) {
      if (isDown(host, at)) return { kind: 'refuse' }
      if (host.spec.state === 'silent') return { kind: 'hang' }
      const times = host.asked.get(url) ?? 0
      host.asked.set(url, times + 1)
      const origin = url.slice(0, url.length - path.length)
      if (path === '/robots.txt') {
        const spec = host.spec.robots.get(origin as never)
        if (spec === undefined) return answer(host, 404, 'none', {})
        const { failures } = spec
        return robots(
          host,
          failures !== undefined && times < failures.times ? failures.answer : robotsAt(spec, at - WORLD_START),
          at,
        )
      }
      const moved = /^\/robots-moved\/(\d)$/.exec(path)
      if (moved !== null) return robots(host, movedRobots(Number(moved[1])), at)
      const number = host.requests++
      const storm = host.spec.storms.find(
        ({ fromRequest, requests }) => number >= fromRequest && number < fromRequest + requests,
      )
      if (storm !== undefined) return refusal(host, storm.status, storm.retryAfter, at)
      const sitemap = host.spec.sitemaps.get(url)
      if (sitemap !== undefined) {
        const text = sitemapText(sitemap, (page) => modifiedAt(host, page, at))
        return answer(host, 200, text, { 'content-type': 'application/xml' })
      }
      const loop = /^\/loop\/(\d)$/.exec(path)
      if (loop !== null) return answer(host, 302, '', { location: `/loop/${(Number(loop[1]) % 3) + 1}` })
      const found = host.spec.pages.get(url) ?? (host.spec.hasTrap ? trapPage(path) : undefined)
      return found === undefined ? answer(host, 404, 'none', {}) : page(host, url, found, at, times, headers)
    },
  }
}

/** What stands at the end of a chain of robots.txt redirects, wherever it is. */
export const MOVED_RULES: RobotsRules = { disallow: ['/old/'], allow: [], crawlDelaySeconds: 0.5, sitemaps: [] }

export function movedRobots(left: number): RobotsAnswer {
  return left === 0 ? { kind: 'rules', rules: MOVED_RULES } : { kind: 'redirect', to: `/robots-moved/${left - 1}` }
}

function retryAfterText(retryAfter: RetryAfter, at: number): string | undefined {
  switch (retryAfter.kind) {
    case 'none':
      return undefined
    case 'seconds':
      return String(retryAfter.seconds)
    case 'date':
      return new Date(at + retryAfter.inMs).toUTCString()
    case 'text':
      return retryAfter.text
  }
}

function htmlOf(url: string, links: readonly string[], how: PageSpec['answer'], edition: number): string {
  const robots = how.kind === 'html' && how.nofollow === true ? '<meta name="robots" content="nofollow">' : ''
  const path = url.slice(url.indexOf('/', 8))
  // Pages of a trap are the same to the letter, wherever they lead.
  const isOneOfMany = isTrap(path)
  const anchors = links.map((link) => `<a href="${link}">to ${isOneOfMany ? 'another' : link}</a>`).join('\n')
  const text = isOneOfMany ? proseOf(url.slice(0, -path.length)) : `This is ${url}. ${proseOf(`${url} ${edition}`)}`
  const title = isOneOfMany ? 'One of many' : url
  return `<!doctype html><html><head><title>${title}</title>${robots}</head><body><p>${text}</p>${anchors}</body></html>`
}

const SYLLABLES = [
  'ba',
  'dor',
  'fen',
  'gil',
  'ha',
  'kum',
  'lis',
  'mo',
  'nar',
  'pel',
  'ro',
  'sun',
  'ta',
  'vik',
  'wo',
  'zem',
]
const PROSE_WORDS = 24

/** Words that no other subject has in this order, and hardly any of them at all. */
function proseOf(subject: string): string {
  let state = 0x811c9dc5
  for (let index = 0; index < subject.length; index++) state = Math.imul(state ^ subject.charCodeAt(index), 0x01000193)
  const words = Array.from({ length: PROSE_WORDS }, () => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x6d2b79f5
    const syllable = (shift: number): string => SYLLABLES[(state >>> shift) & 15] as string
    return syllable(3) + syllable(11) + syllable(19)
  })
  return `${words.join(' ')}.`
}

function sitemapText(
  sitemap: { readonly index: boolean; readonly urls: readonly string[] },
  modified: (url: string) => number | undefined,
): string {
  const [outer, inner] = sitemap.index ? ['sitemapindex', 'sitemap'] : ['urlset', 'url']
  const entries = sitemap.urls.map((url) => {
    const at = modified(url)
    const lastmod = at === undefined ? '' : `<lastmod>${new Date(at).toISOString()}</lastmod>`
    return `<${inner}><loc>${url}</loc>${lastmod}</${inner}>`
  })
  return `<?xml version="1.0"?><${outer} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${entries.join('')}</${outer}>`
}

/** When the edition of now began, for a page that changes and is there. */
function modifiedAt({ spec }: WebHost, url: string, at: number): number | undefined {
  const life = spec.pages.get(url)?.life
  const edition = life === undefined ? undefined : editionAt(life, at - WORLD_START)
  return edition === undefined ? undefined : WORLD_START + edition.sinceMs
}
