import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createVirtualClock } from '../../base/index.ts'
import { createDemoWeb, type DemoWeb } from './index.ts'

const clock = createVirtualClock()
let web: DemoWeb

beforeAll(async () => {
  web = await createDemoWeb({ clock })
})
afterAll(() => web.close())

interface Got {
  status: number
  location: string | undefined
  contentType: string | undefined
  body: Buffer
}

async function get(host: string, path: string): Promise<Got> {
  const asked = web.log.length
  const answer = new Promise<Got>((resolve, reject) => {
    const headers = { host: `${host}:${web.port}` }
    const sent = request({ host: '127.0.0.1', port: web.port, path, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        const { location, 'content-type': contentType } = response.headers
        resolve({ status: response.statusCode ?? 0, location, contentType, body: Buffer.concat(chunks) })
      })
    })
    sent.on('error', reject)
    sent.end()
  })
  answer.catch(() => {})
  while (web.log.length === asked) await new Promise((resolve) => setImmediate(resolve))
  await clock.advance(1500)
  return answer
}

/** Every page of a host that links lead to, as a visitor without manners finds them. */
async function walk(host: string): Promise<Map<string, Got>> {
  const found = new Map<string, Got>()
  const queue = ['/']
  for (const path of queue) {
    const got = await get(host, path)
    found.set(path, got)
    const links = [...got.body.toString('latin1').matchAll(/href="(\/[^"]*)"/g)].map((match) => match[1] ?? '/')
    const next = got.location?.startsWith('/') === true ? [...links, got.location] : links
    for (const link of next) if (!queue.includes(link)) queue.push(link)
  }
  return found
}

describe('the demo’s web', () => {
  it('has a dozen hosts, a seed and a line of story for each', () => {
    expect(web.story).toHaveLength(12)
    expect(web.seeds).toEqual(web.story.map(({ host }) => `http://${host}:${web.port}/`))
    expect(web.resolveFlags()).toEqual(web.story.map(({ host }) => `${host}:${web.port}:127.0.0.1`))
    for (const { host, what } of web.story) {
      expect(host.endsWith('.demo.test')).toBe(true)
      expect(what.length).toBeLessThan(80)
    }
  })

  it.each([
    ['fast.demo.test', 10],
    ['slow.demo.test', 8],
    ['patient.demo.test', 8],
    ['private.demo.test', 6],
    ['docs.demo.test', 6],
    ['nihon.demo.test', 5],
    ['echo.demo.test', 8],
    ['sitemap.demo.test', 1],
  ])('%s has %i pages that links lead to, and all of them answer', async (host, pages) => {
    const found = await walk(host)
    expect(found.size).toBe(pages)
    for (const got of found.values()) {
      expect(got.status).toBe(200)
      expect(got.body.toString('latin1')).toMatch(/<title>[^<]+<\/title>/)
    }
  })

  it('holds every answer of the slow host back', async () => {
    await get('slow.demo.test', '/pendulum')
    const entry = web.log.at(-1)
    expect((entry?.answeredAt ?? 0) - (entry?.arrivedAt ?? 0)).toBe(1500)
  })

  it('states its rules in robots.txt', async () => {
    expect((await get('patient.demo.test', '/robots.txt')).body.toString()).toContain('Crawl-delay: 2')
    expect((await get('private.demo.test', '/robots.txt')).body.toString()).toContain('Disallow: /private/')
    expect((await get('closed.demo.test', '/robots.txt')).status).toBe(500)
    expect((await get('fast.demo.test', '/robots.txt')).status).toBe(404)
    await expect(get('dead.demo.test', '/robots.txt')).rejects.toThrow(/socket hang up|ECONNRESET/)
  })

  it('fails where it should, and one page only at first', async () => {
    const found = await walk('failing.demo.test')
    const statuses = Object.fromEntries([...found].map(([path, got]) => [path, got.status]))
    expect(statuses).toEqual({
      '/': 200,
      '/wheel': 200,
      '/stones': 200,
      '/hopper': 500,
      '/sluice': 500,
      '/attic': 404,
      '/third-step': 410,
    })
    expect((await get('failing.demo.test', '/hopper')).status).toBe(200)
  })

  it('redirects within the host, out of it, round and to nowhere', async () => {
    const found = await walk('moved.demo.test')
    const moves = Object.fromEntries([...found].map(([path, got]) => [path, got.location ?? got.status]))
    expect(moves).toEqual({
      '/': '/hall',
      '/hall': 200,
      '/old-counter': '/counter',
      '/forwarded': '/forwarding-desk',
      '/forwarding-desk': '/counter',
      '/counter': 200,
      '/abroad': `http://fast.demo.test:${web.port}/rye`,
      '/round': '/round',
      '/undeliverable': 302,
    })
  })

  it('names the pages of the sitemap host in its sitemap alone', async () => {
    expect((await get('sitemap.demo.test', '/robots.txt')).body.toString()).toContain(
      `Sitemap: http://sitemap.demo.test:${web.port}/sitemap.xml`,
    )
    const map = (await get('sitemap.demo.test', '/sitemap.xml')).body.toString()
    const locations = [...map.matchAll(/<loc>([^<]+)<\/loc>/g)].map((match) => new URL(match[1] ?? ''))
    expect(locations).toHaveLength(5)
    for (const { host, pathname } of locations) {
      expect(host).toBe(`sitemap.demo.test:${web.port}`)
      expect((await get('sitemap.demo.test', pathname)).status).toBe(200)
    }
  })

  it('writes Japanese in Shift_JIS and says so only inside the page', async () => {
    const { body, contentType } = await get('nihon.demo.test', '/pond')
    expect(contentType).toBe('text/html')
    const text = new TextDecoder('shift_jis', { fatal: true }).decode(body)
    expect(text).toContain('<meta charset="Shift_JIS">')
    expect(text).toContain('古池や蛙飛びこむ水の音')
  })
})
