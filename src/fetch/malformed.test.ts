import { describe, expect, test } from 'vitest'
import {
  expectError,
  expectResponse,
  serveConnections,
  serveRaw,
  signalled,
  testFetcher,
  textOf,
  type TestFetcher,
} from './test-support/loopback.ts'

const OK = 'HTTP/1.1 200 OK\r\n'
const LENGTH = 'Content-Length: 2\r\n'
const CHUNKED = 'Transfer-Encoding: chunked\r\n'
const GOOD = `${OK}Content-Length: 4\r\n\r\ngood`
const CLOSE = true

/** Answers the very first request with these bytes, and every other, on whatever connection, with a good page. */
function serveOnce(bytes: string | Uint8Array, close = false): Promise<number> {
  let isFirst = true
  return serveConnections((socket) => {
    socket.on('data', () => {
      if (!isFirst) return void socket.write(GOOD)
      isFirst = false
      socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
      if (close) socket.end()
    })
  })
}

async function expectNextIsGood(fetcher: TestFetcher, port: number): Promise<void> {
  expect(textOf(await fetcher.get(`http://127.0.0.1:${port}/next`))).toBe('good')
  expect(fetcher.stats.openOrigins).toBeLessThanOrEqual(1)
}

type Accepted = readonly [name: string, bytes: string, body: string, close?: boolean]

