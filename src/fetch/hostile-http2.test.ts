import { constants } from 'node:http2'
import { describe, expect, test } from 'vitest'
import { createVirtualClock } from '../base/index.ts'
import {
  END_HEADERS,
  END_STREAM,
  expectError,
  expectResponse,
  field,
  FRAME,
  frame,
  serveFrames,
  serveHttp2,
  signalled,
  STATUS_200,
  testFetcher,
  textOf,
  uint32,
} from './test-support/loopback.ts'

const HEAD = END_HEADERS
const WHOLE = END_HEADERS | END_STREAM
const setting = (id: number, value: number): Buffer => Buffer.concat([Buffer.from([0, id]), uint32(value)])
const good = (id: number): Buffer[] => [
  frame(FRAME.headers, HEAD, id, STATUS_200),
  frame(FRAME.data, END_STREAM, id, Buffer.from('good')),
]
const times = (count: number, bytes: Buffer): Buffer => Buffer.alloc(bytes.length * count, bytes)

/** A head that fills as many frames as it needs. */
function longHead(id: number, fields: readonly Buffer[]): Buffer[] {
  const block = Buffer.concat([STATUS_200, ...fields])
  const frames: Buffer[] = []
  for (let at = 0; at < block.length; at += 16_000) {
    const isLast = at + 16_000 >= block.length
    const type = at === 0 ? FRAME.headers : FRAME.continuation
    frames.push(frame(type, isLast ? END_HEADERS : 0, id, block.subarray(at, at + 16_000)))
  }
  return [...frames, frame(FRAME.data, END_STREAM, id)]
}

/** Answers the first request so, and all others well. */
function serveFirst(answer: (id: number) => Uint8Array[]): Promise<number> {
  let isFirst = true
  return serveFrames((id) => {
    const bytes = isFirst ? answer(id) : good(id)
    isFirst = false
    return bytes
  })
}

const GARBAGE = Buffer.from(Array.from({ length: 5000 }, (_, index) => (index * 7919 + 13) & 255))

