import * as zlib from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { createRng, createVirtualClock } from '../base/index.ts'
import {
  expectError,
  expectResponse,
  MEGABYTE,
  serveConnections,
  serveHttp,
  serveRaw,
  signalled,
  testFetcher,
} from './test-support/loopback.ts'

const OK = 'HTTP/1.1 200 OK\r\n'

describe('the slowest acceptable rate', () => {
  const timeouts = { connectMs: 1000, readMs: 60_000, totalMs: 600_000 }

  test('a body that comes more slowly over ten seconds is given up, in words', async () => {
    const { promise: answered, resolve } = signalled()
    const port = await serveRaw((socket) => socket.write(`${OK}\r\n${'x'.repeat(999)}`))
    const clock = createVirtualClock()
    const fetcher = testFetcher({ timeouts, minRateBytes: 100 }, clock)
    const outcome = fetcher.get(`http://127.0.0.1:${port}/`, { onAnswer: () => resolve() })
    await answered
    await clock.advance(10_000)
    expect(expectError(await outcome)).toMatchObject({
      code: 'timeout',
      detail: 'fewer than 100 bytes a second for 10 s',
      retryable: true,
      sent: true,
      status: 200,
    })
  })

  test('every ten seconds count for themselves', async () => {
    const { promise: answered, resolve } = signalled()
    const port = await serveRaw((socket) => socket.write(`${OK}\r\n${'x'.repeat(1999)}`))
    const clock = createVirtualClock()
    const fetcher = testFetcher({ timeouts, minRateBytes: 100 }, clock)
    let isOver = false
    const outcome = fetcher.get(`http://127.0.0.1:${port}/`, { onAnswer: () => resolve() })
    void outcome.then(() => (isOver = true))
    await answered
    await clock.advance(19_999)
    expect(isOver).toBe(false)
    await clock.advance(1)
    expect(expectError(await outcome).code).toBe('timeout')
  })

  test('any rate will do if none is set', async () => {
    const { promise: answered, resolve } = signalled()
    const { promise: go, resolve: finish } = signalled()
    const port = await serveRaw((socket) => {
      socket.write(`${OK}Content-Length: 2\r\n\r\nx`)
      void go.then(() => socket.write('y'))
    })
    const clock = createVirtualClock()
    const outcome = testFetcher({ timeouts }, clock).get(`http://127.0.0.1:${port}/`, { onAnswer: () => resolve() })
    await answered
    await clock.advance(59_000)
    finish()
    expect(expectResponse(await outcome).body).toHaveLength(2)
  })

  test('five hundred hosts that send a byte now and then are all given up', async () => {
    const HOSTS = 500
    let answers = 0
    const { promise: allAnswered, resolve } = signalled()
    const port = await serveConnections((socket) => socket.once('data', () => socket.write(`${OK}\r\nx`)))
    const clock = createVirtualClock()
    const fetcher = testFetcher({ timeouts, minRateBytes: 100, connectionsPerOrigin: HOSTS }, clock)
    const onAnswer = (): void => {
      if (++answers === HOSTS) resolve()
    }
    const outcomes = Array.from({ length: HOSTS }, () => fetcher.get(`http://127.0.0.1:${port}/`, { onAnswer }))
    await allAnswered
    await clock.advance(10_000)
    for (const outcome of outcomes) expect(expectError(await outcome).code).toBe('timeout')
    expect(fetcher.stats.openOrigins).toBe(0)
  })
})

test('a head that comes byte by byte is given up when the time for an answer is over', async () => {
  const timeouts = { connectMs: 1000, readMs: 2000, totalMs: 50_000 }
  const clock = createVirtualClock()
  const port = await serveRaw((socket) => {
    socket.write(OK)
    const trickle = (): void => {
      if (socket.destroyed || clock.now() > 1_800_000_000_000) return
      socket.write('A')
      setImmediate(() => void clock.advance(100).then(trickle))
    }
    trickle()
  })
  const error = expectError(await testFetcher({ timeouts }, clock).get(`http://127.0.0.1:${port}/`))
  expect(error).toMatchObject({ code: 'timeout', detail: 'no answer after 2000 ms' })
})

