/** What a simulated web is made of, as plain data: hosts, what their robots.txt says, and how each page answers. */
import type { Origin } from '../model/index.ts'

export type RetryAfter =
  | { readonly kind: 'none' }
  | { readonly kind: 'seconds'; readonly seconds: number }
  /** An HTTP date so far from the moment of the answer; below zero it is in the past. */
  | { readonly kind: 'date'; readonly inMs: number }
  /** Anything else, sent as it is. */
  | { readonly kind: 'text'; readonly text: string }

export type PageAnswer =
  | { readonly kind: 'html'; readonly nofollow?: true }
  | { readonly kind: 'text' }
  | { readonly kind: 'status'; readonly status: number }
  /** Fails so often, with a status or a broken connection, then answers. */
  | { readonly kind: 'flaky'; readonly status: number | 'reset'; readonly times: number }
  | { readonly kind: 'redirect'; readonly status: number; readonly to: string }
  /** 503 for ever, although its host is well. */
  | { readonly kind: 'ill' }
  /** Never answers. */
  | { readonly kind: 'hang' }
  /** Breaks off, every time. */
  | { readonly kind: 'reset' }

export interface PageSpec {
  readonly answer: PageAnswer
  /** As written in the page: absolute or relative. */
  readonly links: readonly string[]
  /** The links from the host's `changesAtMs` on. */
  readonly laterLinks?: readonly string[]
  readonly life?: PageLife
}

/** How a page changes with time. All times are whole seconds, so that a date in a header says them exactly. */
export interface PageLife {
  /** It says something else every so often; Infinity: never. */
  readonly periodMs: number
  /** What it can be recognised by: a conditional request is answered with 304 while it is the same. */
  readonly validator: 'etag' | 'date' | 'none'
  /** From and until when, after the beginning of the world, it is not there. */
  readonly gone?: { readonly fromMs: number; readonly untilMs: number; readonly status: 404 | 410 }
}

/** Which edition of itself a page is at a time after the beginning of the world, and since when; undefined: it is gone. */
export function editionAt(life: PageLife, sinceStartMs: number): { number: number; sinceMs: number } | undefined {
  const { periodMs, gone } = life
  if (gone !== undefined && sinceStartMs >= gone.fromMs && sinceStartMs < gone.untilMs) return undefined
  const number = Math.floor(sinceStartMs / periodMs)
  return { number, sinceMs: number === 0 ? 0 : number * periodMs }
}

export interface RobotsRules {
  /** Path prefixes; the longest that matches decides, and Allow wins among equals. */
  readonly disallow: readonly string[]
  readonly allow: readonly string[]
  readonly crawlDelaySeconds?: number
  readonly sitemaps: readonly string[]
}

export type RobotsAnswer =
  | { readonly kind: 'rules'; readonly rules: RobotsRules }
  | { readonly kind: 'status'; readonly status: number; readonly retryAfter?: RetryAfter }
  | { readonly kind: 'redirect'; readonly to: string }
  | { readonly kind: 'hang' }
  | { readonly kind: 'reset' }

export interface RobotsSpec {
  /** Answers in order of time; each holds from its `fromMs` after the beginning of the world. The first is at 0. */
  readonly versions: readonly { readonly fromMs: number; readonly answer: RobotsAnswer }[]
  /** The first so many requests get this instead. */
  readonly failures?: { readonly times: number; readonly answer: RobotsAnswer }
}

/** Refusals of a whole host: so many requests in a row, counted from the first, whatever they ask for but robots.txt. */
export interface Storm {
  readonly fromRequest: number
  readonly requests: number
  readonly status: 429 | 503
  readonly retryAfter: RetryAfter
}

export interface HostSpec {
  readonly name: string
  readonly origins: readonly Origin[]
  readonly address: string
  /** The address from `changesAtMs` on. */
  readonly laterAddress?: string
  /** `down`: nothing listens. `nameless`: no such name. `silent`: accepts and never answers. `flapping`: down every other period. */
  readonly state: 'up' | 'down' | 'nameless' | 'silent' | 'flapping'
  readonly flapMs: number
  /** One way to the host, and one way back. */
  readonly wireMs: number
  /** What it takes to answer: a lognormal time around this. */
  readonly thinkMs: number
  readonly spread: number
  readonly changesAtMs: number
  readonly storms: readonly Storm[]
  readonly robots: ReadonlyMap<Origin, RobotsSpec>
  /** By origin and path, with the query. */
  readonly pages: ReadonlyMap<string, PageSpec>
  /** Sitemap files: what they name, and whether they name sitemaps. */
  readonly sitemaps: ReadonlyMap<string, { readonly index: boolean; readonly urls: readonly string[] }>
  /** `/trap/N` leads to the next ones, for ever. */
  readonly hasTrap: boolean
}

export interface WebSpec {
  readonly hosts: readonly HostSpec[]
  /** Front pages of some hosts. */
  readonly seeds: readonly string[]
}

/** The version of a robots.txt that holds at this time. */
export function robotsAt(spec: RobotsSpec, sinceStartMs: number): RobotsAnswer {
  let answer = spec.versions[0]?.answer ?? { kind: 'status', status: 404 }
  for (const version of spec.versions) if (version.fromMs <= sinceStartMs) answer = version.answer
  return answer
}

/** Whether these rules permit a path: the longest prefix decides, and nothing is permitted by default but all. */
export function permits(rules: RobotsRules, path: string): boolean {
  if (path === '/robots.txt') return true
  const longest = (prefixes: readonly string[]): number =>
    prefixes.reduce((best, prefix) => (path.startsWith(prefix) ? Math.max(best, prefix.length) : best), -1)
  return longest(rules.allow) >= longest(rules.disallow)
}

/** The robots.txt as text. */
export function robotsText(rules: RobotsRules): string {
  return [
    'User-agent: *',
    ...rules.disallow.map((prefix) => `Disallow: ${prefix}`),
    ...rules.allow.map((prefix) => `Allow: ${prefix}`),
    ...(rules.crawlDelaySeconds === undefined ? [] : [`Crawl-delay: ${rules.crawlDelaySeconds}`]),
    '',
    ...rules.sitemaps.map((url) => `Sitemap: ${url}`),
    '',
  ].join('\n')
}

const TRAP = /^\/trap\/(\d{1,9})$/

export const isTrap = (path: string): boolean => TRAP.test(path)

/** The page that a trap makes of its number. All of them say the same. */
export function trapPage(path: string): PageSpec | undefined {
  const match = TRAP.exec(path)
  if (match === null) return undefined
  const number = Number(match[1])
  return { answer: { kind: 'html' }, links: [`/trap/${number + 1}`, `/trap/${2 * number + 3}`, '/'] }
}