describe('what is not HTTP/2 is a protocol error in words, and no request is sent twice', () => {
  const cases: readonly (readonly [name: string, answer: (id: number) => Uint8Array[], detail: RegExp])[] = [
    [
      'a header list that is too large',
      (id) =>
        longHead(
          id,
          Array.from({ length: 20 }, (_, index) => field(`x-${index}`, 'y'.repeat(5000))),
        ),
      /^the header fields are too large$/,
    ],
    [
      'too many header fields',
      (id) =>
        longHead(
          id,
          Array.from({ length: 300 }, (_, index) => field(`x-${index}`, 'y')),
        ),
      /^there are too many header fields$/,
    ],
    [
      'far too many header fields',
      (id) =>
        longHead(
          id,
          Array.from({ length: 5000 }, (_, index) => field(`x-${index}`, 'y')),
        ),
      /ENHANCE_YOUR_CALM/,
    ],
    [
      'a flood of CONTINUATION frames',
      (id) => [frame(FRAME.headers, 0, id, STATUS_200), times(5000, frame(FRAME.continuation, 0, id))],
      /CONTINUATION/,
    ],
    ['a flood of PING frames', () => [times(5000, frame(FRAME.ping, 0, 0, Buffer.alloc(8)))], /floods the connection/],
    ['a flood of SETTINGS frames', () => [times(5000, frame(FRAME.settings, 0, 0))], /floods the connection/],
    [
      'a SETTINGS frame with thousands of settings',
      () => [frame(FRAME.settings, 0, 0, times(2500, setting(3, 100)))],
      /not valid HTTP\/2/,
    ],
    [
      'a flood of empty DATA frames',
      (id) => [frame(FRAME.headers, HEAD, id, STATUS_200), times(5000, frame(FRAME.data, 0, id))],
      /not valid HTTP\/2/,
    ],
    ['a window beyond its maximum', () => [frame(FRAME.windowUpdate, 0, 0, uint32(0x7fffffff))], /Flow control/],
    ['a window that grows by nothing', () => [frame(FRAME.windowUpdate, 0, 0, uint32(0))], /not valid HTTP\/2/],
    ['a frame that is too large', (id) => [frame(FRAME.data, 0, id, Buffer.alloc(20_000))], /not valid HTTP\/2/],
    ['a body before its head', (id) => [frame(FRAME.data, END_STREAM, id, Buffer.from('ok'))], /not valid HTTP\/2/],
    ['an answer to another question', (id) => [frame(FRAME.headers, WHOLE, id + 2, STATUS_200)], /not valid HTTP\/2/],
    ['a broken header block', (id) => [frame(FRAME.headers, WHOLE, id, Buffer.alloc(6, 255))], /not valid HTTP\/2/],
    ['garbage', () => [GARBAGE], /not valid HTTP\/2/],
    ['HTTP/1.1', () => [Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')], /not valid HTTP\/2/],
    ['no status', (id) => [frame(FRAME.headers, WHOLE, id, field('a', 'b'))], /PROTOCOL_ERROR/],
    ['a status in letters', (id) => [frame(FRAME.headers, WHOLE, id, field(':status', 'abc'))], /PROTOCOL_ERROR/],
    ['a status of four digits', (id) => [frame(FRAME.headers, WHOLE, id, field(':status', '2000'))], /PROTOCOL_ERROR/],
    ['an upgrade', (id) => [frame(FRAME.headers, HEAD, id, field(':status', '101'))], /PROTOCOL_ERROR/],
    [
      'an interim answer as the last',
      (id) => [frame(FRAME.headers, WHOLE, id, field(':status', '100'))],
      /PROTOCOL_ERROR/,
    ],
    [
      'a name in capitals',
      (id) => [frame(FRAME.headers, WHOLE, id, Buffer.concat([STATUS_200, field('Abc', 'd')]))],
      /PROTOCOL_ERROR/,
    ],
    [
      'a field of HTTP/1.1',
      (id) => [frame(FRAME.headers, WHOLE, id, Buffer.concat([STATUS_200, field('connection', 'close')]))],
      /PROTOCOL_ERROR/,
    ],
    [
      'two lengths',
      (id) => [
        frame(
          FRAME.headers,
          HEAD,
          id,
          Buffer.concat([STATUS_200, field('content-length', '2'), field('content-length', '3')]),
        ),
      ],
      /PROTOCOL_ERROR/,
    ],
    [
      'a body longer than its length',
      (id) => [
        frame(FRAME.headers, HEAD, id, Buffer.concat([STATUS_200, field('content-length', '1')])),
        frame(FRAME.data, END_STREAM, id, Buffer.from('ok')),
      ],
      /not valid HTTP\/2|PROTOCOL_ERROR/,
    ],
    ...Array.from({ length: 14 }, (_, code) => code)
      .filter((code) => code !== 0)
      .map(
        (code) =>
          [
            `a farewell with the code ${code}`,
            () => [frame(FRAME.goaway, 0, 0, uint32(0, code))],
            /ended the HTTP\/2 connection|REFUSED_STREAM/,
          ] as const,
      ),
  ]

  test.each(cases)('%s', async (_name, answer, detail) => {
    let requests = 0
    const port = await serveFrames((id) => {
      requests++
      return answer(id)
    })
    const fetcher = testFetcher()
    const error = expectError(await fetcher.get(`https://127.0.0.1:${port}/`))
    expect(error).toMatchObject({ code: 'protocol', sent: true })
    expect(error.detail).toMatch(detail)
    expect(requests).toBe(1)
  })

  test.each(Array.from({ length: 16 }, (_, code) => code))(
    'a reset with the code %i may be tried again',
    async (code) => {
      const port = await serveFirst((id) => [frame(FRAME.reset, 0, id, uint32(code))])
      const error = expectError(await testFetcher().get(`https://127.0.0.1:${port}/`))
      expect(error).toMatchObject({ code: 'protocol', retryable: true, sent: true })
    },
  )
})

test('a stream that the host refused, and an odd one, leave the connection to the next request', async () => {
  let connections = 0
  let requests = 0
  const seen = new Set<object>()
  const port = await serveFrames((id, socket) => {
    if (!seen.has(socket)) connections++
    seen.add(socket)
    return ++requests === 1 ? [frame(FRAME.reset, 0, id, uint32(7))] : good(id)
  })
  const fetcher = testFetcher()
  expect(expectError(await fetcher.get(`https://127.0.0.1:${port}/`)).detail).toContain('REFUSED_STREAM')
  expect(textOf(await fetcher.get(`https://127.0.0.1:${port}/`))).toBe('good')
  expect([requests, connections]).toEqual([2, 1])
})

test('after a broken connection the next request gets a new one', async () => {
  const port = await serveFirst((id) => [
    frame(FRAME.headers, HEAD, id, STATUS_200),
    frame(FRAME.goaway, 0, 0, uint32(id, 2)),
  ])
  const fetcher = testFetcher()
  expect(expectError(await fetcher.get(`https://127.0.0.1:${port}/`)).detail).toContain('INTERNAL_ERROR')
  expect(textOf(await fetcher.get(`https://127.0.0.1:${port}/`))).toBe('good')
})

test('a host that gets HTTP/2 wrong is asked in HTTP/1.1 the next time', async () => {
  let requests = 0
  const port = await serveHttp2(
    (stream) => {
      requests++
      stream.close(constants.NGHTTP2_PROTOCOL_ERROR)
    },
    { allowHTTP1: true },
  )
  const fetcher = testFetcher()
  expect(expectError(await fetcher.get(`https://127.0.0.1:${port}/`)).retryable).toBe(true)
  expect(expectResponse(await fetcher.get(`https://127.0.0.1:${port}/`)).protocol).toBe('http/1.1')
  expect(requests).toBe(1)
})

test('frames that mean nothing to us are passed over', async () => {
  const port = await serveFrames((id) => [
    times(50, frame(77, 0, id, Buffer.alloc(50))),
    times(50, frame(FRAME.priority, 0, id, Buffer.from([0, 0, 0, 0, 1]))),
    times(50, frame(FRAME.ping, 0, 0, Buffer.alloc(8))),
    ...good(id),
  ])
  expect(textOf(await testFetcher().get(`https://127.0.0.1:${port}/`))).toBe('good')
})

test('a goodbye in the middle lets the answer end', async () => {
  const port = await serveFrames((id) => [
    frame(FRAME.headers, HEAD, id, STATUS_200),
    frame(FRAME.data, 0, id, Buffer.from('go')),
    frame(FRAME.goaway, 0, 0, uint32(id, 0)),
    frame(FRAME.data, END_STREAM, id, Buffer.from('od')),
  ])
  expect(textOf(await testFetcher().get(`https://127.0.0.1:${port}/`))).toBe('good')
})

test('fields with control characters are left out', async () => {
  const block = Buffer.concat([STATUS_200, field('a', 'b\r\nset-cookie: c'), field('d', 'e\0f'), field('g', 'h')])
  const port = await serveFrames((id) => [frame(FRAME.headers, WHOLE, id, block)])
  const { headers } = expectResponse(await testFetcher().get(`https://127.0.0.1:${port}/`))
  expect([headers.get('a'), headers.get('d'), headers.get('set-cookie'), headers.get('g')]).toEqual([
    null,
    null,
    null,
    'h',
  ])
})

test('no more streams are open than the host allows, and all requests get their turn', async () => {
  let open = 0
  let most = 0
  const port = await serveHttp2(
    (stream) => {
      most = Math.max(most, ++open)
      stream.once('close', () => open--)
      stream.respond({ ':status': 200 })
      setImmediate(() => stream.end('ok'))
    },
    { settings: { maxConcurrentStreams: 2 } },
  )
  const fetcher = testFetcher({ connectionsPerOrigin: 1 })
  expect(textOf(await fetcher.get(`https://127.0.0.1:${port}/first`))).toBe('ok')
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, (_, index) => fetcher.get(`https://127.0.0.1:${port}/${index}`)),
  )
  expect(outcomes.map(textOf)).toEqual(Array.from({ length: 20 }, () => 'ok'))
  expect(most).toBeLessThanOrEqual(2)
})

