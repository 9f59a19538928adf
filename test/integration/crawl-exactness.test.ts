/** Which pages a crawl has, to the page: compared with a walk of the same site that knows nothing of the crawler. */
import { gzipSync } from 'node:zlib'
import { parse, type DefaultTreeAdapterTypes } from 'parse5'
import { afterEach, describe, expect, it } from 'vitest'
import { crawl, type CrawlOutcome } from '../support/crawl.ts'
import { endings, readOutput, recordedUrls } from '../support/crawl-output.ts'
import {
  createLoopbackWeb,
  generatedSite,
  type Answer,
  type HostBehaviour,
  type LoopbackWeb,
  type WebRequest,
} from '../support/loopback-web.ts'
import { reach, runTiptoe, temporaryFolder } from '../support/program.ts'

const open: LoopbackWeb[] = []

async function webOf(hosts: Readonly<Record<string, HostBehaviour>>): Promise<LoopbackWeb> {
  const web = await createLoopbackWeb(hosts)
  open.push(web)
  return web
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((web) => web.close()))
})

const html = (body: string, head = ''): Answer => ({
  body: `<!doctype html><html><head><title>Title</title>${head}</head><body>${body}</body></html>`,
})
const page = (...links: readonly string[]): Answer => html(links.map((link) => `<a href="${link}">on</a>`).join('\n'))
const redirect = (location: string, status = 302): Answer => ({ status, headers: { location } })
const NO_ROBOTS: Readonly<Record<string, Answer>> = { '/robots.txt': { status: 404 }, '/sitemap.xml': { status: 404 } }
const QUICK = ['--delay', '0s']

const askedOf = (web: LoopbackWeb, host: string): string[] =>
  web.log.filter((entry) => entry.host === host).map(({ path, query }) => path + query)
const pagesAsked = (web: LoopbackWeb, host: string): string[] =>
  askedOf(web, host).filter((path) => path !== '/robots.txt' && !path.includes('sitemap'))
const pathsOf = (records: readonly { readonly url: string }[]): string[] =>
  records.map(({ url }) => new URL(url).pathname + new URL(url).search).sort()
const savedPaths = (outcome: Pick<CrawlOutcome, 'pages'>): string[] => pathsOf(outcome.pages)

/** Breadth first over `a href` and nothing else, straight from the behaviour: path to depth. */
function walk(site: (request: WebRequest) => Answer | Promise<Answer>, maxDepth = Infinity): Map<string, number> {
  const depths = new Map([['/', 0]])
  let layer = ['/']
  for (let depth = 0; layer.length > 0; depth++) {
    const next: string[] = []
    for (const path of layer) {
      const answer = site({ path } as WebRequest) as Answer
      const links = hrefsOf(parse(String(answer.body)))
      if (depth >= maxDepth) continue
      for (const link of links) {
        if (depths.has(link)) continue
        depths.set(link, depth + 1)
        next.push(link)
      }
    }
    layer = next
  }
  return depths
}

function hrefsOf(node: DefaultTreeAdapterTypes.Node): string[] {
  const found: string[] = []
  if ('tagName' in node && node.tagName === 'a') {
    const href = node.attrs.find((attribute) => attribute.name === 'href')
    if (href !== undefined) found.push(new URL(href.value, 'http://site.test/').pathname)
  }
  if ('childNodes' in node) for (const child of node.childNodes) found.push(...hrefsOf(child))
  return found
}

type SiteFunction = Extract<HostBehaviour, (...words: never[]) => unknown>

