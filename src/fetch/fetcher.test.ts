import { describe, expect, test } from 'vitest'
import { createVirtualClock } from '../base/index.ts'
import {
  expectError,
  expectResponse,
  MEGABYTE,
  serveBytes,
  serveConnections,
  serveHttp,
  serveHttpEverywhere,
  serveRaw,
  signalled,
  testFetcher,
  textOf,
} from './test-support/loopback.ts'

const page = (body: string, head = ''): string =>
  `HTTP/1.1 200 OK\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${head}\r\n${body}`

describe('a response', () => {
  test('has the status, the headers, the body, the times and the address', async () => {
    const port = await serveHttp((_request, response) => {
      response.writeHead(
        404,
        [
          ['Content-Type', 'text/html'],
          ['X-Robots-Tag', 'noindex'],
          ['X-Robots-Tag', 'nofollow'],
          ['Set-Cookie', 'a=1'],
          ['X-Name', Buffer.from('é').toString('latin1')],
        ].flat(),
      )
      response.end('<p>gone')
    })
    const answers: number[] = []
    const outcome = await testFetcher().get(`http://127.0.0.1:${port}/a?b=c`, { onAnswer: (at) => answers.push(at) })
    const response = expectResponse(outcome)
    expect(response.status).toBe(404)
    expect(textOf(response)).toBe('<p>gone')
    expect(response.wireBytes).toBe(7)
    expect(response.truncated).toBe(false)
    expect(response.headers.get('CONTENT-type')).toBe('text/html')
    expect(response.headers.get('x-robots-tag')).toBe('noindex, nofollow')
    expect(response.headers.all('X-Robots-Tag')).toEqual(['noindex', 'nofollow'])
    expect(response.headers.get('x-name')).toBe(Buffer.from('é').toString('latin1'))
    expect(response.headers.get('absent')).toBeNull()
    expect(response.headers.all('absent')).toEqual([])
    expect(response.headers.get('constructor')).toBeNull()
    expect(response.address).toBe('127.0.0.1')
    expect(response.protocol).toBe('http/1.1')
    expect(response.answeredAt).toBeGreaterThanOrEqual(response.startedAt)
    expect(response.endedAt).toBeGreaterThanOrEqual(response.answeredAt)
    expect(answers).toEqual([response.answeredAt])
  })

  test('a redirect is a response and is not followed', async () => {
    let requests = 0
    const port = await serveHttp((_request, response) => {
      requests++
      response.writeHead(301, { location: '/elsewhere' }).end()
    })
    const response = expectResponse(await testFetcher().get(`http://127.0.0.1:${port}/`))
    expect(response.status).toBe(301)
    expect(response.headers.get('location')).toBe('/elsewhere')
    expect(requests).toBe(1)
  })

  test.each([
    [204, 'gzip'],
    [304, 'gzip'],
    [304, 'unheard-of'],
  ])('a %i has an empty body, whatever length and coding (%s) it declares', async (status, coding) => {
    const port = await serveBytes(`HTTP/1.1 ${status} X\r\nContent-Length: 500\r\nContent-Encoding: ${coding}\r\n\r\n`)
    const response = expectResponse(await testFetcher().get(`http://127.0.0.1:${port}/`))
    expect(response.status).toBe(status)
    expect(response.body).toHaveLength(0)
  })

  test('interim answers before the final one are passed over', async () => {
    const port = await serveBytes(`HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n${page('final')}`)
    expect(textOf(await testFetcher().get(`http://127.0.0.1:${port}/`))).toBe('final')
  })

  test('answers when the first byte is there, long before the head is complete', async () => {
    const { promise: begun, resolve: begin } = signalled()
    const port = await serveRaw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n')
      void begun.then(() => socket.end('Content-Length: 2\r\n\r\nhi'))
    })
    const outcome = await testFetcher().get(`http://127.0.0.1:${port}/`, { onAnswer: () => begin() })
    expect(textOf(outcome)).toBe('hi')
  })

  test('a body that ends with the connection is whole', async () => {
    const port = await serveBytes('HTTP/1.0 200 OK\r\n\r\nuntil the end', true)
    expect(textOf(await testFetcher().get(`http://127.0.0.1:${port}/`))).toBe('until the end')
  })

  test('a chunked body is put together', async () => {
    const port = await serveBytes(
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n',
    )
    expect(textOf(await testFetcher().get(`http://127.0.0.1:${port}/`))).toBe('abcde')
  })
})

