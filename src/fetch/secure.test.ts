import { createServer as createHttpsServer, type ServerOptions } from 'node:https'
import { constants } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createVirtualClock } from '../base/index.ts'
import { EXPIRED_CERTIFICATE, TEST_CERTIFICATE, TEST_KEY } from './test-support/certificates.ts'
import {
  END_HEADERS,
  END_STREAM,
  expectError,
  expectResponse,
  FRAME,
  frame,
  serveFrames,
  serveHttp,
  serveHttp2,
  serveRaw,
  signalled,
  STATUS_200,
  testFetcher,
  textOf,
  uint32,
  type TestFetcher,
} from './test-support/loopback.ts'
import type { FetcherOptions } from './index.ts'

const toLoopback = (options: Partial<FetcherOptions> = {}): TestFetcher =>
  testFetcher({ lookup: () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]), ...options })

async function serveHttps(certificate = TEST_CERTIFICATE, options: ServerOptions = {}): Promise<number> {
  const settings = { key: TEST_KEY, cert: certificate, ...options }
  const server = createHttpsServer(settings, (_request, response) => response.end('secure'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

describe('TLS', () => {
  test('a host with a good certificate, by name and by address', async () => {
    const port = await serveHttps()
    const fetcher = toLoopback()
    const response = expectResponse(await fetcher.get(`https://secure.test:${port}/`))
    expect(textOf(response)).toBe('secure')
    expect(response.protocol).toBe('http/1.1')
    expect(textOf(await fetcher.get(`https://127.0.0.1:${port}/`))).toBe('secure')
    expect(textOf(await fetcher.get(`https://secure.test.:${port}/`))).toBe('secure')
  })

  test.each([
    [
      'for another name',
      TEST_CERTIFICATE,
      'https://other.test',
      'the certificate is for another name than other.test (ERR_TLS_CERT_ALTNAME_INVALID)',
    ],
    [
      'that nobody vouches for',
      [],
      'https://secure.test',
      'the certificate is self-signed (DEPTH_ZERO_SELF_SIGNED_CERT)',
    ],
  ])('a certificate %s is an error in words', async (_name, ca, origin, detail) => {
    const port = await serveHttps()
    const error = expectError(await toLoopback({ ca }).get(`${origin}:${port}/`))
    expect(error).toMatchObject({ code: 'tls', retryable: false, offline: false, sent: true })
    expect(error.detail).toBe(detail)
  })

  test('an expired certificate is an error in words', async () => {
    const port = await serveHttps(EXPIRED_CERTIFICATE)
    const error = expectError(await toLoopback({ ca: EXPIRED_CERTIFICATE }).get(`https://secure.test:${port}/`))
    expect(error).toMatchObject({ code: 'tls', retryable: false })
    expect(error.detail).toBe('the certificate has expired (CERT_HAS_EXPIRED)')
  })

  test('any certificate will do if the user says so', async () => {
    const port = await serveHttps(EXPIRED_CERTIFICATE)
    expect(textOf(await toLoopback({ rejectUnauthorized: false }).get(`https://other.test:${port}/`))).toBe('secure')
  })

  test('an issuer that nobody knows is an error in words', async () => {
    const port = await serveHttps()
    const error = expectError(await toLoopback({ ca: EXPIRED_CERTIFICATE }).get(`https://secure.test:${port}/`))
    expect(error).toMatchObject({ code: 'tls', retryable: false })
    expect(error.detail).toMatch(/^the (certificate|signature|issuer)/)
  })

  test('a host that does not speak TLS is an error in words', async () => {
    const port = await serveHttp((_request, response) => response.end('plain'))
    const error = expectError(await toLoopback().get(`https://secure.test:${port}/`))
    expect(error).toMatchObject({ code: 'tls', retryable: false })
    expect(error.detail).toBe('the host does not speak TLS here (ERR_SSL_WRONG_VERSION_NUMBER)')
  })

  test('plain HTTP to a host that speaks TLS alone is a protocol error', async () => {
    const port = await serveHttps()
    const error = expectError(await toLoopback().get(`http://secure.test:${port}/`))
    expect(error.code).toBe('protocol')
  })

  test.each([
    [40, /^the host and we have no cipher in common/],
    [49, /^the host denies access/],
    [70, /^the host and we have no version of TLS in common/],
    [80, /^the host has an error of its own/],
    [112, /^the host does not know itself by this name/],
    [120, /^the host speaks no version of HTTP that we do/],
  ])('the alert %i is an error in words', async (alert, words) => {
    const port = await serveRaw((socket) => socket.end(Buffer.from([0x15, 3, 3, 0, 2, 2, alert])))
    const error = expectError(await toLoopback().get(`https://secure.test:${port}/`))
    expect(error).toMatchObject({ code: 'tls', retryable: false })
    expect(error.detail).toMatch(words)
  })

  test('a host that has only an old version of TLS is an error in words', async () => {
    const old = { maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'DEFAULT:@SECLEVEL=0' } as const
    const port = await serveHttps(TEST_CERTIFICATE, old)
    const error = expectError(await toLoopback().get(`https://secure.test:${port}/`))
    expect(error).toMatchObject({ code: 'tls', retryable: false })
    expect(error.detail).toMatch(/^the host and we have no version of TLS in common/)
  })

  test('a host that hangs up during the handshake may be tried again', async () => {
    const port = await serveRaw((socket) => socket.destroy())
    const error = expectError(await toLoopback().get(`https://secure.test:${port}/`))
    expect(error).toMatchObject({ code: 'tls', retryable: true, sent: true })
  })
})

describe('HTTP/2', () => {
  test('is used where the host offers it, on one connection', async () => {
    const sessions = new Set<unknown>()
    const port = await serveHttp2((stream, headers) => {
      sessions.add(stream.session)
      stream.respond({ ':status': 200, 'x-path': headers[':path'] ?? '', 'x-ua': headers['user-agent'] ?? '' })
      stream.end(`${headers[':authority']}`)
    })
    const fetcher = toLoopback()
    const answers: number[] = []
    const first = await fetcher.get(`https://secure.test:${port}/a?b`, { onAnswer: (at) => answers.push(at) })
    const response = expectResponse(first)
    expect(response.protocol).toBe('h2')
    expect(response.address).toBe('127.0.0.1')
    expect(response.headers.get('x-path')).toBe('/a?b')
    expect(response.headers.get('X-UA')).toBe('TiptoeTest/1.0')
    expect(textOf(response)).toBe(`secure.test:${port}`)
    expect(answers).toEqual([response.answeredAt])
    const more = await Promise.all(
      Array.from({ length: 30 }, (_, index) => fetcher.get(`https://secure.test:${port}/${index}`)),
    )
    for (const [index, outcome] of more.entries()) {
      expect(expectResponse(outcome).headers.get('x-path')).toBe(`/${index}`)
    }
    expect(sessions.size).toBe(1)
  })

  test('nothing is sent that may not start when its connection is there', async () => {
    const paths: (string | undefined)[] = []
    const port = await serveHttp2((stream, headers) => {
      paths.push(headers[':path'])
      stream.respond({ ':status': 200 })
      stream.end()
    })
    const fetcher = toLoopback()
    const mayStart = (): boolean => false
    expect(await fetcher.get(`https://secure.test:${port}/dialled`, { mayStart })).toEqual({ kind: 'aborted' })
    expectResponse(await fetcher.get(`https://secure.test:${port}/first`))
    expect(await fetcher.get(`https://secure.test:${port}/reused`, { mayStart })).toEqual({ kind: 'aborted' })
    expectResponse(await fetcher.get(`https://secure.test:${port}/last`))
    expect(paths).toEqual(['/first', '/last'])
  })

  test('a connection that was long unused is not used again', async () => {
    const sessions = new Set<unknown>()
    const port = await serveHttp2((stream) => {
      sessions.add(stream.session)
      stream.respond({ ':status': 200 })
      stream.end()
    })
    const clock = createVirtualClock()
    const fetcher = testFetcher({ resolve: [`secure.test:${port}:127.0.0.1`], connectionsPerOrigin: 1 }, clock)
    expectResponse(await fetcher.get(`https://secure.test:${port}/`))
    await clock.advance(20_000)
    expectResponse(await fetcher.get(`https://secure.test:${port}/`))
    expect(sessions.size).toBe(1)
    await clock.advance(20_001)
    expectResponse(await fetcher.get(`https://secure.test:${port}/`))
    expect(sessions.size).toBe(2)
  })

  test('is not offered if switched off', async () => {
    const port = await serveHttps()
    const secure = await serveHttp2((stream) => stream.respond(), { allowHTTP1: false })
    const fetcher = toLoopback({ http2: false })
    expect(expectResponse(await fetcher.get(`https://secure.test:${port}/`)).protocol).toBe('http/1.1')
    expect(expectError(await fetcher.get(`https://secure.test:${secure}/`)).code).toMatch(/tls|protocol/)
  })

  test('header values are Latin-1, one character per byte, as in HTTP/1.1', async () => {
    const port = await serveHttp2((stream) => {
      stream.respond({ ':status': 200, location: Buffer.from('/é').toString('latin1'), 'set-cookie': ['a', 'b'] })
      stream.end()
    })
    const response = expectResponse(await toLoopback().get(`https://secure.test:${port}/`))
    expect(response.headers.get('location')).toBe(Buffer.from('/é').toString('latin1'))
    expect(response.headers.all('set-cookie')).toEqual(['a', 'b'])
  })

  test('a coded body is decoded, a large one is cut', async () => {
    const plain = Buffer.from('tiptoe '.repeat(50_000))
    const port = await serveHttp2((stream) => {
      stream.respond({ ':status': 200, 'content-encoding': 'gzip' })
      stream.end(gzipSync(plain))
    })
    const fetcher = toLoopback()
    expect(expectResponse(await fetcher.get(`https://secure.test:${port}/`)).body).toHaveLength(plain.length)
    const cut = expectResponse(await fetcher.get(`https://secure.test:${port}/`, { maxBodyBytes: 1000 }))
    expect(cut.body).toHaveLength(1000)
    expect(cut.truncated).toBe(true)
  })

  test('an endless body is cut at the cap, and the connection lives on', async () => {
    const sessions = new Set<unknown>()
    const { promise: closed, resolve } = signalled()
    const port = await serveHttp2((stream, headers) => {
      sessions.add(stream.session)
      stream.respond({ ':status': 200 })
      if (headers[':path'] === '/short') return stream.end('short')
      stream.once('close', resolve)
      const more = (): void => {
        while (!stream.destroyed && stream.write('x'.repeat(10_000)));
      }
      stream.on('drain', more)
      more()
      return undefined
    })
    const fetcher = toLoopback({ maxBodyBytes: 100_000 })
    const response = expectResponse(await fetcher.get(`https://secure.test:${port}/`))
    expect(response.body).toHaveLength(100_000)
    expect(response.truncated).toBe(true)
    await closed
    expect(textOf(await fetcher.get(`https://secure.test:${port}/short`))).toBe('short')
    expect(sessions.size).toBe(1)
  })

  test('a condition reaches the host as it is', async () => {
    const port = await serveHttp2((stream, headers) => {
      const isSame =
        headers['if-none-match'] === 'W/"a, b"' && headers['if-modified-since'] === 'Sun Mar  1 10:00:00 2026'
      stream.respond({ ':status': isSame ? 304 : 200, etag: 'W/"a, b"', 'content-length': 500 }, { endStream: isSame })
    })
    const headers = { 'if-none-match': 'W/"a, b"', 'if-modified-since': 'Sun Mar  1 10:00:00 2026' }
    const response = expectResponse(await toLoopback().get(`https://secure.test:${port}/`, { headers }))
    expect(response.status).toBe(304)
    expect(response.headers.get('etag')).toBe('W/"a, b"')
  })

  test.each([
    [204, 'gzip'],
    [304, 'gzip'],
    [304, 'unheard-of'],
  ])('a %i has no body, whatever its coding (%s)', async (status, coding) => {
    const port = await serveHttp2((stream) => {
      stream.respond({ ':status': status, 'content-encoding': coding }, { endStream: true })
    })
    const response = expectResponse(await toLoopback().get(`https://secure.test:${port}/`))
    expect(response.status).toBe(status)
    expect(response.body).toHaveLength(0)
  })

  test('interim answers are passed over', async () => {
    const port = await serveHttp2((stream) => {
      stream.additionalHeaders({ ':status': 103 })
      stream.respond({ ':status': 200 })
      stream.end('final')
    })
    expect(textOf(await toLoopback().get(`https://secure.test:${port}/`))).toBe('final')
  })

  test('a flood of interim answers is a protocol error', async () => {
    const port = await serveHttp2((stream) => {
      for (let count = 0; count < 100; count++) stream.additionalHeaders({ ':status': 103 })
      stream.respond({ ':status': 200 })
      stream.end('final')
    })
    expect(expectError(await toLoopback().get(`https://secure.test:${port}/`)).code).toBe('protocol')
  })

  test.each([
    ['NO_ERROR', constants.NGHTTP2_NO_ERROR],
    ['CANCEL', constants.NGHTTP2_CANCEL],
    ['INTERNAL_ERROR', constants.NGHTTP2_INTERNAL_ERROR],
    ['REFUSED_STREAM', constants.NGHTTP2_REFUSED_STREAM],
    ['ENHANCE_YOUR_CALM', constants.NGHTTP2_ENHANCE_YOUR_CALM],
  ])('an answer reset with %s before its end is an error, not half a page', async (name, code) => {
    // `content-length: 5`, as a literal in HPACK: without it a reset without an error looks like the end.
    const head = Buffer.concat([STATUS_200, Buffer.from([0x0f, 0x0d, 0x01]), Buffer.from('5')])
    const before = await serveFrames((id) => [frame(FRAME.reset, 0, id, uint32(code))])
    const inside = await serveFrames((id) => [
      frame(FRAME.headers, END_HEADERS, id, head),
      frame(FRAME.data, 0, id, Buffer.from('half')),
      frame(FRAME.reset, 0, id, uint32(code)),
    ])
    const fetcher = toLoopback()
    for (const port of [before, inside]) {
      const error = expectError(await fetcher.get(`https://secure.test:${port}/`))
      expect(error).toMatchObject({ code: 'protocol', retryable: true, sent: true })
      expect(error.detail).toContain(name)
    }
  })

  test('a farewell that disowns the request is an error and the request is not sent again', async () => {
    let requests = 0
    const port = await serveFrames(() => {
      requests++
      return [frame(FRAME.goaway, 0, 0, uint32(0, constants.NGHTTP2_NO_ERROR))]
    })
    const error = expectError(await toLoopback().get(`https://secure.test:${port}/`))
    expect(error).toMatchObject({ code: 'protocol', retryable: true, sent: true })
    expect(requests).toBe(1)
  })

  test('an answer that ends without a body is whole', async () => {
    const port = await serveFrames((id) => [frame(FRAME.headers, END_HEADERS | END_STREAM, id, STATUS_200)])
    expect(expectResponse(await toLoopback().get(`https://secure.test:${port}/`)).body).toHaveLength(0)
  })

  test('frames that are not HTTP/2 are a protocol error', async () => {
    const port = await serveFrames(() => [Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')])
    expect(expectError(await toLoopback().get(`https://secure.test:${port}/`)).code).toBe('protocol')
  })

  test('a body shorter than it declares is an error', async () => {
    const port = await serveHttp2((stream) => {
      stream.respond({ ':status': 200, 'content-length': 100 })
      stream.end('short')
    })
    const error = expectError(await toLoopback().get(`https://secure.test:${port}/`))
    expect(error).toMatchObject({ code: 'protocol', retryable: true, status: 200 })
  })

  test('too many or too large header fields are an error', async () => {
    const port = await serveHttp2(
      (stream, headers) => {
        const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`x-${index}`, 'y']))
        const large = Object.fromEntries(Array.from({ length: 90 }, (_, index) => [`x-${index}`, 'y'.repeat(1000)]))
        stream.respond({ ':status': 200, ...(headers[':path'] === '/many' ? many : large) })
        stream.end()
      },
      { settings: { maxHeaderListSize: 10_000_000 }, maxSendHeaderBlockLength: 10_000_000 },
    )
    const fetcher = toLoopback()
    for (const path of ['/many', '/large']) {
      expect(expectError(await fetcher.get(`https://secure.test:${port}${path}`)).code, path).toBe('protocol')
    }
  })

  test('after a farewell the answers under way are finished and the next request gets a new connection', async () => {
    const { promise: go, resolve } = signalled()
    const { promise: answered, resolve: ask } = signalled()
    let requests = 0
    const port = await serveHttp2((stream, headers) => {
      requests++
      if (headers[':path'] !== '/slow') {
        stream.respond({ ':status': 200 })
        return stream.end('next')
      }
      stream.session?.goaway(constants.NGHTTP2_NO_ERROR, stream.id ?? 0)
      stream.respond({ ':status': 200 })
      void go.then(() => stream.end('slow'))
      return undefined
    })
    const fetcher = toLoopback()
    const slow = fetcher.get(`https://secure.test:${port}/slow`, { onAnswer: () => ask() })
    await answered
    const next = await fetcher.get(`https://secure.test:${port}/next`)
    expect(textOf(next)).toBe('next')
    resolve()
    expect(textOf(await slow)).toBe('slow')
    expect(requests).toBe(2)
  })

  test('a connection that breaks ends all its requests with an error, and none is sent again', async () => {
    let requests = 0
    const port = await serveHttp2((stream) => {
      if (++requests === 5) stream.session?.socket.destroy()
    })
    const fetcher = toLoopback({ connectionsPerOrigin: 1 })
    const outcomes = await Promise.all(
      Array.from({ length: 5 }, (_, index) => fetcher.get(`https://secure.test:${port}/${index}`)),
    )
    for (const outcome of outcomes) expect(expectError(outcome)).toMatchObject({ code: 'protocol', retryable: true })
    expect(requests).toBe(5)
  })

  test('a host that takes its HTTP/2 back is asked in HTTP/1.1 the next time', async () => {
    const port = await serveHttp2((stream) => stream.close(constants.NGHTTP2_HTTP_1_1_REQUIRED), {
      allowHTTP1: true,
    })
    const fetcher = toLoopback()
    const error = expectError(await fetcher.get(`https://secure.test:${port}/`))
    expect(error).toMatchObject({ code: 'protocol', retryable: true })
    expect(error.detail).toContain('HTTP_1_1_REQUIRED')
    expect(expectResponse(await fetcher.get(`https://secure.test:${port}/`)).protocol).toBe('http/1.1')
  })

  test('deadlines and the signal reach an HTTP/2 answer', async () => {
    const timeouts = { connectMs: 1000, readMs: 2000, totalMs: 5000 }
    const asked = [signalled(), signalled()]
    let requests = 0
    const port = await serveHttp2(() => asked[requests++]?.resolve())
    const clock = createVirtualClock()
    const lookup = () => Promise.resolve([{ address: '127.0.0.1', family: 4 }])
    const fetcher = testFetcher({ timeouts, lookup }, clock)
    const silent = fetcher.get(`https://secure.test:${port}/`)
    await asked[0]?.promise
    await clock.advance(2000)
    expect(expectError(await silent)).toMatchObject({ code: 'timeout', detail: 'no answer after 2000 ms' })
    const controller = new AbortController()
    const aborted = fetcher.get(`https://secure.test:${port}/`, {}, controller.signal)
    await asked[1]?.promise
    controller.abort()
    expect(await aborted).toEqual({ kind: 'aborted' })
  })
})
