/**
 * A crawler of one host by Crawlee. Started by crawlee.ts with the folder of the modules, the kind of crawler, where
 * its queue is, URL and concurrency.
 */
import { createRequire } from 'node:module'
import { join } from 'node:path'

const [modules, kind, store, url, concurrency] = process.argv.slice(2)
const load = createRequire(join(modules, 'package.json'))
const { Configuration, HttpCrawler } = load('@crawlee/http')
const { CheerioCrawler } = load('@crawlee/cheerio')

const options = {
  minConcurrency: Number(concurrency),
  maxConcurrency: Number(concurrency),
  respectRobotsTxtFile: true,
  useSessionPool: false,
}
const configuration = new Configuration({ persistStorage: store === 'disk' })

/** Other hosts and other schemes are left out here: for URLs that it is given, `enqueueLinks` takes what comes. */
function linksOf(html, base) {
  const { origin } = new URL(base)
  const found = new Set()
  for (const [, href] of html.matchAll(/<a\s[^>]*?href="([^"]*)"/gi)) {
    const link = URL.parse(href.replaceAll('&amp;', '&'), base)
    if (link?.origin === origin) found.add(link.origin + link.pathname + link.search)
  }
  return [...found]
}

const crawler =
  kind === 'cheerio'
    ? new CheerioCrawler(
        { ...options, requestHandler: ({ enqueueLinks }) => enqueueLinks({ strategy: 'same-hostname' }) },
        configuration,
      )
    : new HttpCrawler(
        {
          ...options,
          requestHandler: ({ body, request, enqueueLinks }) =>
            enqueueLinks({ urls: linksOf(body.toString(), request.loadedUrl) }),
        },
        configuration,
      )
await crawler.run([url])