describe('a request', () => {
  test('says who asks and what is accepted, and carries no cookie and no credentials', async () => {
    const seen: { url: string | undefined; headers: NodeJS.Dict<string | string[]> }[] = []
    const port = await serveHttp((request, response) => {
      seen.push({ url: request.url, headers: request.headers })
      response.writeHead(200, { 'set-cookie': 'a=1' }).end()
    })
    const fetcher = testFetcher()
    await fetcher.get(`http://user:secret@127.0.0.1:${port}/p/a%20th?q=@x`)
    await fetcher.get(`http://127.0.0.1:${port}/`, { accept: 'text/plain', headers: { 'If-None-Match': '"x"' } })
    expect(seen[0]).toEqual({
      url: '/p/a%20th?q=@x',
      headers: {
        host: `127.0.0.1:${port}`,
        connection: 'keep-alive',
        'user-agent': 'TiptoeTest/1.0',
        accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
        'accept-encoding': 'gzip, deflate, br, zstd',
      },
    })
    expect(seen[1]?.headers).toMatchObject({ accept: 'text/plain', 'if-none-match': '"x"' })
    expect(seen[1]?.headers).not.toHaveProperty('cookie')
  })

  test('names a language only if one is configured', async () => {
    const port = await serveHttp((request, response) => response.end(request.headers['accept-language'] ?? 'none'))
    expect(textOf(await testFetcher({ acceptLanguage: 'de, en;q=0.5' }).get(`http://127.0.0.1:${port}/`))).toBe(
      'de, en;q=0.5',
    )
  })

  test('a user agent that HTTP cannot carry is wrong usage', () => {
    expect(() => testFetcher({ userAgent: 'a\r\nb' })).toThrow(expect.objectContaining({ code: 'usage' }))
  })
})

describe('a broken answer is a protocol error', () => {
  const cases: [name: string, bytes: string, retryable: boolean][] = [
    ['a garbage status line', 'SSH-2.0-OpenSSH_9.6\r\n\r\n', false],
    ['a status without meaning', 'HTTP/1.1 000 Nothing\r\nContent-Length: 0\r\n\r\n', false],
    ['a close before the answer', '', true],
    ['a close inside the head', 'HTTP/1.1 200 OK\r\nContent-', true],
    ['a close inside the body', 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc', true],
    ['a close inside a chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc', true],
    [
      'a close inside a body on a connection to be closed',
      'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 9\r\n\r\na',
      true,
    ],
    ['a chunk size that is no number', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc', false],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab', false],
    [
      'an upgrade nobody asked for',
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
      false,
    ],
    ['a flood of interim answers', 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(1000), false],
    ['a header that is too large', `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`, false],
    ['too many headers', `HTTP/1.1 200 OK\r\n${'X-Header: value\r\n'.repeat(10_000)}\r\n`, false],
  ]
  test.each(cases)('%s', async (_name, bytes, retryable) => {
    const port = await serveBytes(bytes, true)
    const answers: number[] = []
    const error = expectError(
      await testFetcher().get(`http://127.0.0.1:${port}/`, { onAnswer: (at) => answers.push(at) }),
    )
    expect(error).toMatchObject({ code: 'protocol', sent: true, offline: false })
    expect(error.retryable, error.detail).toBe(retryable)
    expect(error.detail).not.toBe('')
    expect(answers).toEqual([error.answeredAt])
  })

  test('says which status it had reached', async () => {
    const port = await serveBytes('HTTP/1.1 503 Busy\r\nContent-Length: 10\r\n\r\nabc', true)
    expect(expectError(await testFetcher().get(`http://127.0.0.1:${port}/`)).status).toBe(503)
  })

  test('endless headers end at the limit, not with the host', async () => {
    const port = await serveRaw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n')
      const more = (): void => {
        while (!socket.destroyed && socket.write('X-Padding: something to fill the line\r\n'.repeat(100)));
      }
      socket.on('drain', more)
      more()
    })
    expect(expectError(await testFetcher().get(`http://127.0.0.1:${port}/`)).code).toBe('protocol')
  })

  test('a reset in the middle is retryable', async () => {
    const port = await serveRaw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc', () => socket.resetAndDestroy())
    })
    const error = expectError(await testFetcher().get(`http://127.0.0.1:${port}/`))
    expect(error).toMatchObject({ code: 'protocol', retryable: true, sent: true })
  })
})

