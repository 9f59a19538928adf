/**
 * A site that the crawl may reach leads, in every way that it can, to addresses that it may not. Whoever listens there
 * hears nothing, and each refusal is recorded with what the address is.
 */
import { createServer as createHttpServer } from 'node:http'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SkipRecord } from '../../src/model/index.ts'
import { readOutput } from '../support/crawl-output.ts'
import { runTiptoe, temporaryFolder } from '../support/program.ts'

/** 127.0.0.2 and others of this machine in every notation, and one of each network that is nobody's to ask. */
const HOSTS = [
  [
    '127.0.0.2',
    '2130706434',
    '0x7f000002',
    '017700000002',
    '0177.0.0.2',
    '0x7f.0.0.2',
    '127.2',
    '127.0.2',
    '127.0.0.2.',
  ],
  ['127%2e0%2e0%2e2', '%31%32%37.0.0.2', '１２７。０。０。２', '①②⑦.0.0.2', 'site.test@127.0.0.2', 'u:p@127.0.0.2'],
  [
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '[::]',
    '[::ffff:127.0.0.2]',
    '[::ffff:7f00:2]',
    '[::127.0.0.2]',
    '[64:ff9b::127.0.0.2]',
  ],
  ['[2002:7f00:2::1]', '[2a00::5efe:127.0.0.2]', '[2a00::200:5efe:127.0.0.2]', '[64:ff9b:1::127.0.0.2]'],
  ['0.0.0.0', '0', '10.0.0.1', '100.64.0.1', '169.254.169.254', '172.16.0.1', '192.0.0.1', '192.168.0.1', '198.18.0.1'],
  ['192.0.2.1', '198.51.100.1', '203.0.113.1', '168.63.129.16', '224.0.0.1', '240.0.0.1', '255.255.255.255'],
  ['[fc00::1]', '[fd00:ec2::254]', '[fe80::1]', '[fec0::1]', '[ff02::1]', '[2001:db8::1]', '[100::1]', '[4000::1]'],
  'inside.test',
].flat()

let listener: Server[] = []
let heard = 0
let site: Server
let sitePort = 0
let forbiddenPort = 0

const listen = (server: Server, host: string, port = 0): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port))
  })

const targets = (): string[] => HOSTS.map((host, at) => `http://${host}:${forbiddenPort}/t${at}`)
const list = (write: (url: string, at: number) => string): string => targets().map(write).join('\n')

const PAGES: Readonly<Record<string, () => readonly [type: string, body: string]>> = {
  '/robots.txt': () => ['text/plain', `User-agent: *\nAllow: /\nSitemap: /s.xml\n${list((url) => `Sitemap: ${url}`)}`],
  '/s.xml': () => ['text/xml', `<urlset>${list((url) => `<url><loc>${url}?map</loc></url>`)}</urlset>`],
  '/feed': () => [
    'application/rss+xml',
    `<rss><channel>${list((url) => `<item><link>${url}?feed</link></item>`)}</channel></rss>`,
  ],
  '/based': () => ['text/html', `<base href="http://127.0.0.2:${forbiddenPort}/"><a href="based">x</a>`],
  '/': () => [
    'text/html',
    `<link rel=alternate type=application/rss+xml href=/feed><a href=/based>b</a><a href=/feed>f</a>` +
      list(
        (url, at) =>
          `<a href="${url}">l</a><a href=/go/${at}>r</a><a href=/same/${at}>c</a><iframe src="${url}?frame"></iframe>`,
      ),
  ],
}

beforeAll(async () => {
  const hear = (): Server =>
    createServer((socket) => {
      heard++
      socket.destroy()
    })
  const first = hear()
  listener = [first]
  forbiddenPort = await listen(first, '0.0.0.0')
  const second = hear()
  // A machine without IPv6 has nobody to hear there.
  await listen(second, '::1', forbiddenPort).then(
    () => listener.push(second),
    () => {},
  )
  site = createHttpServer((request, response) => {
    const path = request.url ?? ''
    const [, kind, number] = /^\/(go|same)\/(\d+)$/.exec(path) ?? []
    const target = targets()[Number(number)] ?? ''
    if (kind === 'go') return void response.writeHead(302, { location: Buffer.from(target).toString('latin1') }).end()
    if (kind === 'same') {
      response.writeHead(200, { 'content-type': 'text/html' })
      return void response.end(
        `<link rel=canonical href="${target}?same"><meta http-equiv=refresh content="0;url=${target}?refresh">`,
      )
    }
    const [type, body] = PAGES[path]?.() ?? ['text/html', '']
    response.writeHead(200, { 'content-type': type }).end(body)
  })
  sitePort = await listen(site, '127.0.0.1')
})
afterAll(() => {
  for (const server of [site, ...listener]) server.close()
})

const reach = (): string[] =>
  [
    ['--allow-address', '127.0.0.1', '--resolve', `inside.test:${forbiddenPort}:127.0.0.2`],
    ['--resolve', `site.test:${sitePort}:127.0.0.1`],
  ].flat()

test('no way leads to an address that is not allowed', async () => {
  const folder = temporaryFolder()
  const out = join(folder.path, 'out')
  const words = [
    [`http://site.test:${sitePort}/`, '-o', out, '--scope', 'any', '--no-traps'],
    ['--delay', '0s', '--attempts', '1', '--fail-on', '100%'],
  ].flat()
  const ending = await runTiptoe([...words, ...reach()])
  expect(ending.code).toBe(0)
  expect(heard).toBe(0)
  const { pages, skipped, failed } = readOutput(out)
  expect(failed).toEqual([])
  expect(pages.every(({ url }) => url.startsWith(`http://site.test:${sitePort}/`))).toBe(true)
  const refused = skipped.filter(({ reason }) => reason === 'address')
  const byNumber = new Map(refused.map((record): [string, SkipRecord] => [new URL(record.url).pathname, record]))
  for (const [at, host] of HOSTS.entries()) {
    expect([host, byNumber.get(`/t${at}`)?.detail]).toEqual([host, expect.stringContaining('is not public (')])
  }
  // Beside the links: frames, entries of the sitemap and the feed, canonicals, refreshes and the base of a page.
  for (const by of ['?frame', '?map', '?feed', '?same', '?refresh', '/based']) {
    expect([by, refused.some(({ url }) => url.endsWith(by))]).toEqual([by, true])
  }
  folder.remove()
}, 60_000)

test('nor do the commands that ask one host', async () => {
  for (const url of [
    `http://127.0.0.2:${forbiddenPort}/`,
    `http://[::1]:${forbiddenPort}/`,
    `http://inside.test:${forbiddenPort}/`,
  ]) {
    for (const command of ['fetch', 'robots']) {
      const { code, stdout, stderr } = await runTiptoe([command, url, ...reach()])
      expect([command, url, code]).toEqual([command, url, 1])
      expect(stdout + stderr).toContain('is not public (this machine itself)')
    }
  }
  expect(heard).toBe(0)
}, 60_000)

test('an address that is allowed is heard of', async () => {
  await runTiptoe(['fetch', `http://127.0.0.2:${forbiddenPort}/`, '--allow-address', '127.0.0.2'])
  expect(heard).toBeGreaterThan(0)
}, 60_000)