describe('a crawl of a generated site', () => {
  const site = generatedSite({ pages: 1_500, linksPerPage: 12, bytesPerPage: 1_500, seed: 7 }) as SiteFunction

  it(
    'has every page that a walk has, once in the server’s log and once in the records',
    { timeout: 60_000 },
    async () => {
      const web = await webOf({ 'site.test': site })
      const folder = temporaryFolder()
      const ending = await runTiptoe([web.url('site.test'), '-o', folder.path, ...QUICK, ...reach(web)])
      expect(ending).toMatchObject({ code: 0, stdout: '' })
      const expected = [...walk(site).keys()].sort()
      expect(expected).toHaveLength(1_500)
      expect(pagesAsked(web, 'site.test').sort()).toEqual(expected)
      const output = readOutput(folder.path)
      expect(pathsOf(output.pages)).toEqual(expected)
      expect(recordedUrls(output)).toHaveLength(1_500)
      folder.remove()
    },
  )

  it.each([0, 1, 2])('with --max-depth %i has exactly the pages of the first layers', async (maxDepth) => {
    const web = await webOf({ 'site.test': site })
    const outcome = await crawl(web, [web.url('site.test'), ...QUICK, '--max-depth', String(maxDepth)])
    const depths = walk(site, maxDepth + 1)
    const within = [...depths].filter(([, depth]) => depth <= maxDepth).map(([path]) => path)
    expect(savedPaths(outcome)).toEqual(within.sort())
    expect(outcome.skipped.map(({ reason }) => reason).every((reason) => reason === 'depth')).toBe(true)
    expect(outcome.skipped).toHaveLength(depths.size - within.length)
    for (const { url, depth } of outcome.pages) expect(depth, url).toBe(depths.get(new URL(url).pathname))
    expect(outcome.end).toBe('finished')
  })

  it.each([1, 50, 333])('with --max-pages %i has exactly so many pages, asked for and recorded', async (maxPages) => {
    const web = await webOf({ 'site.test': site })
    const outcome = await crawl(web, [
      web.url('site.test'),
      ...QUICK,
      '--max-pages',
      String(maxPages),
      '--per-host',
      '8',
      '--no-sitemaps',
    ])
    expect(outcome.end).toBe('limit')
    expect(outcome.pages).toHaveLength(maxPages)
    expect(pagesAsked(web, 'site.test')).toHaveLength(maxPages)
    expect(new Set(savedPaths(outcome)).size).toBe(maxPages)
  })

  it('goes on to exactly the larger limit when it is resumed with one', async () => {
    const web = await webOf({ 'site.test': site })
    const folder = temporaryFolder()
    const words = [web.url('site.test'), '-o', folder.path, ...QUICK, '--no-sitemaps', ...reach(web)]
    expect(await runTiptoe([...words, '--max-pages', '40'])).toMatchObject({ code: 4 })
    expect(readOutput(folder.path).pages).toHaveLength(40)
    expect(await runTiptoe([...words, '--max-pages', '40'])).toMatchObject({ code: 4 })
    expect(readOutput(folder.path).pages).toHaveLength(40)
    expect(await runTiptoe([...words, '--max-pages', '90'])).toMatchObject({ code: 4 })
    expect(readOutput(folder.path).pages).toHaveLength(90)
    expect(pagesAsked(web, 'site.test')).toHaveLength(90)
    expect(askedOf(web, 'site.test').filter((path) => path === '/robots.txt')).toHaveLength(1)
    folder.remove()
  })
})

describe('the page limit', () => {
  it('is not used up by pages that fail, lead elsewhere or are disallowed', async () => {
    const paths = Array.from({ length: 60 }, (_, index) => `/${index}`)
    const web = await webOf({
      'mixed.test': ({ path }) => {
        if (path === '/robots.txt') return { body: 'User-agent: *\nDisallow: /3\n' }
        if (path === '/') return page(...paths)
        const number = Number(path.slice(1))
        if (number % 4 === 0) return { status: 404 }
        return number % 4 === 1 ? redirect(`/${number + 1}`) : page()
      },
    })
    const words = [web.url('mixed.test'), ...QUICK, '--max-pages', '20', '--per-host', '5', '--no-sitemaps']
    const outcome = await crawl(web, words)
    expect(outcome.end).toBe('limit')
    expect(outcome.pages).toHaveLength(20)
    expect(outcome.failed.length).toBeGreaterThan(0)
  })

  it('is no limit for a site that has exactly so many pages', async () => {
    const web = await webOf({ 'small.test': { ...NO_ROBOTS, '/': page('/1', '/2'), '/1': page(), '/2': page() } })
    const outcome = await crawl(web, [web.url('small.test'), ...QUICK, '--max-pages', '3'])
    expect([outcome.end, outcome.pages.length]).toEqual(['finished', 3])
  })
})