describe('caps', () => {
  test('a body longer than the cap is cut there and the connection given up', async () => {
    const { promise: closed, resolve: close } = signalled()
    const port = await serveHttp((_request, response) => {
      response.once('close', close)
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(10_000)));
      }
      response.on('drain', more)
      more()
    })
    const response = expectResponse(await testFetcher({ maxBodyBytes: 12_345 }).get(`http://127.0.0.1:${port}/`))
    expect(response.body).toHaveLength(12_345)
    expect(response.truncated).toBe(true)
    await closed
  })

  test('a body of exactly the cap is whole', async () => {
    const port = await serveHttp((_request, response) => response.end('x'.repeat(1000)))
    const fetcher = testFetcher({ maxBodyBytes: 1000 })
    expect(expectResponse(await fetcher.get(`http://127.0.0.1:${port}/`))).toMatchObject({ truncated: false })
    const smaller = expectResponse(await fetcher.get(`http://127.0.0.1:${port}/`, { maxBodyBytes: 999 }))
    expect(smaller).toMatchObject({ truncated: true })
    expect(smaller.body).toHaveLength(999)
  })

  test('the cap on the wire cuts a plain body too', async () => {
    const port = await serveHttp((_request, response) => response.end('x'.repeat(1000)))
    const response = expectResponse(await testFetcher({ maxWireBytes: 100 }).get(`http://127.0.0.1:${port}/`))
    expect(response.body).toHaveLength(100)
    expect(response.truncated).toBe(true)
  })
})

describe('deadlines', () => {
  const timeouts = { connectMs: 1000, readMs: 2000, totalMs: 5000 }

  test('a host that takes the connection and says nothing', async () => {
    const { promise: asked, resolve } = signalled()
    const port = await serveRaw(() => resolve())
    const clock = createVirtualClock()
    const outcome = testFetcher({ timeouts }, clock).get(`http://127.0.0.1:${port}/`)
    await asked
    await clock.advance(1999)
    await clock.advance(1)
    const error = expectError(await outcome)
    expect(error).toMatchObject({ code: 'timeout', retryable: true, sent: true })
    expect(error.detail).toBe('no answer after 2000 ms')
    expect(error.answeredAt - error.startedAt).toBe(2000)
  })

  test('a body that stops', async () => {
    const { promise: answered, resolve } = signalled()
    const port = await serveRaw((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc'))
    const clock = createVirtualClock()
    const outcome = testFetcher({ timeouts }, clock).get(`http://127.0.0.1:${port}/`, { onAnswer: () => resolve() })
    await answered
    await clock.advance(2000)
    const error = expectError(await outcome)
    expect(error).toMatchObject({ code: 'timeout', status: 200, detail: 'no more of the body after 2000 ms' })
    expect(error.answeredAt).toBe(error.startedAt)
  })

  test('a body that trickles on for ever ends at the total deadline', async () => {
    const clock = createVirtualClock()
    let chunks = 0
    const port = await serveRaw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      const trickle = (): void => {
        if (socket.destroyed || chunks++ > 100) return
        socket.write('x')
        setImmediate(() => void clock.advance(500).then(trickle))
      }
      trickle()
    })
    const error = expectError(await testFetcher({ timeouts }, clock).get(`http://127.0.0.1:${port}/`))
    expect(error).toMatchObject({ code: 'timeout', detail: 'not done after 5000 ms', status: 200 })
  })

  test('a name that is never resolved', async () => {
    const clock = createVirtualClock()
    const { promise: asked, resolve } = signalled()
    const lookup = (): Promise<never> => {
      resolve()
      return new Promise(() => {})
    }
    const outcome = testFetcher({ timeouts, lookup }, clock).get('http://slow.test/')
    await asked
    await clock.advance(1000)
    expect(expectError(await outcome)).toMatchObject({
      code: 'timeout',
      detail: 'no connection after 1000 ms',
      sent: false,
    })
  })

  test('a TLS handshake that is never answered', async () => {
    const clock = createVirtualClock()
    const { promise: asked, resolve } = signalled()
    const port = await serveRaw(() => resolve())
    const outcome = testFetcher({ timeouts }, clock).get(`https://127.0.0.1:${port}/`)
    await asked
    await clock.advance(1000)
    expect(expectError(await outcome)).toMatchObject({
      code: 'timeout',
      detail: 'no connection after 1000 ms',
      sent: true,
    })
  })

  test('a connection that fell silent is not used again', async () => {
    let connections = 0
    const { promise: asked, resolve } = signalled()
    const port = await serveConnections((socket) => {
      connections++
      socket.on('data', () => {
        if (connections === 1) resolve()
        else socket.write(page('second'))
      })
    })
    const clock = createVirtualClock()
    const fetcher = testFetcher({ timeouts }, clock)
    const silent = fetcher.get(`http://127.0.0.1:${port}/`)
    await asked
    await clock.advance(2000)
    expectError(await silent)
    expect(textOf(await fetcher.get(`http://127.0.0.1:${port}/`))).toBe('second')
    expect(connections).toBe(2)
  })
})

