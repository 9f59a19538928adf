/** What pages ask of those who read them, and pages that repeat each other: through the whole crawler. */
import { describe, expect, it } from 'vitest'
import { crawl, settingsFor, type CrawlOutcome } from '../support/crawl.ts'
import type { Answer, HostBehaviour } from '../support/loopback-web.ts'
import { page, sideBySide } from '../support/side-by-side.ts'

const { webOf } = sideBySide()
const QUICK = ['--delay', '0s']

async function crawlOf(host: HostBehaviour, words: readonly string[] = ['--no-sitemaps']): Promise<CrawlOutcome> {
  const web = await webOf({ 'a.test': host })
  return crawl(web, [web.url('a.test'), ...QUICK, ...words])
}
const pathOf = (url: string): string => new URL(url).pathname + new URL(url).search
const paths = ({ pages }: CrawlOutcome): string[] => pages.map(({ url }) => pathOf(url)).toSorted()
const pageAt = ({ pages }: CrawlOutcome, path: string) => pages.find(({ url }) => pathOf(url) === path)

/** A text of so many words that are its own, with one changed where it is told. */
const prose = (seed: string, changedWord?: string): string =>
  Array.from({ length: 4_000 }, (_, i) =>
    i === 2_000 && changedWord !== undefined ? changedWord : `${seed}${(i * i * 7919) % 4001}`,
  ).join(' ')
const article = (text: string, head = '', links = ''): Answer => ({
  body: `<!doctype html><html><head><title>T</title>${head}</head><body><main><h1>T</h1><p>${text}</p>${links}</main></body></html>`,
})

describe.concurrent('a page that names another as canonical', () => {
  const site: HostBehaviour = {
    '/': page('/shown?ref=1'),
    '/shown': article(prose('canon'), '<link rel="canonical" href="/real">', '<a href="/behind">on</a>'),
    '/real': article(prose('canon'), '<link rel="canonical" href="/real">'),
    '/behind': page(),
  }

  it('is recorded as its copy, and that other is fetched', async () => {
    const outcome = await crawlOf(site)
    expect(paths(outcome)).toEqual(['/', '/behind', '/real', '/shown?ref=1'])
    const { duplicateOf, duplicateBy } = pageAt(outcome, '/shown?ref=1') ?? {}
    expect({ duplicateBy, of: pathOf(duplicateOf ?? 'http://none/') }).toEqual({
      duplicateBy: 'canonical',
      of: '/real',
    })
    expect(pageAt(outcome, '/real')).toMatchObject({ via: 'canonical' })
    expect(pageAt(outcome, '/real')).toMatchObject({ status: 200, duplicateOf: undefined })
  })

  it('by the Link header alone is one, too', async () => {
    const outcome = await crawlOf({
      '/': page('/copy.txt'),
      '/copy.txt': {
        body: prose('head'),
        headers: { 'content-type': 'text/plain', link: '</real.txt>; rel="canonical"' },
      },
      '/real.txt': { body: prose('head') },
    })
    expect(pageAt(outcome, '/copy.txt')).toMatchObject({ duplicateBy: 'canonical' })
    expect(pageAt(outcome, '/real.txt')).toMatchObject({ status: 200, duplicateOf: undefined })
  })

  it('has its links left alone when copies are to be skipped, but not the page that it names', async () => {
    expect(paths(await crawlOf(site, ['--no-sitemaps', '--skip-duplicates']))).toEqual(['/', '/real', '/shown?ref=1'])
  })

  it('that names it in turn does not make both of them copies', async () => {
    const outcome = await crawlOf({
      '/': page('/1'),
      '/1': article(prose('one'), '<link rel="canonical" href="/2">'),
      '/2': article(prose('two'), '<link rel="canonical" href="/1">'),
    })
    expect(outcome.pages.filter(({ duplicateOf }) => duplicateOf !== undefined)).toHaveLength(1)
  })
})

