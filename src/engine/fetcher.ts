/**
 * The fetcher that settings ask for: the same for a crawl and for a single visit. Only here are secrets taken from the
 * environment; one that is missing is a usage error.
 */
import { LIMITS } from '../model/index.ts'
import type { Clock } from '../base/index.ts'
import { headersInForce, type Environment, type Settings } from '../config/index.ts'
import { createFetcher, type Fetcher, type FetcherOptions } from '../fetch/index.ts'

export function createFetcherOf(
  settings: Settings,
  deps: {
    readonly clock: Clock
    readonly lookup?: FetcherOptions['lookup']
    /** Where the variables are that headers name. Default: that of the process. */
    readonly environment?: Environment
  },
): Fetcher {
  return createFetcher(
    {
      userAgent: settings.userAgent,
      timeouts: {
        connectMs: settings.connectTimeoutMs,
        readMs: settings.readTimeoutMs,
        totalMs: settings.timeoutMs,
      },
      minRateBytes: settings.minRateBytes,
      maxBodyBytes: settings.maxBodyBytes,
      // A sitemap may be larger than a page.
      maxWireBytes: Math.max(settings.maxBodyBytes, LIMITS['wire-size'].value),
      connectionsPerOrigin: Math.max(settings.perHost, ...settings.sites.map((site) => site.concurrency ?? 1)),
      cookies: settings.cookies,
      headers: headersInForce(settings.headers, deps.environment ?? process.env),
      allowAddresses: settings.allowAddresses,
      resolve: settings.resolve.map(({ host, port, address }) => resolveFlag(host, port, address)),
      ...(deps.lookup === undefined ? {} : { lookup: deps.lookup }),
    },
    { clock: deps.clock },
  )
}

function resolveFlag(host: string, port: number, address: string): string {
  return `${host}:${port}:${address.includes(':') ? `[${address}]` : address}`
}
