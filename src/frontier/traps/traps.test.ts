/** Whole sites, walked as the frontier walks them: what is wasted on traps, and what honest sites lose. */
import { describe, expect, test } from 'vitest'
import { contentSample } from '../../content/index.ts'
import type { NormalizedUrl } from '../../model/index.ts'
import { normalizeUrl } from '../../url/index.ts'
import { createHostTraps } from './index.ts'
import { cleanSites, plainSite, sitesOfLists } from './test-support/honest-sites.ts'
import {
  calendar,
  endlessNames,
  endlessPages,
  facets,
  prose,
  sessions,
  SITES_WITH_TRAPS,
  someSessions,
} from './test-support/sites.ts'
import {
  ADDRESSES,
  CONSTANT_TEXTS,
  LINKS,
  LOREM,
  syntheticSite,
  TEXTS,
  type Addresses,
  type Links,
  type Texts,
} from './test-support/synthetic.ts'
import { walk, type Site, type Walk } from './test-support/walk.ts'

const SEED = 'https://host.test/'
const PAGES = 300
/** Far more than a site has pages, for a trap that is not found out to show. */
const LIMIT = 3 * PAGES

/** They cost a few pages more than the others. */
const DEAR = new Set([
  'depth without end',
  'names without end',
  'tokens without end',
  'tokens in a query without end',
  'session ids in some links',
  'relative links through another folder',
  'relative links through the page itself',
])

const freshShare = ({ fresh, fetched }: Walk): number => fresh / fetched.length

describe.each(SITES_WITH_TRAPS)('%s', (_name, make, contents) => {
  test.each([
    { words: 8, echoes: false },
    { words: 30, echoes: true },
    { words: 150, echoes: true },
  ])('wastes less than one fetch in twenty, and loses no content: $words words, echo $echoes', (text) => {
    const result = walk(make({ pages: PAGES, ...text }), SEED, LIMIT)
    expect(freshShare(result)).toBeGreaterThanOrEqual(0.95)
    expect(result.contents.size).toBe(contents(PAGES))
    // As much again as a small host has, for one of 128 pages or more.
    expect(result.storedLength).toBeLessThanOrEqual(2 * 16 * 1024)
    for (const reason of result.aside.values()) expect(reason).toMatch(/\w{3}/)
  })

  test.each([4, 8, 32])('wastes no more with %i requests under way at once', (inFlight) => {
    const result = walk(make({ pages: PAGES, words: 60, echoes: true }), SEED, LIMIT, { inFlight })
    expect(freshShare(result)).toBeGreaterThanOrEqual(0.95)
    expect(result.contents.size).toBe(contents(PAGES))
  })

  test('wastes no more when many URLs are handed out together', () => {
    const result = walk(make({ pages: PAGES, words: 60, echoes: false }), SEED, LIMIT, { inBatch: 32 })
    expect(freshShare(result)).toBeGreaterThanOrEqual(0.95)
    expect(result.contents.size).toBe(contents(PAGES))
  })
})

test.each(SITES_WITH_TRAPS.filter(([name]) => !DEAR.has(name)))(
  '%s wastes less than one fetch in twenty on a site of a hundred pages',
  (_name, make) => {
    for (const words of [8, 40]) {
      for (const inFlight of [1, 8])
        expect(freshShare(walk(make({ pages: 100, words, echoes: true }), SEED, 300, { inFlight }))).toBeGreaterThan(
          0.95,
        )
    }
  },
)

/** Their pages come again when thousands of others were read meanwhile. */
const REPEATING = SITES_WITH_TRAPS.filter(([name]) => /^session|wrong base/.test(name))

test.each(REPEATING)(
  '%s are known on a site of three thousand pages, and none of them is lost',
  (_name, make, contents) => {
    for (const areShared of [false, true]) {
      const result = walk(make({ pages: 3_000, words: 40, echoes: false }), SEED, 9_000, { inFlight: 8, areShared })
      expect(freshShare(result)).toBeGreaterThan(0.95)
      expect(result.contents.size).toBe(contents(3_000))
    }
  },
)

