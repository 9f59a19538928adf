/** Sites that are made from nothing and have no traps, though they look like it: none of their pages may be missed. */
import { article, prose, range, token } from './sites.ts'
import type { Site, SitePage } from './walk.ts'

/** Three levels of categories that differ in their numbers alone, and products in the last. */
function categories(articles: number): { site: Site; pages: number } {
  const four = [1, 2, 3, 4]
  const honest = new Set(range(articles).map(article))
  const site: Site = ({ pathname }) => {
    if (pathname === '/')
      return { content: '/', text: prose('home', 60), links: [...honest, ...four.map((n) => `/c/${n}`)] }
    if (honest.has(pathname) || pathname.startsWith('/p/'))
      return { content: pathname, text: prose(pathname, 50), links: ['/'] }
    const [, numbers] = /^\/c\/([1-4](?:\.[1-4]){0,2})$/.exec(pathname) ?? []
    if (numbers === undefined) return undefined
    const isLast = numbers.length === 5
    const links = four.map((n) => (isLast ? `/p/${numbers}-${n}` : `/c/${numbers}.${n}`))
    const names = links.map((link) => (isLast ? prose(link, 2) : `Category ${link.slice(3)}`))
    return { content: pathname, text: `Category ${numbers}. ${prose('categories', 20)}`, links, names }
  }
  return { site, pages: 1 + articles + 4 + 16 + 64 + 256 }
}

/** Honest lists among articles: each list says the same, and what it names is found nowhere else. */
export function sitesOfLists(): ReadonlyMap<string, { readonly site: Site; readonly pages: number }> {
  const articles = 60
  const lists = 40
  const named = (folder: string, number: number): string =>
    `/${folder}/${prose(`${folder} ${number}`, 2).replace(' ', '-')}-${number}`
  /** `lead` are the links that come before the entries of a list, of `folder`. */
  const withLists = (
    folder: string,
    line: string,
    entriesOf: (list: number) => readonly string[],
    lead: (all: readonly string[]) => readonly string[] = () => [],
  ): { site: Site; pages: number } => {
    const all = range(lists).map((number) => named(folder, number))
    const entries = new Set(range(lists).flatMap(entriesOf))
    const honest = new Set(range(articles).map(article))
    const site: Site = ({ pathname }) => {
      if (pathname === '/')
        return {
          content: '/',
          text: prose('home', 60),
          links: [...honest, ...(lead(all).length > 0 ? all.slice(0, 1) : all)],
        }
      if (entries.has(pathname) || honest.has(pathname))
        return { content: pathname, text: prose(pathname, 50), links: ['/'] }
      const number = all.indexOf(pathname)
      if (number === -1) return undefined
      const links = [...lead(all), ...entriesOf(number)]
      const names = links.map((link) => link.split('/').at(-1) ?? '')
      return { content: pathname, text: `${pathname.replaceAll('/', ' ')}. ${line}`, links, names }
    }
    return { site, pages: 1 + articles + lists + entries.size }
  }
  const portion = (folder: string, size: (list: number) => number) => (list: number) =>
    range(size(list)).map((step) => named(folder, 1_000 + list * 12 + step))
  const line = 'Choose one of these, or go back to where you came from.'
  const others = (all: readonly string[]): readonly string[] => all
  return new Map([
    ['numbered categories of categories', categories(articles)],
    [
      'tags that name articles',
      withLists(
        'tag',
        line,
        portion('posts', (list) => 6 + (list % 5)),
      ),
    ],
    [
      'lists in one folder with what they name',
      withLists(
        'terms',
        line,
        portion('terms', (list) => 6 + (list % 5)),
      ),
    ],
    [
      'lists of one length in one folder',
      withLists(
        'terms',
        line,
        portion('terms', () => 8),
        others,
      ),
    ],
    [
      'lists of one length with much to say',
      withLists(
        'terms',
        prose('about', 60),
        portion('terms', () => 8),
        others,
      ),
    ],
  ])
}

/** A site of these pages, each with its text; the first one leads to all others, in portions. */
export function plainSite(pages: ReadonlyMap<string, string>): Site {
  const paths = [...pages.keys()]
  const order = new Map(paths.map((path, index) => [path, index]))
  return (url): SitePage | undefined => {
    const path = url.pathname + url.search
    const text = pages.get(path)
    const index = order.get(path)
    if (text === undefined || index === undefined) return undefined
    return { content: path, text, links: range(12).flatMap((step) => paths[index * 12 + step + 1] ?? []) }
  }
}

/** Honest sites that look like trouble: for each its pages and what they say. */
export function cleanSites(): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const sites = new Map<string, ReadonlyMap<string, string>>()
  const site = (name: string, paths: readonly string[], text: (path: string, index: number) => string): void => {
    const pages: [string, string][] = paths.map((path, index) => [path, text(path, index)])
    sites.set(name, new Map([['/', prose(`${name} home`, 40)], ...pages]))
  }
  const long = (path: string): string => prose(path, 150)
  site(
    'documentation with recurring folders',
    range(400).map((n) => `/api/v${n % 4}/api/${prose(`n${n}`, 1)}/reference-${n}`),
    long,
  )
  site(
    'archives by date',
    range(600).map((n) => `/${2000 + (n % 25)}/${String((n % 12) + 1).padStart(2, '0')}/post-${n}/`),
    (path, n) => `Posted on 3 March ${2000 + (n % 25)}. ${prose(path, 60)}`,
  )
  site(
    'pages of lists',
    range(500).map((n) => `/blog/page/${n + 1}`),
    (path, n) => `Page ${n + 1} of 500. Older posts. Newer posts. ${prose(path, 50)}`,
  )
  site(
    'a deep tree',
    range(500).map((n) => `/${prose(`deep ${n >> 5}`, 2 + (n % 9)).replaceAll(' ', '/')}/leaf-${n}`),
    long,
  )
  site(
    'a shop',
    range(800).map((n) => `/product.php?id=${n}`),
    (path, n) =>
      `Product ${n}. ${prose(path, 12)}. Price ${n % 97} EUR. Free shipping from 50 EUR. In stock, ready to be sent ` +
      'within two days. Add to basket. Customers who bought this also looked at other things. Terms and conditions.',
  )
  site(
    'a shop with sizes',
    range(600).map((n) => `/item?id=${n % 200}&size=${['s', 'm', 'l'][Math.floor(n / 200)] as string}`),
    (path) => prose(path, 40),
  )
  site(
    'stubs',
    range(400).map((n) => `/doc/module-${n % 20}/fn.${prose(`f${n}`, 2).replace(' ', '_')}.html`),
    (path, n) =>
      n % 4 === 0 ? prose(path, 60) : `Function ${prose(`f${n}`, 2).replace(' ', '_')}. ${prose(path, 14)}.`,
  )
  site(
    'pages of next to nothing',
    range(150).map((n) => `/p/${n}`),
    () => 'Words. on on on',
  )
  site(
    'hashes in paths',
    range(400).map((n) => `/object/${token(`o${n}`)}`),
    long,
  )
  site(
    'languages',
    ['de', 'fr', 'es', 'it'].flatMap((language) => range(120).map((n) => `/${language}/guide/chapter-${n}.html`)),
    long,
  )
  return sites
}