describe('what is merely odd is read, and the next request works', () => {
  const cases: readonly Accepted[] = [
    ['HTTP/1.0', `HTTP/1.0 200 OK\r\n${LENGTH}\r\nok`, 'ok'],
    ['HTTP/1.0 up to the end of the connection', 'HTTP/1.0 200 OK\r\n\r\nok', 'ok', CLOSE],
    ['a version newer than ours', `HTTP/1.7 200 OK\r\n${LENGTH}\r\nok`, 'ok'],
    ['no reason', `HTTP/1.1 200\r\n${LENGTH}\r\nok`, 'ok'],
    ['an empty reason', `HTTP/1.1 200 \r\n${LENGTH}\r\nok`, 'ok'],
    ['a reason in Latin-1', `HTTP/1.1 200 \xe9\r\n${LENGTH}\r\nok`, 'ok'],
    ['a status that nobody has defined', `HTTP/1.1 799 Hm\r\n${LENGTH}\r\nok`, 'ok'],
    ['empty lines before the answer', `\r\n\r\n${OK}${LENGTH}\r\nok`, 'ok'],
    ['lines that end in LF alone', 'HTTP/1.1 200 OK\nContent-Length: 2\n\nok', 'ok'],
    ['line ends of both kinds', 'HTTP/1.1 200 OK\r\nContent-Length: 2\n\r\nok', 'ok'],
    ['a line without a colon', `${OK}nonsense\r\n${LENGTH}\r\nok`, 'ok'],
    ['a blank before the colon', `${OK}Content-Length : 2\r\n\r\nok`, 'ok'],
    ['blanks around a length', `${OK}Content-Length:  \t 2 \t \r\n\r\nok`, 'ok'],
    ['no blank after the colon', `${OK}Content-Length:2\r\n\r\nok`, 'ok'],
    ['a field without a name', `${OK}: x\r\n${LENGTH}\r\nok`, 'ok'],
    ['a blank in a name', `${OK}a b: x\r\n${LENGTH}\r\nok`, 'ok'],
    ['a name beyond ASCII', `${OK}\xe9: x\r\n${LENGTH}\r\nok`, 'ok'],
    ['a carriage return in a value', `${OK}A: x\ry\r\n${LENGTH}\r\nok`, 'ok'],
    ['control characters in a value', `${OK}A: \x01\x1b[31m\x7f\r\n${LENGTH}\r\nok`, 'ok'],
    ['a folded value', `${OK}A: x\r\n\t y\r\n${LENGTH}\r\nok`, 'ok'],
    ['a fold before any field', `${OK} x\r\n${LENGTH}\r\nok`, 'ok'],
    ['a folded transfer coding', `${OK}Transfer-Encoding:\r\n chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`, 'ok'],
    ['names that objects have', `${OK}__proto__: x\r\nconstructor: y\r\n${LENGTH}\r\nok`, 'ok'],
    ['a length said twice', `${OK}${LENGTH}${LENGTH}\r\nok`, 'ok'],
    ['a list of one length', `${OK}Content-Length: 2, 2\r\n\r\nok`, 'ok'],
    ['a length with zeros before it', `${OK}Content-Length: 0002\r\n\r\nok`, 'ok'],
    ['more than the length', `${OK}${LENGTH}\r\nok and more`, 'ok'],
    ['a second answer after the first', `${OK}${LENGTH}\r\nok${OK}${LENGTH}\r\nno`, 'ok'],
    ['a length of nothing, and something', `${OK}Content-Length: 0\r\n\r\nok`, ''],
    ['chunks and a length', `${OK}${CHUNKED}Content-Length: 99\r\n\r\n2\r\nok\r\n0\r\n\r\n`, 'ok'],
    ['a length and chunks', `${OK}Content-Length: 1\r\n${CHUNKED}\r\n2\r\nok\r\n0\r\n\r\n`, 'ok'],
    ['chunks twice', `${OK}${CHUNKED}${CHUNKED}\r\n2\r\nok\r\n0\r\n\r\n`, 'ok'],
    ['chunks in capitals', `${OK}TRANSFER-ENCODING: CHUNKED\r\n\r\n2\r\nok\r\n0\r\n\r\n`, 'ok'],
    ['chunks in HTTP/1.0', `HTTP/1.0 200 OK\r\n${CHUNKED}\r\n2\r\nok\r\n0\r\n\r\n`, 'ok', CLOSE],
    ['the identity as a transfer coding', `${OK}Transfer-Encoding: identity\r\n\r\nok`, 'ok', CLOSE],
    ['the identity on top of chunks', `${OK}Transfer-Encoding: chunked, identity\r\n\r\n2\r\nok\r\n0\r\n\r\n`, 'ok'],
    ['an empty transfer coding', `${OK}Transfer-Encoding:\r\n\r\nok`, 'ok', CLOSE],
    ['chunk extensions', `${OK}${CHUNKED}\r\n2;a=b;c="d"\r\nok\r\n0;e\r\n\r\n`, 'ok'],
    ['blanks after a chunk size', `${OK}${CHUNKED}\r\n2 \t\r\nok\r\n0 ;x\r\n\r\n`, 'ok'],
    ['a length in a trailer', `${OK}${CHUNKED}\r\n2\r\nok\r\n0\r\nContent-Length: 99\r\n\r\n`, 'ok'],
    ['the identity and a length', `${OK}Transfer-Encoding: identity\r\n${LENGTH}\r\nok`, 'ok'],
    ['a chunk size with many zeros', `${OK}${CHUNKED}\r\n${'0'.repeat(50)}2\r\nok\r\n0\r\n\r\n`, 'ok'],
    ['a trailer', `${OK}${CHUNKED}\r\n2\r\nok\r\n0\r\nA: b\r\n\r\n`, 'ok'],
    ['an unasked 100 Continue', `HTTP/1.1 100 Continue\r\n\r\n${OK}${LENGTH}\r\nok`, 'ok'],
    [
      'interim answers of several kinds',
      `HTTP/1.1 100 Continue\r\nA: b\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 199\r\n\r\n${OK}${LENGTH}\r\nok`,
      'ok',
    ],
    ['an interim answer in LF alone', `HTTP/1.1 100 Continue\n\n${OK}${LENGTH}\r\nok`, 'ok'],
    ['204 with a body', `HTTP/1.1 204 No Content\r\n${LENGTH}\r\nok`, ''],
    ['204 in chunks', `HTTP/1.1 204 No Content\r\n${CHUNKED}\r\n2\r\nok\r\n0\r\n\r\n`, ''],
    ['304 with a body', `HTTP/1.1 304 Not Modified\r\n${LENGTH}\r\nok`, ''],
    ['304 with the length of another answer', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 99999\r\n\r\n', ''],
    ['205 with a body', `HTTP/1.1 205 Reset Content\r\n${LENGTH}\r\nok`, 'ok'],
    ['as many fields as allowed', `${OK}${'A: b\r\n'.repeat(255)}${LENGTH}\r\nok`, 'ok'],
    ['a head of nearly the size allowed', `${OK}A: ${'x'.repeat(32_000)}\r\n${LENGTH}\r\nok`, 'ok'],
  ]

  test.each(cases.map(([name, ...rest]) => ({ name, rest })))('$name', async ({ rest: [bytes, body, close] }) => {
    const port = await serveOnce(bytes, close)
    const fetcher = testFetcher()
    expect(textOf(await fetcher.get(`http://127.0.0.1:${port}/`))).toBe(body)
    await expectNextIsGood(fetcher, port)
  })

  test('what is put right can be read from the fields', async () => {
    const port = await serveOnce(
      `${OK}A: x\r\n\t y \r\nno field\r\n z\r\nB: 1\ry\x01\r\n\xff: x\r\nC : d\r\n${LENGTH}\r\nok`,
    )
    const { headers } = expectResponse(await testFetcher().get(`http://127.0.0.1:${port}/`))
    expect([headers.get('a'), headers.get('b'), headers.get('c')]).toEqual(['x y', '1 y', 'd'])
  })
})

type Refused = readonly [name: string, bytes: string | Uint8Array, detail: RegExp, close?: boolean]

describe('what is not HTTP is a protocol error in words that is not tried again, and the next request works', () => {
  const noise = Buffer.from(Array.from({ length: 5000 }, (_, index) => (index * 7919 + 13) & 255))
  const cases: readonly Refused[] = [
    ['HTTP/0.9', '<html>hello</html>', /not HTTP/, CLOSE],
    ['another protocol', 'SSH-2.0-OpenSSH_9.6\r\n', /not HTTP/],
    ['a mail server', '220 mail.test ESMTP\r\n', /not HTTP/],
    ['a music server', `ICY 200 OK\r\n${LENGTH}\r\nok`, /not HTTP/],
    ['noise', noise, /not HTTP/],
    ['zeros', Buffer.alloc(5000), /not HTTP/],
    ['an HTTP/2 frame', Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]), /not HTTP/],
    ['a TLS alert', Buffer.from([0x15, 3, 1, 0, 2, 2, 40]), /speaks TLS/],
    ['a TLS handshake', Buffer.from([0x16, 3, 3, 0, 50, 2, 0]), /speaks TLS/],
    ['small letters', `http/1.1 200 OK\r\n${LENGTH}\r\nok`, /not HTTP/],
    ['a blank before the answer', ` ${OK}${LENGTH}\r\nok`, /not HTTP/],
    ['a byte order mark before the answer', `\xef\xbb\xbf${OK}${LENGTH}\r\nok`, /not HTTP/],
    ['a version without a dot', `HTTP/1 200 OK\r\n${LENGTH}\r\nok`, /protocol/],
    ['a version that does not exist', `HTTP/3.0 200 OK\r\n${LENGTH}\r\nok`, /protocol/],
    ['a version of two digits', `HTTP/11.1 200 OK\r\n${LENGTH}\r\nok`, /protocol/],
    ['two blanks before the status', `HTTP/1.1  200 OK\r\n${LENGTH}\r\nok`, /protocol/],
    ['a tab before the status', `HTTP/1.1\t200 OK\r\n${LENGTH}\r\nok`, /protocol/],
    ['a status of one digit', `HTTP/1.1 2 OK\r\n${LENGTH}\r\nok`, /protocol/],
    ['a status of four digits', `HTTP/1.1 2000 OK\r\n${LENGTH}\r\nok`, /protocol/],
    ['a status in letters', `HTTP/1.1 abc OK\r\n${LENGTH}\r\nok`, /protocol/],
    ['a negative status', `HTTP/1.1 -20 OK\r\n${LENGTH}\r\nok`, /protocol/],
    ['a status of zero', `HTTP/1.1 000 OK\r\n${LENGTH}\r\nok`, /status 0 means nothing/],
    ['a status below 100', `HTTP/1.1 099 OK\r\n${LENGTH}\r\nok`, /status 99 means nothing/],
    ['an upgrade', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n', /another protocol/],
    ['a NUL in the reason', `HTTP/1.1 200 O\0K\r\n${LENGTH}\r\nok`, /NUL/],
    ['a NUL in a name', `${OK}a\0b: x\r\n${LENGTH}\r\nok`, /NUL/],
    ['a NUL in a value', `${OK}A: x\0y\r\n${LENGTH}\r\nok`, /NUL/],
    ['two lengths', `${OK}${LENGTH}Content-Length: 3\r\n\r\nok!`, /Content-Length is "2" and "3"/],
    ['a list of two lengths', `${OK}Content-Length: 2, 3\r\n\r\nok!`, /Content-Length is "2" and "3"/],
    ['a negative length', `${OK}Content-Length: -2\r\n\r\nok`, /"-2" is no length/],
    ['a length with a plus', `${OK}Content-Length: +2\r\n\r\nok`, /"\+2" is no length/],
    ['a length in hex', `${OK}Content-Length: 0x2\r\n\r\nok`, /"0x2" is no length/],
    ['a length with a point', `${OK}Content-Length: 2.0\r\n\r\nok`, /"2.0" is no length/],
    ['a length in words', `${OK}Content-Length: two\r\n\r\nok`, /"two" is no length/],
    ['an empty length', `${OK}Content-Length:\r\n\r\nok`, /"" is no length/],
    ['an unknown transfer coding', `${OK}Transfer-Encoding: xchunked\r\n\r\nok`, /"xchunked" is not known/],
    [
      'a compressed transfer',
      `${OK}Transfer-Encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
      /"gzip" is not known/,
    ],
    ['a chunk size in letters', `${OK}${CHUNKED}\r\nzz\r\nok\r\n0\r\n\r\n`, /chunk size/],
    ['a negative chunk size', `${OK}${CHUNKED}\r\n-2\r\nok\r\n0\r\n\r\n`, /chunk size/],
    ['a chunk size and a word', `${OK}${CHUNKED}\r\n2 x\r\nok\r\n0\r\n\r\n`, /chunk size/],
    ['a blank before a chunk size', `${OK}${CHUNKED}\r\n 2\r\nok\r\n0\r\n\r\n`, /chunk size/],
    ['a chunk size without an end', `${OK}${CHUNKED}\r\n2\rok\r\n0\r\n\r\n`, /chunk size/],
    ['a chunk size in LF alone', `${OK}${CHUNKED}\r\n2\nok\r\n0\r\n\r\n`, /chunk size/],
    ['a chunk that ends in LF alone', `${OK}${CHUNKED}\r\n2\r\nok\n0\r\n\r\n`, /chunk data/],
    ['a trailer in LF alone', `${OK}${CHUNKED}\r\n2\r\nok\r\n0\r\nA: b\n\r\n`, /protocol/],
    ['a NUL in a trailer', `${OK}${CHUNKED}\r\n2\r\nok\r\n0\r\nA: \0\r\n\r\n`, /protocol/],
    ['a transfer coding with a parameter', `${OK}Transfer-Encoding: chunked;q=1\r\n\r\nok`, /is not known/],
    ['a transfer coding in quotes', `${OK}Transfer-Encoding: "chunked"\r\n\r\nok`, /is not known/],
    ['a length and a comma', `${OK}Content-Length: 2,\r\n\r\nok`, /"" is no length/],
    ['an empty length and another', `${OK}Content-Length:\r\n${LENGTH}\r\nok`, /"" is no length/],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', /not HTTP/],
    ['a chunk size with 0x', `${OK}${CHUNKED}\r\n0x2\r\nok\r\n0\r\n\r\n`, /chunk size/],
    ['a chunk without a size', `${OK}${CHUNKED}\r\n\r\nok\r\n0\r\n\r\n`, /chunk size/],
    ['a chunk size beyond all numbers', `${OK}${CHUNKED}\r\n${'f'.repeat(18)}\r\nok\r\n0\r\n\r\n`, /overflow/],
    ['a chunk longer than its size', `${OK}${CHUNKED}\r\n2\r\nokay\r\n0\r\n\r\n`, /chunk data/],
    [
      'a chunk extension without end',
      `${OK}${CHUNKED}\r\n2;${'a'.repeat(1_000_000)}\r\nok\r\n0\r\n\r\n`,
      /much around it/,
    ],
    ['a trailer that is no field', `${OK}${CHUNKED}\r\n2\r\nok\r\n0\r\nnonsense\r\n\r\n`, /protocol/],
    [
      'trailers without end',
      `${OK}${CHUNKED}\r\n2\r\nok\r\n0\r\n${'A: b\r\n'.repeat(200_000)}\r\n`,
      /much around it|too large/,
    ],
    ['interim answers without end', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(1000), /more than 16 interim answers/],
    ['empty lines without end', '\r\n'.repeat(2_000_000), /too much comes before/],
    ['a reason without end', `HTTP/1.1 200 ${'x'.repeat(1_000_000)}`, /too large/],
    ['a field of ten megabytes', `${OK}A: ${'x'.repeat(10_000_000)}\r\n\r\n`, /too large/],
    ['a name without end', `${OK}${'x'.repeat(1_000_000)}`, /too large/],
    ['a hundred thousand fields', `${OK}${'A: b\r\n'.repeat(100_000)}\r\n`, /too many header fields/],
    ['one field too many', `${OK}${'A: b\r\n'.repeat(256)}${LENGTH}\r\nok`, /too many header fields/],
    ['an interim answer with a body', `HTTP/1.1 100 Continue\r\n${LENGTH}\r\nok${GOOD}`, /not HTTP/],
  ]

  test.each(cases.map(([name, ...rest]) => ({ name, rest })))('$name', async ({ rest: [bytes, detail, close] }) => {
    const port = await serveOnce(bytes, close)
    const fetcher = testFetcher()
    const answers: number[] = []
    const error = expectError(await fetcher.get(`http://127.0.0.1:${port}/`, { onAnswer: (at) => answers.push(at) }))
    expect(error).toMatchObject({ code: 'protocol', retryable: false, sent: true, offline: false })
    expect(error.detail).toMatch(detail)
    expect(answers).toEqual([error.answeredAt])
    await expectNextIsGood(fetcher, port)
  })
})

