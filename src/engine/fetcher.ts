/** The fetcher that settings ask for: the same for a crawl and for a single visit. */
import type { Clock } from '../base/index.ts'
import type { Settings } from '../config/index.ts'
import { createFetcher, type Fetcher, type FetcherOptions } from '../fetch/index.ts'
import { SITEMAP_MAX_DECODED_BYTES } from '../parse/index.ts'

export function createFetcherOf(
  settings: Settings,
  deps: { readonly clock: Clock; readonly lookup?: FetcherOptions['lookup'] },
): Fetcher {
  return createFetcher(
    {
      userAgent: settings.userAgent,
      timeouts: {
        connectMs: settings.connectTimeoutMs,
        readMs: settings.readTimeoutMs,
        totalMs: settings.timeoutMs,
      },
      maxBodyBytes: settings.maxBodyBytes,
      // A sitemap may be larger than a page.
      maxWireBytes: Math.max(settings.maxBodyBytes, SITEMAP_MAX_DECODED_BYTES),
      connectionsPerOrigin: Math.max(settings.perHost, ...settings.sites.map((site) => site.concurrency ?? 1)),
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
