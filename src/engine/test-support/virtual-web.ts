/** A fetcher for the virtual clock: every host has what the test says, each request takes as long as it says. */
import type { Clock } from '../../base/index.ts'
import type { Fetcher, FetchResponse, ResponseHeaders } from '../../fetch/index.ts'

export interface VirtualRequest {
  readonly url: string
  readonly at: number
  /** How it ended, as far as it has. */
  outcome?: 'answered' | 'aborted'
}

export interface VirtualWeb {
  readonly fetcher: Fetcher
  readonly requests: VirtualRequest[]
}

const NO_HEADERS: ResponseHeaders = { get: () => null, all: () => [] }

/** `pages`: HTML by URL; anything else is answered 404. `takesMs`: how long the answer to a URL takes; 0 unless given. */
export function createVirtualWeb(
  clock: Clock,
  pages: Readonly<Record<string, string>>,
  takesMs: (url: string) => number = () => 0,
): VirtualWeb {
  const requests: VirtualRequest[] = []
  const html: ResponseHeaders = {
    get: (name) => (name === 'content-type' ? 'text/html' : null),
    all: (name) => (name === 'content-type' ? ['text/html'] : []),
  }
  const fetcher: Fetcher = {
    async fetch({ url, onAnswer }, signal) {
      const request: VirtualRequest = { url, at: clock.now() }
      requests.push(request)
      try {
        await clock.sleepUntil(request.at + takesMs(url), signal)
      } catch {
        request.outcome = 'aborted'
        return { kind: 'aborted' }
      }
      request.outcome = 'answered'
      const body = pages[url]
      const answeredAt = clock.now()
      onAnswer?.(answeredAt)
      const response: FetchResponse = {
        kind: 'response',
        status: body === undefined ? 404 : 200,
        headers: body === undefined ? NO_HEADERS : html,
        body: Buffer.from(body ?? ''),
        wireBytes: body?.length ?? 0,
        truncated: false,
        limits: [],
        startedAt: request.at,
        answeredAt,
        endedAt: answeredAt,
        address: '192.0.2.1',
        protocol: 'http/1.1',
      }
      return response
    },
    resolve: async () => '192.0.2.1',
    close: async () => {},
    stats: { openOrigins: 0 },
  }
  return { fetcher, requests }
}

export const linksTo = (...urls: string[]): string =>
  `<title>page</title>${urls.map((url) => `<a href="${url}">${url}</a>`).join('')}`