test.each(['from a list', 'one after another'])(
  'photos that differ in their number alone are all read: %s',
  (links) => {
    const photos = 10
    const articles = endlessPages({ pages: PAGES, words: 40, echoes: false })
    const photo = (number: number): string => `/photos/${number}`
    const site: Site = (url) => {
      const number = Number(/^\/photos\/(\d+)$/.exec(url.pathname)?.[1] ?? Number.NaN)
      if (number <= photos) {
        const next = number < photos ? [photo(number + 1)] : []
        const text = `Photo ${number} of the house. ${prose('caption', 40)}`
        return { content: url.pathname, title: 'Photo', text, links: ['/', '/photos/', ...next] }
      }
      if (url.pathname === '/photos/') {
        const all = Array.from({ length: photos }, (_, index) => photo(index + 1))
        return {
          content: '/photos/',
          text: prose('photos', 60),
          links: links === 'from a list' ? all : all.slice(0, 1),
        }
      }
      const page = url.pathname.startsWith('/stream/') ? undefined : articles(url)
      return page && { ...page, links: url.pathname === '/' ? [...page.links, '/photos/'] : page.links }
    }
    expect(walk(site, SEED, LIMIT).contents.size).toBe(1 + PAGES + 1 + photos)
  },
)

test('four traps in one site of five hundred pages waste less than one fetch in twenty', () => {
  const options = { pages: 500, words: 40, echoes: false }
  const traps = [calendar(options, 'path'), facets(options), endlessPages(options), someSessions(options)]
  const site: Site = (url) => {
    const found = traps.flatMap((trap) => trap(url) ?? [])
    const [page] = found
    return page && { ...page, links: [...new Set(found.flatMap(({ links }) => links))] }
  }
  for (const inFlight of [1, 8, 32]) {
    const result = walk(site, SEED, 1_500, { inFlight })
    expect(freshShare(result)).toBeGreaterThan(0.95)
    expect(result.contents.size).toBe(505)
  }
})

test('filters over a line are known again when a thousand other pages were read meanwhile', () => {
  const result = walk(facets({ pages: 1_000, words: 8, echoes: true }), SEED, 3_000)
  expect(freshShare(result)).toBeGreaterThan(0.98)
})

test('release notes of several versions that say the same hold back none of the others', () => {
  const note = (version: string, fix: string): [string, string] => [
    `/releases/${version}.html`,
    `Release ${version}\n\n7 February 2022\n\nThis release fixes: ${prose(fix, 60)}`,
  ]
  const series = [3, 2, 1].flatMap((major) =>
    Array.from({ length: 30 }, (_, patch) =>
      note(`${major}.2.${patch}`, `fix ${patch < 15 ? patch : `${major} ${patch}`}`),
    ),
  )
  const pages = new Map([['/', prose('home', 50)], ...series])
  const site = plainSite(pages)
  const titled: Site = (url) => {
    const found = site(url)
    return found === undefined ? undefined : { ...found, title: `${found.text.split('\n')[0] ?? ''} - the manual` }
  }
  const { contents, aside } = walk(titled, SEED, 1_000)
  expect([contents.size, aside.size]).toEqual([pages.size, 0])
})

test.each([0, 2, 5, 11])('a site of many pages with a session in every path loses none of them: host %i', (host) => {
  const pages = 580
  const site = sessions({ pages, words: 40, echoes: true }, 'asp')
  const result = walk(site, `https://asp${host}.test/`, 3 * pages, { inBatch: 16 })
  expect(freshShare(result)).toBeGreaterThanOrEqual(0.95)
  expect(result.contents.size).toBe(pages + 1)
})

describe('numbered pages without end', () => {
  test('end after ten thousand that differ in nothing but their numbers, if the site has no others', () => {
    const traps = createHostTraps(undefined)
    const learn = (number: number, text: string): boolean => {
      const url = normalizeUrl(`${SEED}stream/${number}`) as NormalizedUrl
      return traps.learn(url, contentSample(text, url, ''))
    }
    const next = normalizeUrl(`${SEED}stream/20000`) as NormalizedUrl
    for (let number = 0; number < 10_000; number++) learn(number, `Page ${number} ${LOREM}`)
    expect(traps.judge(next)).toBeUndefined()
    learn(10_000, `Page 10000 ${LOREM}`)
    expect(traps.judge(next)).toBe('the last 10000 pages of /stream/# said the same as others')
    expect(learn(10_001, prose('something new', 60))).toBe(true)
    expect(traps.judge(next)).toBeUndefined()
  })
})