describe('what breaks off is an error that may be tried again, and the next request works', () => {
  const whole = `${OK}${CHUNKED}Trailer: A\r\n\r\n2\r\nok\r\n0\r\nA: b\r\n\r\n`
  const everywhere = Array.from({ length: whole.length }, (_, length) => whole.slice(0, length))
  const cases: readonly (readonly [name: string, bytes: string])[] = [
    ['fewer bytes than the length', `${OK}Content-Length: 10\r\n\r\nok`],
    ['a length beyond all numbers', `${OK}Content-Length: ${'9'.repeat(30)}\r\n\r\nok`],
    ['a length just beyond 63 bits', `${OK}Content-Length: 9223372036854775808\r\n\r\nok`],
    ['a chunk of nearly endless size', `${OK}${CHUNKED}\r\n${'f'.repeat(16)}\r\nok`],
    ['nothing after an interim answer', 'HTTP/1.1 100 Continue\r\n\r\n'],
    ['lines that end in CR alone', 'HTTP/1.1 200 OK\rContent-Length: 2\r\rok'],
  ]

  test.each(cases)('%s', async (_name, bytes) => {
    const port = await serveOnce(bytes, CLOSE)
    const fetcher = testFetcher()
    const error = expectError(await fetcher.get(`http://127.0.0.1:${port}/`))
    expect(error).toMatchObject({ code: 'protocol', retryable: true, sent: true })
    await expectNextIsGood(fetcher, port)
  })

  test('a chunked answer, wherever it is cut', async () => {
    for (const part of everywhere) {
      const port = await serveOnce(part, CLOSE)
      const fetcher = testFetcher()
      const error = expectError(await fetcher.get(`http://127.0.0.1:${port}/`))
      expect(error, JSON.stringify(part)).toMatchObject({ code: 'protocol', retryable: true })
      await expectNextIsGood(fetcher, port)
      await fetcher.close()
    }
  })

  test('a reset where only the end of the connection would end the body', async () => {
    const { promise: answered, resolve } = signalled()
    const port = await serveRaw((socket) => {
      socket.write('HTTP/1.0 200 OK\r\n\r\nhalf')
      void answered.then(() => socket.resetAndDestroy())
    })
    const error = expectError(await testFetcher().get(`http://127.0.0.1:${port}/`, { onAnswer: () => resolve() }))
    expect(error).toMatchObject({ code: 'protocol', retryable: true, status: 200 })
  })
})