describe('an aborted call', () => {
  const abortWhen = async (url: string, asked: Promise<unknown>, options: { lookup?: () => Promise<never> } = {}) => {
    const fetcher = testFetcher(options)
    const controller = new AbortController()
    let answers = 0
    const outcome = fetcher.get(url, { onAnswer: () => answers++ }, controller.signal)
    await asked
    controller.abort()
    expect(await outcome).toEqual({ kind: 'aborted' })
    return answers
  }

  test('before it began', async () => {
    expect(await testFetcher().get('http://127.0.0.1:9/', {}, AbortSignal.abort())).toEqual({ kind: 'aborted' })
  })

  test('while the name is looked up', async () => {
    const { promise: asked, resolve } = signalled()
    const lookup = (): Promise<never> => {
      resolve()
      return new Promise(() => {})
    }
    expect(await abortWhen('http://slow.test/', asked, { lookup })).toBe(0)
  })

  test('while the TLS handshake waits', async () => {
    const { promise: asked, resolve } = signalled()
    const port = await serveRaw(() => resolve())
    await abortWhen(`https://127.0.0.1:${port}/`, asked)
  })

  test('while it waits for the head', async () => {
    const { promise: asked, resolve } = signalled()
    const { promise: gone, resolve: leave } = signalled()
    const port = await serveRaw((socket) => {
      socket.once('close', () => leave())
      resolve()
    })
    expect(await abortWhen(`http://127.0.0.1:${port}/`, asked)).toBe(0)
    await gone
  })

  test('while the body comes', async () => {
    const { promise: answered, resolve } = signalled()
    const { promise: gone, resolve: leave } = signalled()
    const port = await serveRaw((socket) => {
      socket.once('close', () => leave())
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc', () => setImmediate(resolve))
    })
    await abortWhen(`http://127.0.0.1:${port}/`, answered)
    await gone
  })

  test('while it waits for a connection', async () => {
    const { promise: asked, resolve } = signalled()
    const port = await serveRaw(() => resolve())
    const fetcher = testFetcher({ connectionsPerOrigin: 1 })
    const controller = new AbortController()
    const first = fetcher.get(`http://127.0.0.1:${port}/`)
    const second = fetcher.get(`http://127.0.0.1:${port}/`, {}, controller.signal)
    await asked
    controller.abort()
    expect(await second).toEqual({ kind: 'aborted' })
    await fetcher.close()
    expect(await first).toEqual({ kind: 'aborted' })
  })

  test('leaves no listener on the signal once a call is over', async () => {
    const port = await serveHttp((_request, response) => response.end('x'))
    const controller = new AbortController()
    const fetcher = testFetcher()
    expectResponse(await fetcher.get(`http://127.0.0.1:${port}/`, {}, controller.signal))
    controller.abort()
    expectResponse(await fetcher.get(`http://127.0.0.1:${port}/`))
  })
})

