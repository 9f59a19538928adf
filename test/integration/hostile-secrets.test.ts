/**
 * What a user trusts the crawl with: header fields for one origin, cookies, names and passwords in URLs. They reach the
 * origin that they are for, and nothing else: no other origin, no file, no screen.
 */
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runTiptoe, temporaryFolder, type Ending } from '../support/program.ts'

/** Each is found by the word that all have, however it is written down. */
const LITERAL = 'literal-swordfish'
const NAMED = 'named-swordfish'
const IN_SEED = 'seed-swordfish'
const IN_REDIRECT = 'redirect-swordfish'
const IN_BASE64 = Buffer.from(`user:${IN_SEED}`).toString('base64').replaceAll('=', '')

interface Asked {
  readonly origin: string
  readonly path: string
  readonly request: IncomingMessage
}

const servers: Server[] = []
const asked: Asked[] = []
let own = ''
let others: string[] = []
let ports: number[] = []

/** Every answer sets a cookie that tells whose it is. */
async function serve(): Promise<number> {
  const server = createServer((request, response) => {
    const origin = `http://${request.headers.host}`
    const path = request.url ?? ''
    asked.push({ origin, path, request })
    response.setHeader('set-cookie', [
      `id=cookie-swordfish-of-${request.headers.host?.replace(':', '-')}`,
      'wide=cookie-swordfish; Domain=test',
    ])
    if (path === '/robots.txt' && origin === others[2]) response.writeHead(302, { location: `${own}/robots.txt` })
    else if (path === '/robots.txt') response.writeHead(404)
    else if (path.startsWith('/go/')) response.writeHead(302, { location: `${others[Number(path.slice(4))]}/landed` })
    else if (path === '/with-password') {
      response.writeHead(302, { location: own.replace('//', `//user:${IN_REDIRECT}@`) + '/inner' })
    } else {
      response.setHeader('content-type', 'text/html')
      response.write(others.map((_, at) => `<a href=/go/${at}>x</a>`).join('') + '<a href=/with-password>y</a>')
    }
    response.end()
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

const folder = temporaryFolder()
const out = join(folder.path, 'out')
let ending: Ending

beforeAll(async () => {
  ports = [await serve(), await serve()]
  own = `http://own.test:${ports[0]}`
  // Another port, a name below, another name; https is another origin too, and no server here speaks it.
  others = [`http://own.test:${ports[1]}`, `http://sub.own.test:${ports[0]}`, `http://else.test:${ports[0]}`]
  const names = ['own.test', 'sub.own.test', 'else.test']
  ending = await runTiptoe(
    [
      [own.replace('//', `//user:${IN_SEED}@`) + '/', '-o', out, '-v', '--cookies', '--scope', 'any'],
      ['--header', `${own} Authorization: Bearer ${LITERAL}`, '--header', `${own} X-Key: $KEY`],
      ['--format', 'jsonl,markdown,html,warc', '--record-links', '--delay', '0s', '--attempts', '1'],
      ['--allow-address', '127.0.0.1'],
      names.flatMap((name) => ports.flatMap((port) => ['--resolve', `${name}:${port}:127.0.0.1`])),
    ].flat(),
    { env: { KEY: NAMED } },
  )
}, 60_000)
afterAll(() => {
  for (const server of servers) server.close()
  folder.remove()
})

describe('what is trusted to the crawl', () => {
  test('reaches its origin with every request', () => {
    expect(ending.code).toBe(0)
    const mine = asked.filter(({ origin }) => origin === own)
    expect(mine.map(({ path }) => path)).toContain('/inner')
    for (const { path, request } of mine) {
      const { authorization, 'x-key': key } = request.headers
      expect([path, authorization, key]).toEqual([path, `Bearer ${LITERAL}`, NAMED])
    }
    expect(mine.at(-1)?.request.headers.cookie).toContain(`cookie-swordfish-of-own.test-${ports[0]}`)
  })

  test('reaches no other origin, wherever a redirect leads', () => {
    for (const origin of others) {
      const theirs = asked.filter((request) => request.origin === origin)
      expect(theirs.map(({ path }) => path)).toContain('/landed')
      const [first] = theirs
      expect(first?.request.headers.cookie).toBeUndefined()
      for (const { request } of theirs) {
        const { cookie, ...fields } = request.headers
        expect(JSON.stringify(fields)).not.toMatch(/swordfish/)
        const owners = (cookie ?? '').match(/of-\S+?(?=;|$)/g) ?? []
        expect(owners.every((owner) => owner === `of-${origin.slice('http://'.length).replace(':', '-')}`)).toBe(true)
      }
    }
  })

  test('is on no screen', async () => {
    const screens = [ending]
    for (const words of [
      ['status', out],
      ['why', `${own}/`, out],
      ['audit', out],
    ])
      screens.push(await runTiptoe(words))
    for (const { stdout, stderr } of screens) expect(stdout + stderr).not.toMatch(/swordfish/)
  }, 60_000)

  test('is in no file', () => {
    const names = readdirSync(out, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    expect(names.map(({ name }) => name)).toEqual(expect.arrayContaining(['pages.jsonl', 'crawl.yaml', 'crawl.db']))
    expect(names.some(({ name }) => name.endsWith('.warc.gz'))).toBe(true)
    for (const { parentPath, name } of names) {
      const bytes = readFileSync(join(parentPath, name))
      const text = (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('latin1')
      // An archive holds the answers as they came: what a host itself writes into its Location is the host's own.
      const ours = text.replaceAll(IN_REDIRECT, '')
      expect([name, /swordfish/.test(ours), ours.includes(IN_BASE64)]).toEqual([name, false, false])
    }
  })
})
