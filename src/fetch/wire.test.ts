import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import {
  expectResponse,
  MEGABYTE,
  serveBytes,
  serveHttp,
  serveHttp2,
  serveRaw,
  signalled,
  testFetcher,
  textOf,
  type TestFetcher,
} from './test-support/loopback.ts'
import type { WireExchange } from './index.ts'
import type { FetchOutcome } from './outcome.ts'

function wireOf(outcome: FetchOutcome): WireExchange {
  const { wire } = expectResponse(outcome)
  if (wire === undefined) throw new Error('expected the wire exchange')
  return wire
}

describe('the exchange as it went over the wire', () => {
  test('is there only if it was asked for', async () => {
    const port = await serveHttp((_request, response) => response.end('ok'))
    expect(expectResponse(await testFetcher().get(`http://127.0.0.1:${port}/`)).wire).toBeUndefined()
  })

  test('has the request as it was sent', async () => {
    const { promise: asked, resolve } = signalled<string>()
    const port = await serveHttp((request, response) => {
      const lines = request.rawHeaders.map((text, at) => (at % 2 === 0 ? `${text}: ` : `${text}\r\n`))
      resolve(`${request.method} ${request.url} HTTP/${request.httpVersion}\r\n${lines.join('')}\r\n`)
      response.end('ok')
    })
    const request = { keepWire: true, headers: { 'If-None-Match': '"x"' } }
    const wire = wireOf(await testFetcher().get(`http://127.0.0.1:${port}/a?b`, request))
    expect(wire.requestHead).toBe(await asked)
    expect(wire.requestHead).toContain('if-none-match: "x"\r\n')
  })

  test('has the head of the answer in its own order and case, and the body without chunks but still coded', async () => {
    const coded = gzipSync('hello')
    const head =
      'HTTP/1.1 200 Fine So Far\r\nX-b: 2\r\ncontent-ENCODING: gzip\r\nX-A: \xe9\r\nX-b: 1\r\nTransfer-Encoding: chunked\r\n\r\n'
    const port = await serveBytes(
      Buffer.concat([
        Buffer.from(`HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n${head}5\r\n`, 'latin1'),
        coded.subarray(0, 5),
        Buffer.from(`\r\n${(coded.length - 5).toString(16)}\r\n`),
        coded.subarray(5),
        Buffer.from('\r\n0\r\n\r\n'),
      ]),
    )
    const outcome = await testFetcher().get(`http://127.0.0.1:${port}/`, { keepWire: true })
    expect(textOf(outcome)).toBe('hello')
    expect(wireOf(outcome).responseHead).toBe(head)
    expect(Buffer.compare(wireOf(outcome).body, coded)).toBe(0)
  })

  test('keeps odd lines as they are, but for their ends', async () => {
    const port = await serveRaw((socket) => socket.write('HTTP/1.0 200\nno field\nA : b\n c\nContent-Length: 2\n\nok'))
    const wire = wireOf(await testFetcher().get(`http://127.0.0.1:${port}/`, { keepWire: true }))
    expect(wire.responseHead).toBe('HTTP/1.0 200\r\nno field\r\nA : b\r\n c\r\nContent-Length: 2\r\n\r\n')
    expect(Buffer.from(wire.body).toString()).toBe('ok')
  })

  test('has as much of the body as was read, be it decoded at once or as it comes', async () => {
    const noise = Buffer.from(
      Array.from({ length: MEGABYTE }, (_, index) => (index * 48_271 + (index >> 7) * 7919) & 255),
    )
    const coded = gzipSync(noise, { level: 0 })
    const port = await serveHttp((_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(coded),
    )
    const whole = await testFetcher().get(`http://127.0.0.1:${port}/`, { keepWire: true })
    expect(Buffer.compare(wireOf(whole).body, coded)).toBe(0)
    const cut = await testFetcher({ maxWireBytes: 300_000 }).get(`http://127.0.0.1:${port}/`, { keepWire: true })
    expect(Buffer.compare(wireOf(cut).body, coded.subarray(0, 300_000))).toBe(0)
  })

  test('of HTTP/2 is written as HTTP/1.1 would have it', async () => {
    const port = await serveHttp2((stream) => {
      stream.respond({ ':status': 404, 'x-b': ['2', '1'], 'x-a': '3' }, { sendDate: false } as object)
      stream.end('gone')
    })
    const wire = wireOf(await testFetcher().get(`https://127.0.0.1:${port}/p?q`, { keepWire: true }))
    expect(wire.requestHead).toMatch(/^GET \/p\?q HTTP\/1\.1\r\nhost: 127\.0\.0\.1:\d+\r\nuser-agent: /)
    expect(wire.requestHead).toMatch(/[^\n]\r\n\r\n$/)
    expect(wire.requestHead).not.toMatch(/^:/m)
    expect(wire.responseHead).toMatch(/^HTTP\/1\.1 404 \r\nx-b: 2\r\nx-b: 1\r\nx-a: 3\r\n(?:date: .*\r\n)?\r\n$/)
    expect(Buffer.from(wire.body).toString()).toBe('gone')
  })

  test('has nothing that is secret, though it is sent', async () => {
    const sent: string[] = []
    let sentInHttp2 = ''
    const port = await serveHttp((request, response) => {
      const { authorization, cookie, 'x-key': key } = request.headers
      sent.push([authorization, key, cookie].join(' '))
      response.setHeader('set-cookie', 'id=biscuit')
      response.end('ok')
    })
    const secure = await serveHttp2((stream, headers) => {
      sentInHttp2 = String(headers['x-key'])
      stream.respond({ ':status': 200 })
      stream.end('ok')
    })
    const fetcher = testFetcher({
      cookies: true,
      headers: [
        { origin: `http://127.0.0.1:${port}`, name: 'authorization', value: 'Bearer swordfish' },
        { origin: `http://127.0.0.1:${port}`, name: 'x-key', value: 'opensesame' },
        { origin: `https://127.0.0.1:${secure}`, name: 'x-key', value: 'opensesame' },
      ],
    })
    const request = { keepWire: true, headers: { Cookie: 'by=hand' } }
    for (const url of [`http://127.0.0.1:${port}/`, `http://127.0.0.1:${port}/`, `https://127.0.0.1:${secure}/`]) {
      const { requestHead } = wireOf(await fetcher.get(url, request))
      expect(requestHead).not.toMatch(/swordfish|opensesame|biscuit|by=hand|authorization|x-key|cookie/i)
    }
    expect(sent[1]).toMatch(/^Bearer swordfish opensesame .*biscuit/)
    expect(sentInHttp2).toBe('opensesame')
  })

  const SETS_COOKIES =
    'HTTP/1.1 200 OK\r\nA: b\r\nSet-Cookie: id=biscuit\r\nset-COOKIE : x=\r\n\tbiscuit;\r\n path=/\r\nSet-Cookies: no\r\nContent-Length: 2\r\n\r\n'
  const HIDDEN = 'HTTP/1.1 200 OK\r\nA: b\r\nSet-Cookies: no\r\nContent-Length: 2\r\n\r\n'

  test('has the cookies of the answer only where they open nothing', async () => {
    const port = await serveBytes(`${SETS_COOKIES}ok`)
    const origin = `http://127.0.0.1:${port}`
    const headOf = async (fetcher: TestFetcher): Promise<string> =>
      wireOf(await fetcher.get(`${origin}/`, { keepWire: true })).responseHead
    const header = { name: 'x-key', value: 'opensesame' }
    expect(await headOf(testFetcher())).toBe(SETS_COOKIES)
    expect(await headOf(testFetcher({ headers: [{ ...header, origin: 'http://other.test' }] }))).toBe(SETS_COOKIES)
    expect(await headOf(testFetcher({ headers: [{ ...header, origin }] }))).toBe(HIDDEN)
    expect(await headOf(testFetcher({ cookies: true }))).toBe(HIDDEN)
  })

  test('has no cookies of an answer in HTTP/2 either', async () => {
    const port = await serveHttp2((stream) => {
      stream.respond({ ':status': 200, 'set-cookie': ['id=biscuit', 'x=biscuit'], 'x-a': '1' })
      stream.end('ok')
    })
    const { responseHead } = wireOf(
      await testFetcher({ cookies: true }).get(`https://127.0.0.1:${port}/`, { keepWire: true }),
    )
    expect(responseHead).toContain('x-a: 1\r\n')
    expect(responseHead).not.toMatch(/biscuit|cookie/i)
  })
})