describe.concurrent('a page with the text of another', () => {
  const site: HostBehaviour = {
    '/': page('/a', '/b', '/c', '/far'),
    '/a': article(prose('w')),
    '/b': article(prose('w')),
    '/c': article(prose('w', 'changed'), '', '<a href="/behind">on</a>'),
    '/far': article(prose('v')),
    '/behind': page(),
  }
  const copies = ({ pages }: CrawlOutcome): string[] =>
    pages
      .filter(({ url }) => /\/(?:[abc]|far)$/.test(url))
      .map(({ duplicateBy = 'none' }) => duplicateBy)
      .toSorted()

  it('is marked, whether it is the same or nearly, and nothing is dropped', async () => {
    const outcome = await crawlOf(site)
    expect(copies(outcome)).toEqual(['near', 'none', 'none', 'same'])
    expect(pageAt(outcome, '/far')).toMatchObject({ status: 200, duplicateOf: undefined })
    expect(paths(outcome)).toEqual(['/', '/a', '/b', '/behind', '/c', '/far'])
  })

  it('is not looked for when that is switched off', async () => {
    const web = await webOf({ 'a.test': site })
    const settings = [web.url('a.test'), ...QUICK, '--no-sitemaps']
    const outcome = await crawl(web, settings, { settings: { ...settingsFor([web], settings), nearDuplicates: 0 } })
    expect(copies(outcome)).toEqual(['none', 'none', 'none', 'none'])
  })
})

describe.concurrent('what a site asks of those who use its pages', () => {
  it('stands in the records: signals of robots.txt, a reservation of mining, dates, language, headings', async () => {
    const outcome = await crawlOf({
      '/robots.txt': { body: 'User-agent: *\nContent-Signal: search=yes, ai-train=no\nAllow: /\n' },
      '/': {
        headers: { 'tdm-reservation': '1', 'tdm-policy': 'https://a.test/terms.json' },
        body: `<!doctype html><html lang="de"><head><title>T</title>
          <meta property="article:published_time" content="2026-01-02T03:04:05Z"></head>
          <body><main><h1>Eins</h1><p>Text.</p><h2>Zwei</h2><p>Mehr.</p></main></body></html>`,
      },
    })
    expect(outcome.pages[0]).toMatchObject({
      contentSignals: { search: true, 'ai-train': false },
      tdm: { reserved: true, policy: 'https://a.test/terms.json' },
      published: '2026-01-02T03:04:05Z',
      lang: 'de',
      headings: [
        { level: 1, text: 'Eins' },
        { level: 2, text: 'Zwei' },
      ],
    })
  })

  it('is obeyed by links: nofollow, ugc and sponsored lead nowhere, unless that is wanted', async () => {
    const site: HostBehaviour = {
      '/': { body: ['nofollow', 'ugc', 'sponsored', 'next'].map((rel) => `<a rel=${rel} href=/${rel}>x</a>`).join('') },
      '/nofollow': page(),
      '/ugc': page(),
      '/sponsored': page(),
      '/next': page(),
    }
    expect(paths(await crawlOf(site))).toEqual(['/', '/next'])
    expect(await crawlOf(site, ['--no-sitemaps', '--follow-nofollow'])).toHaveProperty('pages.length', 5)
  })
})

describe.concurrent('a feed', () => {
  const feed = `<?xml version="1.0"?><rss version="2.0"><channel><title>News</title>
    <item><link>/from-feed</link></item></channel></rss>`
  const site: HostBehaviour = {
    '/': { body: '<!doctype html><link rel="alternate" type="application/rss+xml" href="/feed.xml"><p>Words.</p>' },
    '/feed.xml': { body: feed, headers: { 'content-type': 'application/rss+xml' } },
    '/from-feed': page(),
  }

  it('that a page names leads to its entries, and is no page itself', async () => {
    const outcome = await crawlOf(site, [])
    expect(paths(outcome)).toEqual(['/', '/from-feed'])
  })

  it('is left alone without sitemaps', async () => {
    expect(paths(await crawlOf(site))).toEqual(['/'])
  })

  it('that is linked like a page leads to its entries, too', async () => {
    const outcome = await crawlOf({ ...site, '/': page('/feed.xml') })
    expect(paths(outcome)).toEqual(['/', '/feed.xml', '/from-feed'])
  })
})