describe('the depth limit', () => {
  it('counts the shortest path, also when a longer one is found first', async () => {
    // /deep is reached in 4 steps at once, and in 2 through a page that is asked for last.
    const web = await webOf({
      'paths.test': {
        ...NO_ROBOTS,
        '/': page('/a', '/late'),
        '/a': page('/b'),
        '/b': page('/c'),
        '/c': page('/deep'),
        '/late': redirect('/later'),
        '/later': page('/deep'),
        '/deep': page('/beyond'),
        '/beyond': page('/too-far'),
        '/too-far': page(),
      },
    })
    const outcome = await crawl(web, [web.url('paths.test'), ...QUICK, '--max-depth', '3'])
    expect(savedPaths(outcome)).toEqual(['/', '/a', '/b', '/beyond', '/c', '/deep', '/later'])
    expect(pathsOf(outcome.skipped.filter(({ reason }) => reason === 'depth'))).toEqual(['/too-far'])
  })

  it('holds over two hosts of which one is late: a page freed by a shorter path is asked for', async () => {
    let release = (): void => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    const web = await webOf({
      'fast.test': ({ path, url }) => {
        if (path === '/robots.txt') return { status: 404 }
        if (path === '/end') release()
        const links: Record<string, string> = { '/': '/a', '/a': '/b', '/b': '/c', '/c': '/end' }
        return page(...(links[path] === undefined ? [url('shared.test', '/x')] : [links[path]]))
      },
      'late.test': async ({ path, url }) => {
        if (path === '/robots.txt') return { status: 404 }
        await gate
        return page(url('shared.test', '/x'))
      },
      'shared.test': { ...NO_ROBOTS, '/x': page('/y'), '/y': page('/z'), '/z': page('/w'), '/w': page() },
    })
    const seeds = [web.url('fast.test'), web.url('late.test')]
    const outcome = await crawl(web, [...seeds, ...QUICK, '--max-depth', '4', '--scope', 'any', '--no-sitemaps'])
    expect(pathsOf(outcome.pages.filter(({ url }) => url.includes('shared.test')))).toEqual(['/w', '/x', '/y', '/z'])
  })
})

describe('the scope', () => {
  const site: Readonly<Record<string, Answer>> = {
    ...NO_ROBOTS,
    '/docs/': page('/docs/a', '/docs/sub/b', '/docs', '/docs-old/x', '/docsx', '/', '/docs/../up', '/docs/%2e%2e/up2'),
    '/docs/a': page('/docs/a?page=2', '/docs/a#part', 'mailto:x@y.test', 'javascript:void(0)', '//other.test/'),
    '/docs/a?page=2': page('/docs/A'),
    '/docs/A': page(),
    '/docs/sub/b': page('../c', '../../up3'),
    '/docs/c': page(),
    '/docs': page(),
    '/docs-old/x': page(),
  }
  it('is the folder of the seed, in whole segments', async () => {
    const web = await webOf({ 'docs.test': site })
    const outcome = await crawl(web, [web.url('docs.test', '/docs/'), ...QUICK])
    const expected = ['/docs/', '/docs/A', '/docs/a', '/docs/a?page=2', '/docs/c', '/docs/sub/b']
    expect(savedPaths(outcome).filter((path) => path !== '/docs')).toEqual(expected)
    expect(pagesAsked(web, 'docs.test').filter((path) => /docs-old|docsx|up/.test(path) || path === '/')).toEqual([])
    expect(web.log.every((entry) => entry.host === 'docs.test')).toBe(true)
  })

  it('is narrowed by --include and --exclude exactly, and the seed is always in', async () => {
    const web = await webOf({
      'shop.test': ({ path }) => {
        if (path === '/robots.txt') return { status: 404 }
        if (path !== '/') return page()
        return page('/a/1', '/a/2', '/a/private/3', '/b/1', '/a/4.pdf', '/c')
      },
    })
    const words = [web.url('shop.test'), ...QUICK, '--no-sitemaps', '--include', '/a/**', '--exclude', '**/private/**']
    const outcome = await crawl(web, [...words, '--exclude', '*.pdf', '--exclude', '**/*.pdf'])
    expect(savedPaths(outcome)).toEqual(['/', '/a/1', '/a/2'])
    expect(pagesAsked(web, 'shop.test').sort()).toEqual(['/', '/a/1', '/a/2'])
  })

  it('is checked again after a redirect, which is not followed out of it', async () => {
    const web = await webOf({
      'in.test': ({ path, url }) => {
        if (path === '/robots.txt') return { status: 404 }
        if (path === '/docs/') return page('/docs/out', '/docs/host', '/docs/in', '/docs/chain')
        if (path === '/docs/out') return redirect('/docs-old/')
        if (path === '/docs/host') return redirect(url('out.test'))
        if (path === '/docs/chain') return redirect('/docs/out')
        return path === '/docs/in' ? redirect('/docs/target', 308) : page()
      },
      'out.test': { '/': page() },
    })
    const outcome = await crawl(web, [web.url('in.test', '/docs/'), ...QUICK, '--no-sitemaps'])
    expect(endings(outcome)).toEqual(
      new Map([
        [web.url('in.test', '/docs/'), 'page'],
        [web.url('in.test', '/docs/target'), 'page'],
        [web.url('in.test', '/docs/out'), 'redirect-scope'],
        [web.url('in.test', '/docs/host'), 'redirect-scope'],
        [web.url('in.test', '/docs/in'), 'redirect'],
        [web.url('in.test', '/docs/chain'), 'redirect'],
      ]),
    )
    expect(web.log.some((entry) => entry.host === 'out.test')).toBe(false)
  })

  it('ends redirect loops, and chains that are too long', async () => {
    const web = await webOf({
      'loop.test': ({ path }) => {
        if (path === '/robots.txt') return { status: 404 }
        if (path === '/') return page('/self', '/a', '/endless/0', '/slash')
        if (path === '/self') return redirect('/self')
        if (path === '/slash') return redirect('/slash/')
        if (path === '/slash/') return redirect('/slash')
        if (path.startsWith('/endless/')) return redirect(`/endless/${Number(path.slice(9)) + 1}`)
        return redirect(path === '/a' ? '/b' : '/a')
      },
    })
    const outcome = await crawl(web, [web.url('loop.test'), ...QUICK, '--no-sitemaps', '--max-redirects', '5'])
    expect(outcome.end).toBe('finished')
    const asked = pagesAsked(web, 'loop.test')
    expect(new Set(asked).size).toBe(asked.length)
    expect(asked.filter((path) => path.startsWith('/endless/'))).toHaveLength(6)
    expect(endings(outcome).get(web.url('loop.test', '/endless/5'))).toBe('redirect-limit')
  })
})

