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

function referencesOf(html) {
  return Array.from(html.matchAll(/<a\s[^>]*?href="([^"]*)"/gi), ([, href]) => href.replaceAll('&amp;', '&'))
}

/** Without what leads elsewhere, and each once: for URLs that it is given, `enqueueLinks` takes what comes. */
function siftedLinksOf(html, base) {
  const { origin } = new URL(base)
  const found = new Set()
  for (const reference of referencesOf(html)) {
    const link = URL.parse(reference, base)
    if (link?.origin === origin) found.add(link.origin + link.pathname + link.search)
  }
  return [...found]
}

const toEnqueue =
  kind === 'unsifted'
    ? (html, base) => ({ urls: referencesOf(html), baseUrl: base, strategy: 'same-hostname' })
    : (html, base) => ({ urls: siftedLinksOf(html, base) })

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
            enqueueLinks(toEnqueue(body.toString(), request.loadedUrl)),
        },
        configuration,
      )
await crawler.run([url])
