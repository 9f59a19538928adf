/** What of a crawl is in its archive: every answer that something follows from, as it was sent. */
import { writeFileSync } from 'node:fs'
import { createSecureServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { createSystemClock, type Clock } from '../../src/base/index.ts'
import { TEST_CERTIFICATE, TEST_KEY } from '../../src/fetch/test-support/certificates.ts'
import { splitHttp } from '../../src/sink/warc/test-support/strict-reader.ts'
import { readArchive, type ArchivedAnswer } from '../support/archive.ts'
import { readOutput } from '../support/crawl-output.ts'
import { crawl, type CrawlOutcome } from '../support/crawl.ts'
import type { HostBehaviour, LoopbackWeb } from '../support/loopback-web.ts'
import { runTiptoe } from '../support/program.ts'
import { page, sideBySide } from '../support/side-by-side.ts'

const { webOf, newFolder, atEnd } = sideBySide()
const DAY_MS = 86_400_000

interface Archived {
  readonly web: LoopbackWeb
  readonly folder: string
  readonly outcome: CrawlOutcome
  /** The answers for one path, in order. */
  at(path: string): Promise<ArchivedAnswer[]>
  /** Once more, so much later, for what is due then. */
  again(laterMs: number): Promise<CrawlOutcome>
}

async function archived(host: HostBehaviour, words: readonly string[] = []): Promise<Archived> {
  const web = await webOf({ 'a.test': host })
  const folder = newFolder()
  const typed = [web.url('a.test'), '--delay', '0s', '--format', 'jsonl,warc', ...words]
  const run = (once: boolean, clock: Clock): Promise<CrawlOutcome> =>
    crawl(web, typed, { outputFolder: folder, store: join(folder, 'state'), once, clock })
  const outcome = await run(false, createSystemClock())
  return {
    web,
    folder,
    outcome,
    async at(path) {
      const { answers } = await readArchive(folder)
      return answers.filter(({ url }) => new URL(url).pathname === path)
    },
    again(laterMs) {
      const clock = createSystemClock()
      const now = (): number => clock.now() + laterMs
      const sleepUntil: Clock['sleepUntil'] = (at, signal) => clock.sleepUntil(at - laterMs, signal)
      return run(true, { ...clock, now, wall: () => clock.wall() + laterMs, sleepUntil })
    },
  }
}

const typeAndStatus = ({ type, status }: ArchivedAnswer): string => `${type} ${status}`

describe.concurrent('an archive', () => {
  it('has every kind of answer: robots.txt, sitemaps, redirects, errors, and those that were tried again', async () => {
    const { at } = await archived(({ path, url, n }) => {
      if (path === '/robots.txt') return { body: `User-agent: *\nSitemap: ${url('a.test', '/map.xml')}\n` }
      if (path === '/map.xml') return { body: `<urlset><url><loc>${url('a.test', '/mapped')}</loc></url></urlset>` }
      if (path === '/') return page('/moved', '/none', '/sick', '/busy', '/gone')
      if (path === '/moved') return { status: 301, headers: { location: '/target' }, body: 'over there' }
      if (path === '/none') return { status: 404, body: 'nothing here' }
      if (path === '/sick' && n < 3) return { status: 500, body: `failure ${n}` }
      if (path === '/busy' && n === 1) return { status: 429, headers: { 'retry-after': '0' }, body: 'later' }
      return path === '/gone' ? { destroy: true } : { body: `<p>${path}` }
    })
    const told = async (path: string): Promise<string[]> =>
      (await at(path)).map((answer) => `${typeAndStatus(answer)} ${answer.payload.toString()}`)
    expect(await told('/map.xml')).toEqual([expect.stringMatching(/^response 200 <urlset>/)])
    expect(await told('/robots.txt')).toEqual([expect.stringMatching(/^response 200 User-agent/)])
    expect(await told('/sitemap.xml')).toEqual([expect.stringMatching(/^response 200/)])
    expect(await told('/moved')).toEqual(['response 301 over there'])
    expect(await told('/target')).toEqual(['response 200 <p>/target'])
    expect(await told('/mapped')).toEqual(['response 200 <p>/mapped'])
    expect(await told('/none')).toEqual(['response 404 nothing here'])
    expect(await told('/sick')).toEqual(['response 500 failure 1', 'response 500 failure 2', 'response 200 <p>/sick'])
    expect(await told('/busy')).toEqual(['response 429 later', 'response 200 <p>/busy'])
    expect(await told('/gone')).toEqual([])
  })

  it('tells how each page was found', async () => {
    const { at, web } = await archived({ '/': page('/1'), '/1': page() }, ['--no-sitemaps'])
    const facts = async (path: string): Promise<string | undefined> => (await at(path))[0]?.metadata.block.toString()
    expect(await facts('/')).toMatch(/^foundBy: seed\r\ndepth: 0\r\nfetchTimeMs: \d+\r\ncharset: .+\r\n$/)
    expect(await facts('/1')).toContain(`via: ${web.url('a.test')}\r\nfoundBy: link\r\ndepth: 1\r\n`)
    const [home] = await at('/')
    expect(home?.request.block.toString()).toMatch(/^GET \/ HTTP\/1\.1\r\nhost: a\.test:\d+\r\n/)
    expect(home?.record.field('warc-ip-address')).toBe('127.0.0.1')
    expect(home?.record.fields.get('warc-protocol')).toEqual(['http/1.1'])
  })

  it('keeps a compressed body as it was sent', async () => {
    const html = `<title>Packed</title><p>${'many words '.repeat(200)}`
    const headers = { 'content-type': 'text/html', 'content-encoding': 'gzip' }
    const { at, outcome } = await archived({ '/': { headers, body: gzipSync(html) } }, ['--no-sitemaps'])
    expect(outcome.pages).toMatchObject([{ title: 'Packed' }])
    const [answer] = await at('/')
    expect(gunzipSync(answer?.payload ?? Buffer.alloc(0)).toString()).toBe(html)
    expect(splitHttp(answer?.record.block ?? Buffer.alloc(0)).lines).toContain('content-encoding: gzip')
  })

  it('says of a body that was cut that it is, with the length that is left', async () => {
    const body = `<title>Long</title>${'x'.repeat(50_000)}`
    const { at, outcome } = await archived({ '/': { body } }, ['--no-sitemaps', '--max-body-size', '20KB'])
    expect(outcome.pages).toMatchObject([{ truncated: true, limits: ['body-size'] }])
    const [answer] = await at('/')
    expect(answer?.record.field('warc-truncated')).toBe('length')
    const { payload = Buffer.alloc(0) } = answer ?? {}
    expect(payload.length).toBeGreaterThanOrEqual(20_000)
    expect(body.startsWith(payload.toString())).toBe(true)
    const { lines } = splitHttp(answer?.record.block ?? Buffer.alloc(0))
    expect(lines).toContain(`Content-Length: ${payload.length}`)
    expect(lines.filter((line) => /^content-length:/i.test(line))).toHaveLength(1)
  })

  it('refers to what it has when a page comes again, and keeps what is new', async () => {
    let visit = 1
    const { at, again } = await archived(
      ({ path, headers }) => {
        if (path === '/robots.txt') return { body: 'User-agent: *\n' }
        if (path === '/') return page('/same', '/dated', '/changing')
        if (path === '/same') return { body: '<p>the same' }
        if (path === '/changing') return { body: `<p>edition ${visit}` }
        const isKnown = headers['if-none-match'] === '"one"'
        return isKnown ? { status: 304, headers: { etag: '"one"' } } : { headers: { etag: '"one"' }, body: '<p>dated' }
      },
      ['--no-sitemaps'],
    )
    visit = 2
    await again(90 * DAY_MS)
    expect((await at('/same')).map(typeAndStatus)).toEqual(['response 200', 'revisit 200'])
    expect((await at('/changing')).map(({ payload }) => payload.toString())).toEqual(['<p>edition 1', '<p>edition 2'])
    const [whole, unchanged] = await at('/dated')
    expect([whole, unchanged].map((answer) => answer && typeAndStatus(answer))).toEqual(['response 200', 'revisit 304'])
    expect(unchanged?.record.field('warc-profile')).toMatch(/\/server-not-modified$/)
    expect(unchanged?.request.block.toString()).toContain('if-none-match: "one"')
    expect((await at('/robots.txt')).map(typeAndStatus)).toEqual(['response 200', 'revisit 200'])
  })

  it('has HTTP/2 over TLS as HTTP/1.1 would have it, and names what it was', { timeout: 30_000 }, async () => {
    const server = createSecureServer({ key: TEST_KEY, cert: TEST_CERTIFICATE }, (request, response) => {
      response.writeHead(request.url === '/' ? 200 : 404, { 'content-type': 'text/html', 'x-more': 'yes' })
      response.end('<title>Secure</title><p>Words.')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    atEnd(() => server.close())
    const { port } = server.address() as AddressInfo
    const folder = newFolder()
    const authority = join(folder, 'authority.pem')
    writeFileSync(authority, TEST_CERTIFICATE)
    const out = join(folder, 'crawl')
    const url = `https://secure.test:${port}/`
    const found = ['--resolve', `secure.test:${port}:127.0.0.1`, '--allow-address', '127.0.0.0/8']
    const words = [url, '-o', out, '--delay', '0s', '--format', 'jsonl,warc', '--no-sitemaps', ...found]
    expect(await runTiptoe(words, { env: { NODE_EXTRA_CA_CERTS: authority } })).toMatchObject({ code: 0 })
    expect(readOutput(out).pages).toMatchObject([{ url }])
    const { answers } = await readArchive(out)
    const answer = answers.find((each) => each.url === url)
    expect(answer?.record.fields.get('warc-protocol')).toEqual(['h2', 'tls/1.3'])
    expect(answer?.request.fields.get('warc-protocol')).toEqual(['h2', 'tls/1.3'])
    expect(splitHttp(answer?.record.block ?? Buffer.alloc(0)).lines).toEqual(
      expect.arrayContaining(['HTTP/1.1 200 ', 'content-type: text/html', 'x-more: yes']),
    )
    expect(answer?.request.block.toString()).toMatch(/^GET \/ HTTP\/1\.1\r\nhost: secure\.test:\d+\r\n/)
  })
})