test('an answer that comes byte by byte is the same answer', async () => {
  const bytes = `\r\nHTTP/1.1 100 Continue\r\n\r\n${OK}A: b\r\n c\r\n${CHUNKED}\r\n2;x\r\nok\r\n3\r\nay!\r\n0\r\nB: c\r\n\r\n`
  const port = await serveRaw((socket) => {
    socket.setNoDelay(true)
    let at = 0
    const next = (): void => {
      if (at < bytes.length) socket.write(bytes[at++] ?? '', () => setImmediate(next))
    }
    next()
  })
  const response = expectResponse(await testFetcher().get(`http://127.0.0.1:${port}/`))
  expect(textOf(response)).toBe('okay!')
  expect(response.headers.get('a')).toBe('b c')
})

const CHUNKS = '2\r\nok\r\n0\r\n\r\n'
test.each([
  ['chunks and a length', `${OK}${CHUNKED}${LENGTH}\r\n${CHUNKS}`],
  ['the identity and a length', `${OK}Transfer-Encoding: identity\r\n${LENGTH}\r\nok`],
  ['a length said twice', `${OK}${LENGTH}${LENGTH}\r\nok`],
  ['a control character in a chunk extension', `${OK}${CHUNKED}\r\n2;\x01\r\nok\r\n0\r\n\r\n`],
  ['a control character before the transfer coding', `${OK}Transfer-Encoding: \x0bchunked\r\n\r\n${CHUNKS}`],
  ['a blank before the colon', `${OK}Content-Length : 2\r\n\r\nok`],
  ['a line that is no field', `${OK}nonsense\r\n${LENGTH}\r\nok`],
  ['a fold before any field', `${OK} x\r\n${LENGTH}\r\nok`],
])('a connection whose answer left its end in doubt is not used again: %s', async (_name, bytes) => {
  let connections = 0
  const port = await serveConnections((socket) => {
    connections++
    socket.on('data', () => socket.write(bytes))
  })
  const fetcher = testFetcher()
  for (const _ of [1, 2]) expect(textOf(await fetcher.get(`http://127.0.0.1:${port}/`))).toBe('ok')
  expect(connections).toBe(2)
})

test('an answer that came before the question is not taken for its answer', async () => {
  const { promise: closed, resolve } = signalled()
  let connections = 0
  const port = await serveConnections((socket) => {
    connections++
    socket.once('data', () => {
      socket.write(`${OK}${LENGTH}\r\nok`)
      if (connections === 1) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged')
    })
    socket.once('close', () => resolve())
  })
  const fetcher = testFetcher()
  expect(textOf(await fetcher.get(`http://127.0.0.1:${port}/`))).toBe('ok')
  await closed
  expect(textOf(await fetcher.get(`http://127.0.0.1:${port}/`))).toBe('ok')
  expect(connections).toBe(2)
})