describe('connections', () => {
  test('are kept and used again', async () => {
    let connections = 0
    const port = await serveConnections((socket) => {
      connections++
      socket.on('data', () => socket.write(page('ok')))
    })
    const fetcher = testFetcher()
    for (let round = 0; round < 5; round++) expect(textOf(await fetcher.get(`http://127.0.0.1:${port}/`))).toBe('ok')
    expect(connections).toBe(1)
  })

  test('a host that closes after each answer is dialled each time, and no request is lost or made twice', async () => {
    let requests = 0
    const port = await serveConnections((socket) => {
      socket.on('data', () => {
        requests++
        socket.end(page('ok', 'Connection: close\r\n'))
      })
    })
    const fetcher = testFetcher()
    for (let round = 0; round < 20; round++) expectResponse(await fetcher.get(`http://127.0.0.1:${port}/${round}`))
    expect(requests).toBe(20)
  })

  test('a request on a kept connection that dies is an error and is not sent again', async () => {
    let requests = 0
    const port = await serveConnections((socket) => {
      socket.on('data', () => {
        if (++requests === 2) socket.destroy()
        else socket.write(page('ok'))
      })
    })
    const fetcher = testFetcher()
    expectResponse(await fetcher.get(`http://127.0.0.1:${port}/`))
    const error = expectError(await fetcher.get(`http://127.0.0.1:${port}/`))
    expect(error).toMatchObject({ code: 'protocol', retryable: true, sent: true })
    expect(requests).toBe(2)
  })

  test('are at most as many per origin as allowed, and all requests get their turn', async () => {
    let open = 0
    let most = 0
    const port = await serveConnections((socket) => {
      most = Math.max(most, ++open)
      socket.once('close', () => open--)
      socket.on('data', () => setImmediate(() => socket.write(page('ok'))))
    })
    const fetcher = testFetcher({ connectionsPerOrigin: 3 })
    const outcomes = await Promise.all(
      Array.from({ length: 40 }, (_, index) => fetcher.get(`http://127.0.0.1:${port}/${index}`)),
    )
    expect(outcomes.map(textOf)).toEqual(Array.from({ length: 40 }, () => 'ok'))
    expect(most).toBe(3)
  })

  test('whoever waits gets a new connection when the one in use dies', async () => {
    let connections = 0
    const port = await serveConnections((socket) => {
      const isFirst = ++connections === 1
      socket.on('data', () => (isFirst ? socket.destroy() : socket.write(page('ok'))))
    })
    const fetcher = testFetcher({ connectionsPerOrigin: 1 })
    const [first, second] = await Promise.all([
      fetcher.get(`http://127.0.0.1:${port}/1`),
      fetcher.get(`http://127.0.0.1:${port}/2`),
    ])
    expectError(first)
    expect(textOf(second)).toBe('ok')
  })

  test('the origin unused longest is closed when there are too many', async () => {
    const ports = await Promise.all(
      Array.from({ length: 4 }, () => serveHttp((_request, response) => response.end('ok'))),
    )
    const fetcher = testFetcher({ maxOrigins: 2 })
    for (const port of ports) {
      expectResponse(await fetcher.get(`http://127.0.0.1:${port}/`))
      expect(fetcher.stats.openOrigins).toBeLessThanOrEqual(2)
    }
  })

  test('hundreds of origins leave no more sockets open than allowed', async () => {
    const open = new Set<object>()
    const port = await serveHttpEverywhere((request, response) => {
      open.add(request.socket)
      request.socket.once('close', () => open.delete(request.socket))
      response.end('ok')
    })
    const fetcher = testFetcher({ maxOrigins: 20 })
    for (let group = 0; group < 30; group++) {
      const hosts = Array.from({ length: 10 }, (_, index) => `127.1.${group}.${index}`)
      const outcomes = await Promise.all(hosts.map((host) => fetcher.get(`http://${host}:${port}/`)))
      expect(outcomes.map(textOf)).toEqual(hosts.map(() => 'ok'))
      expect(fetcher.stats.openOrigins).toBeLessThanOrEqual(20)
    }
    await expect.poll(() => open.size).toBeLessThanOrEqual(20)
  })

  test('an origin in use is never closed to make room', async () => {
    const { promise: go, resolve } = signalled()
    const slow = await serveHttp((_request, response) => void go.then(() => response.end('slow')))
    const quick = await serveHttp((_request, response) => response.end('quick'))
    const fetcher = testFetcher({ maxOrigins: 1 })
    const first = fetcher.get(`http://127.0.0.1:${slow}/`)
    expect(textOf(await fetcher.get(`http://127.0.0.1:${quick}/`))).toBe('quick')
    resolve()
    expect(textOf(await first)).toBe('slow')
  })

  test('a thousand hosts that hang delay no other, and leave nothing open', async () => {
    const HANGING = 1000
    const open = new Set<object>()
    let hanging = 0
    const { promise: allHang, resolve } = signalled()
    const { promise: allGone, resolve: leave } = signalled()
    const port = await serveConnections((socket) => {
      open.add(socket)
      socket.once('close', () => {
        open.delete(socket)
        if (open.size === 0) leave()
      })
      socket.on('data', (bytes) => {
        if (bytes.includes('good.test')) socket.write(page('ok'))
        else if (++hanging === HANGING) resolve()
      })
    })
    const clock = createVirtualClock()
    const timeouts = { connectMs: 10_000, readMs: 10_000, totalMs: 20_000 }
    const fetcher = testFetcher({ resolve: [`*:${port}:127.0.0.1`], maxOrigins: 8, timeouts }, clock)
    const hung = Array.from({ length: HANGING }, (_, index) => fetcher.get(`http://pit-${index}.test:${port}/`))
    await allHang
    expect(fetcher.stats.openOrigins).toBe(HANGING)
    for (let round = 0; round < 3; round++) {
      for (const name of ['a', 'b', 'c']) {
        expect(textOf(await fetcher.get(`http://${name}.good.test:${port}/`))).toBe('ok')
      }
    }
    await clock.advance(10_000)
    for (const outcome of await Promise.all(hung)) expect(expectError(outcome)).toMatchObject({ code: 'timeout' })
    await allGone
    expect(fetcher.stats.openOrigins).toBe(0)
  })

  test('beyond the limit go as soon as they are idle, the oldest first', async () => {
    const { promise: go, resolve } = signalled()
    const port = await serveHttp((_request, response) => void go.then(() => response.end('ok')))
    const fetcher = testFetcher({ resolve: [`*:${port}:127.0.0.1`], maxOrigins: 2 })
    const outcomes = Array.from({ length: 6 }, (_, index) => fetcher.get(`http://host-${index}.test:${port}/`))
    expect(fetcher.stats.openOrigins).toBe(6)
    resolve()
    await Promise.all(outcomes)
    expect(fetcher.stats.openOrigins).toBe(2)
  })

  test('are closed when they have not been used for long, with nobody asking', async () => {
    const { promise: gone, resolve: leave } = signalled()
    let open = 0
    const port = await serveConnections((socket) => {
      open++
      socket.on('data', () => socket.write(page('ok')))
      socket.once('close', () => {
        if (--open === 0) leave()
      })
    })
    const clock = createVirtualClock()
    const fetcher = testFetcher({ resolve: [`*:${port}:127.0.0.1`] }, clock)
    await Promise.all(['a', 'b', 'c'].map((name) => fetcher.get(`http://${name}.test:${port}/`)))
    await clock.advance(20_000)
    expect(fetcher.stats.openOrigins).toBe(3)
    await clock.advance(5_000)
    await gone
    await expect.poll(() => fetcher.stats.openOrigins).toBe(0)
    await clock.advance(5_000)
    expect(clock.nextTimer()).toBeUndefined()
  })

  test.each([
    [5, 3000],
    [9, 7000],
  ])('are kept for less than the %i s that a host says', async (seconds, keptMs) => {
    let connections = 0
    const port = await serveConnections((socket) => {
      connections++
      socket.on('data', () => socket.write(page('ok', `Keep-Alive: max=10, timeout=${seconds}\r\n`)))
    })
    const clock = createVirtualClock()
    const fetcher = testFetcher({}, clock)
    const ask = async (): Promise<number> => {
      expectResponse(await fetcher.get(`http://127.0.0.1:${port}/`))
      return connections
    }
    expect(await ask()).toBe(1)
    await clock.advance(keptMs)
    expect(await ask()).toBe(1)
    await clock.advance(keptMs + 1)
    expect(await ask()).toBe(2)
  })

  test('are given up in good time on a host that was seen to close them', async () => {
    const clock = createVirtualClock()
    const { promise: asked, resolve: closeNow } = signalled()
    const { promise: isClosed, resolve } = signalled()
    let connections = 0
    const port = await serveConnections((socket) => {
      const isFirst = ++connections === 1
      socket.on('data', () => socket.write(page('ok')))
      socket.once('close', () => resolve())
      if (isFirst) void asked.then(() => socket.end())
    })
    const fetcher = testFetcher({}, clock)
    const ask = async (): Promise<number> => {
      expectResponse(await fetcher.get(`http://127.0.0.1:${port}/`))
      return connections
    }
    expect(await ask()).toBe(1)
    await clock.advance(2000)
    closeNow()
    await isClosed
    expect(await ask()).toBe(2)
    await clock.advance(1500)
    expect(await ask()).toBe(2)
    await clock.advance(1501)
    expect(await ask()).toBe(3)
  })

  test('are kept for less long on a host that failed the next request on one', async () => {
    let connections = 0
    const port = await serveConnections((socket) => {
      connections++
      let requests = 0
      socket.on('data', () => (++requests === 2 ? socket.destroy() : socket.write(page('ok'))))
    })
    const clock = createVirtualClock()
    const fetcher = testFetcher({}, clock)
    expectResponse(await fetcher.get(`http://127.0.0.1:${port}/`))
    await clock.advance(1000)
    expectError(await fetcher.get(`http://127.0.0.1:${port}/`))
    for (let round = 0; round < 3; round++) {
      await clock.advance(1000)
      expectResponse(await fetcher.get(`http://127.0.0.1:${port}/`))
    }
    expect(connections).toBe(4)
  })

  test('a refused connection has reached the host', async () => {
    const error = expectError(await testFetcher().get('http://127.0.0.1:2/'))
    expect(error).toMatchObject({ code: 'connect', retryable: true, offline: false, sent: true })
    expect(error.detail).toBe('the connection was refused: 127.0.0.1 (ECONNREFUSED)')
  })

  test('the next address is tried when one refuses', async () => {
    const port = await serveHttp((_request, response) => response.end('ok'))
    const lookup = () =>
      Promise.resolve([
        { address: '127.0.0.9', family: 4 },
        { address: '127.0.0.1', family: 4 },
      ])
    const response = expectResponse(await testFetcher({ lookup }).get(`http://two.test:${port}/`))
    expect(response.address).toBe('127.0.0.1')
  })
})