describe('the limits of a body are named', () => {
  const serve = (body: Uint8Array, coding?: string): Promise<number> =>
    serveHttp((_request, response) =>
      response.writeHead(200, coding === undefined ? {} : { 'content-encoding': coding }).end(body),
    )
  /** Text that gzip makes three times smaller. */
  const text = Buffer.from(
    Array.from({ length: 40_000 }, (_, index) => ` ${(index * 2_654_435_761) % 1_000_003}`).join(''),
  )

  test('none, where it is whole', async () => {
    const fetcher = testFetcher()
    for (const [body, coding] of [
      [text, undefined],
      [zlib.gzipSync(text), 'gzip'],
    ] as const) {
      const port = await serve(body, coding)
      expect(expectResponse(await fetcher.get(`http://127.0.0.1:${port}/`))).toMatchObject({
        truncated: false,
        limits: [],
      })
    }
  })

  test.each([
    ['plain, beyond what is kept', text, undefined, { maxBodyBytes: 1000 }, ['body-size']],
    ['plain, beyond what may come', text, undefined, { maxWireBytes: 1000 }, ['wire-size']],
    ['coded, beyond what is kept', zlib.gzipSync(text), 'gzip', { maxBodyBytes: 1000 }, ['body-size']],
    ['coded, beyond what may come', zlib.gzipSync(text), 'gzip', { maxWireBytes: 50_000 }, ['wire-size']],
    ['coded, beyond the ratio', zlib.gzipSync(Buffer.alloc(3 * MEGABYTE)), 'gzip', {}, ['ratio']],
  ] as const)('%s', async (_name, body, coding, options, limits) => {
    const port = await serve(body, coding)
    const response = expectResponse(await testFetcher(options).get(`http://127.0.0.1:${port}/`))
    expect(response).toMatchObject({ truncated: true, limits })
    expect(response.body.length).toBeGreaterThan(0)
  })

  test('a body of up to a megabyte may have any ratio, and a larger one up to 200', async () => {
    const fetcher = testFetcher()
    const zeros = zlib.gzipSync(Buffer.alloc(MEGABYTE))
    expect(expectResponse(await fetcher.get(`http://127.0.0.1:${await serve(zeros, 'gzip')}/`))).toMatchObject({
      truncated: false,
    })
    // Noise in front makes the whole as large as the ratio allows.
    const rng = createRng(1)
    const noise = Buffer.from(Array.from({ length: 20_000 }, () => rng.int(256)))
    const dense = zlib.gzipSync(Buffer.concat([noise, Buffer.alloc(2 * MEGABYTE)]))
    expect((2 * MEGABYTE) / dense.length).toBeGreaterThan(50)
    expect((2 * MEGABYTE + 20_000) / dense.length).toBeLessThan(200)
    expect(expectResponse(await fetcher.get(`http://127.0.0.1:${await serve(dense, 'gzip')}/`))).toMatchObject({
      truncated: false,
    })
  })

  test('codings count over all fields', async () => {
    const port = await serveHttp((_request, response) => {
      response.setHeader('content-encoding', ['gzip, gzip', 'gzip, gzip', 'gzip, gzip'])
      response.end('x')
    })
    const error = expectError(await testFetcher().get(`http://127.0.0.1:${port}/`))
    expect(error).toMatchObject({ code: 'encoding', retryable: false })
    expect(error.detail).toBe('more than 5 content codings on top of each other')
  })
})

test('a body in chunks of one byte is read', async () => {
  const body = 'y'.repeat(100_000)
  const port = await serveRaw((socket) => {
    socket.write(`${OK}Transfer-Encoding: chunked\r\n\r\n${'1\r\ny\r\n'.repeat(body.length)}0\r\n\r\n`)
  })
  const response = expectResponse(await testFetcher().get(`http://127.0.0.1:${port}/`))
  expect(Buffer.from(response.body).toString()).toBe(body)
})