describe('a host that holds the answer back', () => {
  const timeouts = { connectMs: 1000, readMs: 2000, totalMs: 5000 }

  test.each([
    ['by allowing no stream', () => [frame(FRAME.settings, 0, 0, setting(3, 0))], 'no answer after 2000 ms'],
    [
      'with nothing but priorities',
      (id: number) => [times(500, frame(FRAME.priority, 0, id, Buffer.alloc(5)))],
      'no answer after 2000 ms',
    ],
    [
      'with a promise',
      (id: number) => [frame(FRAME.push, END_HEADERS, id, Buffer.concat([uint32(2), Buffer.from([0x82])]))],
      'no answer after 2000 ms',
    ],
  ])('%s runs out of time', async (_name, answer, detail) => {
    const { promise: asked, resolve } = signalled()
    const port = await serveFrames((id) => {
      resolve()
      return answer(id)
    })
    const clock = createVirtualClock()
    const outcome = testFetcher({ timeouts }, clock).get(`https://127.0.0.1:${port}/`)
    await asked
    await clock.advance(2000)
    expect(expectError(await outcome)).toMatchObject({ code: 'timeout', detail })
  })

  test('in the middle of a body runs out of time, and its connection is not used again', async () => {
    const { promise: answered, resolve } = signalled()
    const port = await serveFirst((id) => [
      frame(FRAME.headers, HEAD, id, STATUS_200),
      frame(FRAME.data, 0, id, Buffer.from('ha')),
    ])
    const clock = createVirtualClock()
    const fetcher = testFetcher({ timeouts }, clock)
    const outcome = fetcher.get(`https://127.0.0.1:${port}/`, { onAnswer: () => resolve() })
    await answered
    await clock.advance(2000)
    expect(expectError(await outcome)).toMatchObject({ code: 'timeout', status: 200 })
    expect(textOf(await fetcher.get(`https://127.0.0.1:${port}/`))).toBe('good')
  })
})