describe('closing', () => {
  test('ends what is under way and refuses what comes after', async () => {
    const { promise: asked, resolve } = signalled()
    const { promise: gone, resolve: leave } = signalled()
    const port = await serveRaw((socket) => {
      socket.once('close', () => leave())
      resolve()
    })
    const fetcher = testFetcher()
    const outcome = fetcher.get(`http://127.0.0.1:${port}/`)
    await asked
    await fetcher.close()
    expect(await outcome).toEqual({ kind: 'aborted' })
    expect(await fetcher.get(`http://127.0.0.1:${port}/`)).toEqual({ kind: 'aborted' })
    await gone
    await fetcher.close()
    expect(fetcher.stats.openOrigins).toBe(0)
  })

  test('lets go of kept connections', async () => {
    const { promise: gone, resolve: leave } = signalled()
    const port = await serveConnections((socket) => {
      socket.once('close', () => leave())
      socket.on('data', () => socket.write(page('x'.repeat(MEGABYTE / 8))))
    })
    const fetcher = testFetcher()
    expectResponse(await fetcher.get(`http://127.0.0.1:${port}/`))
    await fetcher.close()
    await gone
  })
})

describe('a response whose body cannot be used', () => {
  test('is an error that still tells what its head said', async () => {
    const head = 'HTTP/1.1 429 Too Many\r\nRetry-After: 600\r\nContent-Length: 100\r\n\r\n'
    const port = await serveBytes(`${head}only this`, true)
    const outcome = expectError(await testFetcher().get(`http://127.0.0.1:${port}/`))
    expect([outcome.status, outcome.headers?.get('retry-after')]).toEqual([429, '600'])
  })
})