describe('numbered pages that differ in nothing but their numbers, on a site of other pages', () => {
  const learnAll = (texts: Readonly<Record<string, string>>): ReturnType<typeof createHostTraps> => {
    const traps = createHostTraps(undefined)
    for (const [path, text] of Object.entries(texts)) {
      const url = normalizeUrl(path, SEED) as NormalizedUrl
      traps.learn(url, contentSample(text, url, 'The site'))
    }
    return traps
  }
  const pages = (count: number, folder: string, text: (number: number) => string): Record<string, string> =>
    Object.fromEntries(Array.from({ length: count }, (_, number) => [`/${folder}/${number}`, text(number)]))
  const next = normalizeUrl('/stream/99', SEED) as NormalizedUrl
  const stream = pages(10, 'stream', (number) => `Page ${number} ${LOREM}`)

  test('are set aside after ten', () => {
    const articles = pages(40, 'articles', (number) => prose(`article ${number}`, 50))
    expect(learnAll({ ...articles, ...stream }).judge(next)).toMatch(/of \/stream\/# said the same/)
    const lines = pages(
      10,
      'stream',
      (number) => `This is page number ${number} of the endless archive, go on to ${number + 1}.`,
    )
    expect(learnAll({ ...articles, ...lines }).judge(next)).toMatch(/of \/stream\/# said the same/)
  })

  test('are read on where one of them said something else lately', () => {
    const articles = pages(40, 'articles', (number) => prose(`article ${number}`, 50))
    const other = { '/stream/8': prose('the exception', 50) }
    expect(learnAll({ ...articles, ...stream, ...other }).judge(next)).toBeUndefined()
  })

  test('are read on where the other pages are of that kind, too', () => {
    const others = pages(200, 'articles', (number) => `Article ${number} ${LOREM} ${LOREM}`)
    expect(learnAll({ ...others, ...stream }).judge(next)).toBeUndefined()
  })
})

describe('a plain site, as a program makes it, is read to its last page', () => {
  const complete = (pages: number, names: readonly string[], site: Site, together: boolean): string[] => {
    const { contents, aside } = walk(site, SEED, 3 * pages, together ? { inFlight: 4, inBatch: 16 } : {})
    return contents.size === pages && aside.size === 0 ? [] : [`${names.join(', ')}: ${contents.size} of ${pages}`]
  }
  const hasDate = (name: string): boolean => name.startsWith('/2024')

  test.each(Object.entries(ADDRESSES))('%s', (name, addresses) => {
    // A line that is the same under addresses by date is what an empty calendar has.
    const texts = hasDate(name) ? TEXTS : { ...TEXTS, ...CONSTANT_TEXTS }
    const missed = Object.entries(texts).flatMap(([text, said]) =>
      Object.entries(LINKS).flatMap(([structure, links], index) =>
        complete(40, [text, structure], syntheticSite(40, addresses, said, links), index % 2 === 1),
      ),
    )
    expect(missed).toEqual([])
  })

  test.each([
    ['/7', 'its number in title and heading', 'a chain'],
    ['/page/7', 'its number in the heading', 'a tree'],
    ['/word', 'one sentence', 'a tree'],
    ['/page?id=7', 'its number in title and heading', 'a list of all on the first page'],
    ['/list?category=word&page=7', 'its address in the title', 'portions'],
    ['/1/2/1/1', 'its number in the title', 'a ring with bridges'],
  ])('of two thousand pages: %s, %s, %s', (name, text, structure) => {
    const addresses = ADDRESSES[name] as Addresses
    const texts = { ...TEXTS, ...CONSTANT_TEXTS }[text] as Texts
    const site = syntheticSite(2_000, addresses, texts, LINKS[structure] as Links)
    expect(complete(2_000, [], site, true)).toEqual([])
  })
})

describe('an honest site loses less than one page in a hundred', () => {
  test.each([...cleanSites()])('%s', (_name, pages) => {
    const result = walk(plainSite(pages), SEED, 10 * pages.size)
    expect(result.contents.size).toBeGreaterThan(0.99 * pages.size)
  })
})

test('why names without end are left alone is said', () => {
  const site = endlessNames({ pages: 100, words: 40, echoes: true }, 'words')
  const reasons = new Set(walk(site, SEED, 300).aside.values())
  expect(reasons).toContain('the last 3 pages of /names/… said the same as others but for names and links')
})

test.each([...sitesOfLists()])('%s: every list is read, and what it names', (_name, { site, pages }) => {
  for (const inFlight of [1, 8]) {
    const { contents, aside } = walk(site, SEED, 3 * pages, { inFlight })
    expect([contents.size, aside.size]).toEqual([pages, 0])
  }
})

test('a lesson drawn from bad luck is unlearned: one probe that is new frees the rest', () => {
  const pages = new Map([['/', prose('home', 50)]])
  // The first ones of a numbered list say the same; all others differ.
  for (let number = 1; number <= 200; number++) {
    pages.set(`/list/${number}`, number <= 4 ? prose('to come', 40) : prose(`entry ${number}`, 40))
  }
  const site = plainSite(pages)
  const result = walk(site, SEED, 1_000)
  expect(result.contents.size).toBe(pages.size)
})