describe('links', () => {
  it('are found in every element that names a page, and resolved against base', async () => {
    const head =
      '<base href="/base/"><link rel="canonical" href="canonical"><link rel="alternate" hreflang="de" href="de">' +
      '<link rel="next" href="next"><link rel="stylesheet" href="style.css"><meta http-equiv="refresh" content="5; url=refreshed">'
    const body =
      '<a href="plain">x</a><map><area href="area"></map><iframe src="framed"></iframe><img src="image.png">' +
      '<script src="script.js"></script><a href="">self</a><a href="?q=1&amp;r=2">query</a><a href="#here">x</a>' +
      '<!-- <a href="commented">x</a> --><script>var s = \'<a href="scripted">x</a>\'</script>' +
      '<template><a href="templated">x</a></template><A HREF=upper>x</A><a href="\n spa\tced ">x</a>'
    const web = await webOf({
      'links.test': ({ path }) => {
        if (path === '/robots.txt') return { status: 404 }
        return path === '/' ? html(body, head) : page()
      },
    })
    const outcome = await crawl(web, [web.url('links.test'), ...QUICK, '--no-sitemaps'])
    const paths = savedPaths(outcome)
    for (const name of 'canonical de next refreshed plain area framed upper spaced'.split(' ')) {
      expect(paths, name).toContain(`/base/${name}`)
    }
    expect(paths).toContain('/base/?q=1&r=2')
    for (const name of ['style.css', 'image.png', 'script.js', 'commented', 'scripted']) {
      expect(paths, name).not.toContain(`/base/${name}`)
    }
    expect(new Set(paths).size).toBe(paths.length)
  })

  it('are not followed where rel, meta robots or X-Robots-Tag say nofollow, unless told to', async () => {
    const site: HostBehaviour = ({ path }) => {
      if (path === '/robots.txt') return { status: 404 }
      if (path === '/') return html('<a rel="nofollow" href="/rel">x</a><a href="/meta">x</a><a href="/header">x</a>')
      if (path === '/meta') return html('<a href="/by-meta">x</a>', '<meta name="robots" content="nofollow">')
      if (path === '/header') return { ...page('/by-header'), headers: { 'x-robots-tag': 'nofollow' } }
      return page()
    }
    const web = await webOf({ 'a.test': site, 'b.test': site })
    const words = [...QUICK, '--no-sitemaps']
    expect(savedPaths(await crawl(web, [web.url('a.test'), ...words]))).toEqual(['/', '/header', '/meta'])
    const all = ['/', '/by-header', '/by-meta', '/header', '/meta', '/rel']
    expect(savedPaths(await crawl(web, [web.url('b.test'), ...words, '--follow-nofollow']))).toEqual(all)
  })

  it('that mean the same page are asked for once', async () => {
    const web = await webOf({
      'same.test': ({ path, url }) => {
        if (path === '/robots.txt') return { status: 404 }
        if (path !== '/') return page()
        const same = ['/a', '/a#x', '/%61', './a', 'b/../a', url('SAME.test', '/a'), '/a#', '\\a']
        return page(...same, '/q?', '/q')
      },
    })
    await crawl(web, [web.url('same.test'), ...QUICK, '--no-sitemaps'])
    expect(pagesAsked(web, 'same.test').filter((path) => /^\/(a|%61)$/.test(path))).toHaveLength(1)
  })
})