describe('whether a request may start', () => {
  test('is asked when its connection is there, for each request', async () => {
    const seen: string[] = []
    const port = await serveConnections((socket) =>
      socket.on('data', () => {
        seen.push('request')
        socket.write(page('here'))
      }),
    )
    const mayStart = (): boolean => {
      seen.push('asked')
      return true
    }
    const fetcher = testFetcher()
    expectResponse(await fetcher.get(`http://127.0.0.1:${port}/1`, { mayStart }))
    expectResponse(await fetcher.get(`http://127.0.0.1:${port}/2`, { mayStart }))
    expect(seen).toEqual(['asked', 'request', 'asked', 'request'])
  })

  test('is not decided before the last moment, and nothing is sent when it may not', async () => {
    const paths: (string | undefined)[] = []
    const port = await serveHttp((request, response) => {
      paths.push(request.url)
      response.end('here')
    })
    const fetcher = testFetcher({ connectionsPerOrigin: 1 })
    let isPermitted = true
    const get = (path: string) => fetcher.get(`http://127.0.0.1:${port}/${path}`, { mayStart: () => isPermitted })
    const dialled = get('dialled')
    // As if this process had been stopped while the connection was made, and its lease had run out.
    isPermitted = false
    expect(await dialled).toEqual({ kind: 'aborted' })
    expect(await get('reused')).toEqual({ kind: 'aborted' })
    const first = fetcher.get(`http://127.0.0.1:${port}/first`)
    isPermitted = true
    const waiting = get('waiting')
    isPermitted = false
    expectResponse(await first)
    expect(await waiting).toEqual({ kind: 'aborted' })
    expectResponse(await fetcher.get(`http://127.0.0.1:${port}/last`))
    expect(paths).toEqual(['/first', '/last'])
  })
})

