/**
 * What there is to find on the site: every page that `a` and `area` elements lead to from the first one, by parse5 and
 * WHATWG's `URL`, as far as robots.txt allows. It shares no code with any crawler here. Found once, then kept in the
 * folder, since parse5 needs a minute for it.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defaultTreeAdapter, parse, type DefaultTreeAdapterTypes } from 'parse5'
import { Pool } from 'undici'
import { pageKey } from './log.ts'
import { isClosed, type Site } from './site.ts'

type Node = DefaultTreeAdapterTypes.Node

/** The site is ours; should it ever be this large, something is wrong with it. */
const MAX_PAGES = 100_000

export interface Reference {
  /** Keys of pages, as `pageKey` makes them. */
  readonly pages: ReadonlySet<string>
  /** Of all of them together, as they are sent. */
  readonly bytes: number
  /** Elements with a link, those that lead elsewhere or nowhere among them. */
  readonly links: number
}

interface Kept {
  readonly pages: readonly string[]
  readonly bytes: number
  readonly links: number
}

export async function findReachable(site: Site, folder: string): Promise<Reference> {
  const file = join(folder, 'reachable.json')
  const kept = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Kept) : await explore(site)
  writeFileSync(file, JSON.stringify(kept))
  return { ...kept, pages: new Set(kept.pages) }
}

async function explore(site: Site): Promise<Kept> {
  const pool = new Pool(site.url)
  const { origin } = new URL(site.url)
  const pages: string[] = []
  const seen = new Set(['/'])
  let bytes = 0
  let links = 0
  const find = (url: URL): void => {
    if (url.origin === origin && !isClosed(url.pathname)) seen.add(url.pathname + url.search)
  }
  // A set is walked in the order of its entries, those that are added on the way among them.
  for (const path of seen) {
    const { statusCode, headers, body } = await pool.request({ method: 'GET', path })
    const html = Buffer.from(await body.arrayBuffer())
    const url = new URL(path, origin)
    const { location } = headers
    if (statusCode >= 300 && statusCode < 400 && typeof location === 'string') find(new URL(location, url))
    if (statusCode !== 200 || !String(headers['content-type']).startsWith('text/html')) continue
    pages.push(pageKey(path))
    if (pages.length > MAX_PAGES) throw new Error(`the site has more than ${MAX_PAGES} pages`)
    bytes += html.length
    const found = linksOf(html.toString('utf8'), url)
    links += found.length
    for (const link of found) find(link)
  }
  await pool.close()
  return { pages, bytes, links }
}

function linksOf(html: string, url: URL): URL[] {
  const hrefs: string[] = []
  let base = url
  const nodes: Node[] = [parse(html)]
  let baseKnown = false
  for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
    if (defaultTreeAdapter.isElementNode(node)) {
      const href = node.attrs.find(({ name }) => name === 'href')?.value
      if (href !== undefined && (node.tagName === 'a' || node.tagName === 'area')) hrefs.push(href)
      if (href !== undefined && node.tagName === 'base' && !baseKnown) {
        base = URL.parse(href, url.href) ?? url
        baseKnown = true
      }
    }
    if ('childNodes' in node) nodes.push(...node.childNodes.toReversed())
  }
  return hrefs.flatMap((href) => URL.parse(href, base.href) ?? [])
}