describe('sitemaps', () => {
  const xml = (body: string): Answer => ({
    body: `<?xml version="1.0"?>${body}`,
    headers: { 'content-type': 'text/xml' },
  })

  it('bring pages that no link names, through an index, gzip and redirects, within the scope', async () => {
    const web = await webOf({
      'maps.test': ({ path, url }) => {
        const at = (name: string): string => url('maps.test', name)
        const set = (...names: string[]): string =>
          `<urlset>${names.map((name) => `<url><loc>${at(name)}</loc><lastmod>2024-05-01</lastmod></url>`).join('')}</urlset>`
        switch (path) {
          case '/robots.txt':
            return { body: `Sitemap: ${at('/index-map.xml')}\nSitemap: /moved-map.xml\n` }
          case '/index-map.xml':
            return xml(
              `<sitemapindex><sitemap><loc>${at('/one-map.xml')}</loc><lastmod>2024-05-01</lastmod></sitemap>` +
                `<sitemap><loc>${at('/two-map.xml.gz')}</loc></sitemap></sitemapindex>`,
            )
          case '/one-map.xml':
            return xml(set('/docs/one', '/docs/two', '/elsewhere'))
          case '/two-map.xml.gz':
            return { body: gzipSync(set('/docs/packed')), headers: { 'content-type': 'application/gzip' } }
          case '/moved-map.xml':
            return redirect('/text-map.txt', 301)
          case '/text-map.txt':
            return { body: `${at('/docs/text')}\n`, headers: { 'content-type': 'text/plain' } }
          default:
            return page()
        }
      },
    })
    const outcome = await crawl(web, [web.url('maps.test', '/docs/'), ...QUICK])
    expect(savedPaths(outcome)).toEqual(['/docs/', '/docs/one', '/docs/packed', '/docs/text', '/docs/two'])
    const asked = askedOf(web, 'maps.test')
    expect(new Set(asked).size).toBe(asked.length)
    expect(asked).toContain('/sitemap.xml')
    expect(outcome.pages.find(({ url }) => url.endsWith('/one'))).toMatchObject({ via: 'sitemap', depth: 1 })
  })

  it('are looked for at the usual place where robots.txt names none, and not at all with --no-sitemaps', async () => {
    const site: HostBehaviour = ({ path, url, host }) => {
      if (path === '/robots.txt') return { status: 404 }
      if (path === '/sitemap.xml') return xml(`<urlset><url><loc>${url(host, '/hidden')}</loc></url></urlset>`)
      return page()
    }
    const web = await webOf({ 'a.test': site, 'b.test': site })
    expect(savedPaths(await crawl(web, [web.url('a.test'), ...QUICK]))).toEqual(['/', '/hidden'])
    expect(savedPaths(await crawl(web, [web.url('b.test'), ...QUICK, '--no-sitemaps']))).toEqual(['/'])
    expect(askedOf(web, 'b.test')).toEqual(['/robots.txt', '/'])
  })

  it('that are broken, endless or refer to themselves cost nothing but themselves', async () => {
    const web = await webOf({
      'bad.test': ({ path, url }) => {
        const at = (name: string): string => url('bad.test', name)
        if (path === '/robots.txt') return { body: `Sitemap: ${at('/m/0-map.xml')}\nSitemap: ${at('/torn-map.xml')}\n` }
        if (path === '/torn-map.xml') return xml(`<urlset><url><loc>${at('/torn')}</loc></url><url><loc>`)
        const level = /^\/m\/(\d+)-map\.xml$/.exec(path)?.[1]
        if (level === undefined) return page()
        const next = at(`/m/${Number(level) + 1}-map.xml`)
        return xml(
          `<sitemapindex><sitemap><loc>${at(path)}</loc></sitemap><sitemap><loc>${next}</loc></sitemap></sitemapindex>`,
        )
      },
    })
    const outcome = await crawl(web, [web.url('bad.test'), ...QUICK])
    expect(outcome.end).toBe('finished')
    expect(savedPaths(outcome)).toEqual(['/', '/torn'])
    expect(askedOf(web, 'bad.test').filter((path) => path.startsWith('/m/')).length).toBeLessThanOrEqual(4)
  })
})

