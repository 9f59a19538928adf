/** Trap sites and honest ones behind real servers: counted by what the servers were asked for, not by what we say. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cleanSites, plainSite } from '../../src/frontier/traps/test-support/honest-sites.ts'
import {
  calendar,
  endlessDepth,
  endlessPages,
  facets,
  sessions,
  wrongBase,
} from '../../src/frontier/traps/test-support/sites.ts'
import {
  ADDRESSES,
  CONSTANT_TEXTS,
  LINKS,
  syntheticSite,
  TEXTS,
  type Addresses,
  type Links,
  type Texts,
} from '../../src/frontier/traps/test-support/synthetic.ts'
import type { Site, SitePage } from '../../src/frontier/traps/test-support/walk.ts'
import { crawl, type CrawlOutcome } from '../support/crawl.ts'
import { createLoopbackWeb, type HostBehaviour, type LoopbackWeb } from '../support/loopback-web.ts'

const PAGES = 250
const OPTIONS = { pages: PAGES, words: 40, echoes: true }
/** So many pages of each host would be fetched, were it not for what is learned. */
const WORDS = ['--delay', '0s', '--no-sitemaps', '--max-pages-per-host', '1000']

/** Each with the number of different contents that it has. */
const TRAPS: Readonly<Record<string, readonly [Site, number]>> = {
  'calendar.test': [calendar(OPTIONS, 'path'), PAGES + 3],
  'planner.test': [calendar(OPTIONS, 'query'), PAGES + 3],
  'facets.test': [facets(OPTIONS), PAGES + 2],
  'sid.test': [sessions(OPTIONS, 'sid'), PAGES + 1],
  'unknown-key.test': [sessions(OPTIONS, 'unknown'), PAGES + 1],
  'jsessionid.test': [sessions(OPTIONS, 'jsessionid'), PAGES + 1],
  'asp.test': [sessions(OPTIONS, 'asp'), PAGES + 1],
  'base.test': [wrongBase(OPTIONS), PAGES + 1],
  'stream.test': [endlessPages({ ...OPTIONS, echoes: false }), PAGES + 2],
  'numbered.test': [endlessPages(OPTIONS), PAGES + 2],
  'numbered-lines.test': [endlessPages({ ...OPTIONS, words: 8 }), PAGES + 2],
  'maze.test': [endlessDepth(OPTIONS), PAGES + 2],
}
/** Sites as a program makes them, all pages alike but for a number or a name. */
const ALIKE = [
  ['/7', 'its number in title and heading', 'a chain'],
  ['/page/7', 'its number in the heading', 'a list of all on the first page'],
  ['/page-7.html', 'one sentence', 'a tree'],
  ['/word', 'its address in the title', 'portions'],
  ['/docs/two-words.html', 'one word', 'a ring with bridges'],
  ['/1/2/1/1', 'its number in the title', 'a tree'],
  ['/page?id=7', 'its number in the heading', 'a list of all on every page'],
  ['/list?category=word&page=7', 'its address in the title', 'portions'],
].map(([addresses = '', texts = '', links = ''], index) => ({ host: `alike-${index}.test`, addresses, texts, links }))
const ALIKE_PAGES = 120

function alikeSite({ addresses, texts, links }: (typeof ALIKE)[number]): Site {
  const allTexts = { ...TEXTS, ...CONSTANT_TEXTS }
  return syntheticSite(ALIKE_PAGES, ADDRESSES[addresses] as Addresses, allTexts[texts] as Texts, LINKS[links] as Links)
}
const CLEAN = [...cleanSites()].map(([name, pages], index) => ({ host: `clean-${index}.test`, name, pages }))

/** A page with navigation around what it says, as sites have it. */
function htmlOf({ title = 'Title', text, links }: SitePage): string {
  const paragraphs = text.split('\n\n').map((paragraph) => `<p>${paragraph}</p>`)
  const items = links.map((link) => `<li><a href="${link.replaceAll('&', '&amp;')}">on</a></li>`)
  return (
    `<!doctype html><html lang="en"><head><title>${title}</title></head><body><nav><ul>${items.join('')}</ul></nav>` +
    `<main><article>${paragraphs.join('')}</article></main></body></html>`
  )
}

function behaviourOf(site: Site): HostBehaviour {
  return ({ host, path, query }) => {
    if (path === '/robots.txt') return { status: 404 }
    const page = site(new URL(`https://${host}${path}${query}`))
    const headers = { 'content-type': 'text/html; charset=utf-8' }
    return page === undefined ? { status: 404, headers, body: 'Not found' } : { headers, body: htmlOf(page) }
  }
}

/** Traps that are told from what pages say are known without it if something odd is in their addresses. */
const ODD = Object.keys(TRAPS).filter((host) => !/^(?:base|stream|numbered|maze)/.test(host))

describe.each([
  ['read whole', Object.keys(TRAPS), 95, []],
  // What filters have in common with the page that they are about is not known.
  ['read for links alone', ODD, 90, ['--no-content', '--format', 'jsonl']],
])('a site that is %s', (_name, traps, least, words) => {
  let web: LoopbackWeb
  let outcome: CrawlOutcome

  const askedOf = (host: string): string[] =>
    web.log
      .filter((entry) => entry.host === host && entry.path !== '/robots.txt')
      .map(({ path, query }) => path + query)

  beforeAll(async () => {
    const hosts: Record<string, HostBehaviour> = {}
    for (const host of traps) hosts[host] = behaviourOf((TRAPS[host] as readonly [Site, number])[0])
    for (const { host, pages } of CLEAN) hosts[host] = behaviourOf(plainSite(pages))
    for (const site of ALIKE) hosts[site.host] = behaviourOf(alikeSite(site))
    web = await createLoopbackWeb(hosts)
    outcome = await crawl(web, [...Object.keys(hosts).map((host) => web.url(host)), ...WORDS, ...words])
  }, 240_000)

  afterAll(() => web.close())

  describe('with a trap', () => {
    it.each(traps)(`%s: at least ${least} of 100 fetches bring something new, and nothing is missed`, (host) => {
      const [site, contents] = TRAPS[host] as readonly [Site, number]
      const asked = askedOf(host)
      const found = new Set(asked.map((target) => site(new URL(`https://${host}${target}`))?.content))
      expect((100 * found.size) / asked.length).toBeGreaterThanOrEqual(least)
      expect(found.size).toBe(contents)
    })

    it('ends, with a reason for every URL that was not fetched', () => {
      expect(outcome.end).toBe('finished')
      const trapped = outcome.skipped.filter(({ reason }) => reason === 'trap')
      expect(new Set(trapped.map(({ url }) => new URL(url).hostname))).toEqual(new Set(traps))
      for (const { detail } of trapped) expect(detail).toMatch(/same|difference|repeats|occurs/)
      expect(outcome.stats.aside).toBe(0)
    })
  })

  describe('of pages that are all alike', () => {
    it.each(ALIKE)('$addresses, $texts, $links: is read to its last page', (alike) => {
      const site = alikeSite(alike)
      const found = new Set(askedOf(alike.host).map((target) => site(new URL(`https://h.test${target}`))?.content))
      expect(found.size).toBe(ALIKE_PAGES)
      expect(outcome.skipped.filter(({ url }) => new URL(url).hostname === alike.host)).toEqual([])
    })
  })

  describe('of honest pages', () => {
    it.each(CLEAN)('$name: fewer than one page in a hundred is held back', ({ host, pages }) => {
      expect(new Set(askedOf(host)).size).toBeGreaterThan(0.99 * pages.size)
    })
  })
})
