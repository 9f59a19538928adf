/**
 * The fetcher of a planned crawl: answers as the planned web says, after as long as it says, and lets the machine work
 * for each request. Bodies are as small as their links permit, so that a plan costs little of what the crawl will.
 */
import type { Fetcher, FetchOutcome, FetchRequest, ResponseHeaders } from '../../fetch/index.ts'
import type { NormalizedUrl } from '../../model/index.ts'
import { hostKey } from '../../url/index.ts'
import type { Machine, MachineCosts } from './machine.ts'
import type { PlanClock } from './plan-clock.ts'
import type { AskedAs, PlannedAnswer, PlannedResponse, PlannedWeb } from './planned-web.ts'

/** What a host saw of the planned crawl. Times are clock ms. */
export interface HostVisit {
  requests: number
  pages: number
  lastAnswerAt: number
  /** Sum over its requests, from the start to the last byte. */
  waitedMs: number
}

export interface PlannedFetcher extends Fetcher {
  readonly visits: ReadonlyMap<string, HostVisit>
  readonly requests: number
  /** Decoded bytes of the pages, as they would be. */
  readonly bytes: number
  /** Sum over all requests. */
  readonly waitedMs: number
}

const EMPTY = new Uint8Array()
const LIST_OF_PAGES = '<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'

export function createPlannedFetcher(
  web: PlannedWeb,
  costs: MachineCosts,
  deps: { readonly clock: PlanClock; readonly machine: Machine },
): PlannedFetcher {
  const { clock, machine } = deps
  const visits = new Map<string, HostVisit>()
  /** URLs that were asked before; only those that are asked again are worth remembering, but they are not known. */
  const asked = new Map<string, number>()
  /** Hosts that have asked for their pause. */
  const refused = new Set<string>()
  /** Of hosts whose own is not known. */
  const addresses = new Map<string, string>()
  const addressOf = (url: NormalizedUrl): string => {
    const host = hostKey(url)
    const known = web.addressOf(host) ?? addresses.get(host)
    if (known !== undefined) return known
    const made = `2001:db8::${(addresses.size >>> 16).toString(16)}:${(addresses.size & 0xffff).toString(16)}`
    addresses.set(host, made)
    return made
  }
  let requests = 0
  let pages = 0
  let bytes = 0
  let waitedMs = 0

  const wait = (ms: number): Promise<void> =>
    ms <= 0 ? Promise.resolve() : new Promise((resolve) => void clock.exactly(ms, resolve))

  const visitOf = (url: NormalizedUrl): HostVisit => {
    const host = hostKey(url)
    let visit = visits.get(host)
    if (visit === undefined) visits.set(host, (visit = { requests: 0, pages: 0, lastAnswerAt: 0, waitedMs: 0 }))
    return visit
  }

  const refusalOf = (url: NormalizedUrl): PlannedAnswer | undefined => {
    const host = hostKey(url)
    if (refused.has(host)) return undefined
    const refusal = web.refusalOf(host)
    if (refusal !== undefined) refused.add(host)
    return refusal
  }

  const nextAnswer = (url: NormalizedUrl, as: AskedAs): PlannedAnswer => {
    const n = (asked.get(url) ?? 0) + 1
    asked.set(url, n)
    return web.answer(url, as, n)
  }

  const ask = async (request: FetchRequest, signal?: AbortSignal): Promise<FetchOutcome> => {
    const { url } = request
    const as = askedAs(request)
    const answer = (as === 'page' ? refusalOf(url) : undefined) ?? nextAnswer(url, as)
    const visit = visitOf(url)
    const startedAt = clock.now()
    requests += 1
    visit.requests += 1
    await machine.work(costs.requestMs)
    await wait(answer.answerMs)
    if (signal?.aborted === true) return { kind: 'aborted' }
    const answeredAt = clock.now()
    request.onAnswer?.(answeredAt)
    const isPage = as === 'page' && answer.kind === 'response' && answer.status === 200
    if (answer.kind === 'response') await wait(answer.transferMs)
    const endedAt = clock.now()
    visit.lastAnswerAt = endedAt
    visit.waitedMs += endedAt - startedAt
    waitedMs += endedAt - startedAt
    if (isPage) {
      visit.pages += 1
      pages += 1
      bytes += answer.bytes
      await machine.work(pages <= costs.coldPages / web.shrink ? 2 * costs.pageMs : costs.pageMs)
    }
    return outcomeOf(answer, as, addressOf(url), { startedAt, answeredAt, endedAt })
  }

  return {
    fetch: ask,
    resolve: (url) => Promise.resolve(addressOf(url)),
    close: () => Promise.resolve(),
    stats: { openOrigins: 0 },
    visits,
    get requests() {
      return requests
    },
    get bytes() {
      return bytes
    },
    get waitedMs() {
      return waitedMs
    },
  }
}

function askedAs({ url, accept }: FetchRequest): AskedAs {
  if (url.endsWith('/robots.txt') && url.split('/').length === 4) return 'robots'
  // A sitemap is asked for with an Accept of its own, and a page with the usual one.
  return accept?.startsWith('application/xml') === true ? 'sitemap' : 'page'
}

interface Times {
  readonly startedAt: number
  readonly answeredAt: number
  readonly endedAt: number
}

function outcomeOf(answer: PlannedAnswer, as: AskedAs, address: string, times: Times): FetchOutcome {
  if (answer.kind === 'error') {
    const { code, retryable } = answer
    const { startedAt, answeredAt } = times
    return { kind: 'error', code, detail: 'as planned', retryable, offline: false, sent: true, startedAt, answeredAt }
  }
  const text = bodyOf(answer, as)
  const body = text === '' ? EMPTY : Buffer.from(text)
  return {
    kind: 'response',
    status: answer.status,
    headers: headersOf(answer, as, text),
    body,
    wireBytes: body.length,
    truncated: false,
    limits: [],
    ...times,
    address,
    protocol: 'http/1.1',
  }
}

function headersOf(answer: PlannedResponse, as: AskedAs, text: string): ResponseHeaders {
  const fields: Record<string, string> = {
    // A page that leads nowhere need not be read at all.
    'content-type': as === 'robots' ? 'text/plain' : text === '' ? 'application/octet-stream' : 'text/html',
    ...(answer.location === undefined ? {} : { location: answer.location }),
    ...(answer.retryAfterSeconds === undefined ? {} : { 'retry-after': String(answer.retryAfterSeconds) }),
  }
  return {
    get: (name) => fields[name.toLowerCase()] ?? null,
    all: (name) => [fields[name.toLowerCase()] ?? []].flat(),
  }
}

function bodyOf(answer: PlannedResponse, as: AskedAs): string {
  if (answer.status !== 200) return ''
  if (as === 'robots') {
    const delayMs = answer.crawlDelayMs ?? 0
    return delayMs === 0 ? '' : `User-agent: *\nCrawl-delay: ${delayMs / 1_000}\n`
  }
  if (answer.links.length === 0) return ''
  if (as === 'sitemap') {
    return `${LIST_OF_PAGES}${answer.links.map((link) => `<url><loc>${escape(link)}</loc></url>`).join('')}</urlset>`
  }
  return answer.links.map((link) => `<a href="${escape(link)}"></a>`).join('')
}

function escape(url: string): string {
  return url.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
}