describe('memory of bodies', () => {
  test('is used again when it was released, and not before', async () => {
    const port = await serveHttp((request, response) => response.end((request.url ?? '').repeat(10_000)))
    const fetcher = testFetcher()
    const get = async (path: string) => expectResponse(await fetcher.get(`http://127.0.0.1:${port}${path}`))
    const [a, b] = [await get('/a'), await get('/b')]
    a.release?.()
    a.release?.()
    const [c, d] = [await get('/c'), await get('/d')]
    expect(c.body.buffer).toBe(a.body.buffer)
    expect([b, c, d].map(textOf)).toEqual(['/b', '/c', '/d'].map((path) => path.repeat(10_000)))
  })
})

test('a URL that would be more than a line of a request is refused', async () => {
  let connections = 0
  const port = await serveConnections(() => connections++)
  for (const path of ['/a b', '/a\r\nX: y', '/\n', '/\0', '/é']) {
    expect(await testFetcher().get(`http://127.0.0.1:${port}${path}`)).toMatchObject({ kind: 'refused', address: null })
  }
  expect(connections).toBe(0)
})

test('a field of a request that would be more than a line is left out', async () => {
  const port = await serveHttp((request, response) => response.end(JSON.stringify(request.headers)))
  const headers = { 'If-None-Match': '"x"\r\nx-forged: y', 'If-Modified-Since': 'then' }
  const sent = JSON.parse(textOf(await testFetcher().get(`http://127.0.0.1:${port}/`, { headers }))) as object
  expect(sent).toMatchObject({ 'if-modified-since': 'then' })
  expect(sent).not.toHaveProperty('if-none-match')
  expect(sent).not.toHaveProperty('x-forged')
})