describe('what a server does to one page', () => {
  it('costs that page: errors are tried again as configured, and recorded once', async () => {
    const web = await webOf({
      'odd.test': ({ path, n }) => {
        switch (path) {
          case '/robots.txt':
            return { status: 404 }
          case '/':
            return page('/flaky', '/broken', '/gone', '/reset', '/empty', '/teapot', '/binary', '/lying')
          case '/flaky':
            return n < 3 ? { status: 500 } : page()
          case '/broken':
            return { status: 502 }
          case '/gone':
            return { status: 410 }
          case '/reset':
            return { destroy: true }
          case '/empty':
            return { status: 204 }
          case '/binary':
            return { body: Buffer.from([0, 1, 2, 255]), headers: { 'content-type': 'image/png' } }
          case '/lying':
            return { body: 'not gzip', headers: { 'content-type': 'text/html', 'content-encoding': 'gzip' } }
          default:
            return { status: 418 }
        }
      },
    })
    const outcome = await crawl(web, [web.url('odd.test'), ...QUICK, '--no-sitemaps', '--attempts', '3'])
    const at = (path: string): string | undefined => endings(outcome).get(web.url('odd.test', path))
    expect(['/flaky', '/empty', '/binary'].map(at)).toEqual(['page', 'page', 'page'])
    expect(['/broken', '/gone', '/teapot'].map(at)).toEqual(['http', 'http', 'http'])
    expect(at('/reset')).toMatch(/^(connect|protocol)$/)
    expect(at('/lying')).toBe('encoding')
    const times = (path: string): number => pagesAsked(web, 'odd.test').filter((asked) => asked === path).length
    expect(['/flaky', '/broken', '/gone', '/reset', '/teapot'].map(times)).toEqual([3, 3, 1, 3, 1])
    expect(outcome.pages.find(({ url }) => url.endsWith('/flaky'))?.attempts).toBe(3)
    expect(outcome.failed.find(({ url }) => url.endsWith('/broken'))?.attempts).toBe(3)
  })

  it('a host that answers 429 is left alone as long as it asks, and every page of it is had in the end', async () => {
    const web = await webOf({
      'busy.test': ({ path, n }) => {
        if (path === '/robots.txt') return { status: 404 }
        if (path === '/') return page('/1', '/2')
        return n === 1 ? { status: 429, headers: { 'retry-after': '1' } } : page()
      },
    })
    const outcome = await crawl(web, [web.url('busy.test'), ...QUICK, '--no-sitemaps'])
    expect(savedPaths(outcome)).toEqual(['/', '/1', '/2'])
    for (const [index, entry] of web.log.entries()) {
      if (entry.status !== 429) continue
      const next = web.log[index + 1]
      expect((next?.arrivedAt ?? Infinity) - (entry.answeredAt as number)).toBeGreaterThanOrEqual(1_000)
    }
  })

  it('a host that answers nothing but 503 is given up on, with every page accounted for', async () => {
    const web = await webOf({
      'down.test': ({ path }) => {
        if (path === '/robots.txt') return { status: 404 }
        return path === '/' ? page('/1', '/2', '/3') : { status: 503, headers: { 'retry-after': '0' } }
      },
    })
    const outcome = await crawl(web, [web.url('down.test'), ...QUICK, '--no-sitemaps', '--patience', '1s'])
    expect(outcome.end).toBe('finished')
    expect(outcome.skipped.map(({ reason }) => reason)).toEqual(Array(3).fill('host-unavailable'))
    expect(pagesAsked(web, 'down.test').length).toBeLessThanOrEqual(1 + 3 * 5)
  })
})
