import * as zlib from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { createRng } from '../base/index.ts'
import {
  expectError,
  expectResponse,
  MEGABYTE,
  serveHttp,
  serveHttp2,
  signalled,
  testFetcher,
  textOf,
} from './test-support/loopback.ts'

const SMALL = 'Tiptoe reads this page. '.repeat(2000)
/** Random, so that it stays large when compressed and is decoded while it comes. */
const rng = createRng(1)
const LARGE = Buffer.from(Array.from({ length: 400_000 }, () => rng.int(256)))

const ENCODERS: Record<string, (bytes: Uint8Array) => Uint8Array> = {
  gzip: zlib.gzipSync,
  'x-gzip': zlib.gzipSync,
  deflate: zlib.deflateSync,
  br: (bytes) => zlib.brotliCompressSync(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } }),
  zstd: zlib.zstdCompressSync,
}

const serve = (coding: string, bytes: Uint8Array): Promise<number> =>
  serveHttp((_request, response) => response.writeHead(200, { 'content-encoding': coding }).end(bytes))

const NAMES = Object.keys(ENCODERS)

describe.each(NAMES)('%s', (name) => {
  const encode = ENCODERS[name] as (bytes: Uint8Array) => Uint8Array

  test('a small body', async () => {
    const bytes = encode(Buffer.from(SMALL))
    const port = await serve(name, bytes)
    const response = expectResponse(await testFetcher().get(`http://127.0.0.1:${port}/`))
    expect(textOf(response)).toBe(SMALL)
    expect(response).toMatchObject({ wireBytes: bytes.length, truncated: false })
  })

  test('a large body', async () => {
    const port = await serve(name, encode(LARGE))
    const response = expectResponse(await testFetcher().get(`http://127.0.0.1:${port}/`))
    expect(Buffer.compare(response.body, LARGE)).toBe(0)
    expect(response.truncated).toBe(false)
  })

  test('an empty body', async () => {
    const fetcher = testFetcher()
    const port = await serve(name, new Uint8Array(0))
    expect(expectResponse(await fetcher.get(`http://127.0.0.1:${port}/`)).body).toHaveLength(0)
    const encoded = await serve(name, encode(new Uint8Array(0)))
    expect(expectResponse(await fetcher.get(`http://127.0.0.1:${encoded}/`)).body).toHaveLength(0)
  })

  test.each([
    ['small', Buffer.from(SMALL)],
    ['large', LARGE],
  ])('a %s body is cut at the cap', async (_size, plain) => {
    const port = await serve(name, encode(plain))
    const response = expectResponse(await testFetcher({ maxBodyBytes: 20_000 }).get(`http://127.0.0.1:${port}/`))
    expect(Buffer.compare(response.body, plain.subarray(0, 20_000))).toBe(0)
    expect(response.truncated).toBe(true)
  })

  test.each([
    ['small', Buffer.from(SMALL)],
    ['large', LARGE],
  ])('a %s body of exactly the cap is whole', async (_size, plain) => {
    const port = await serve(name, encode(plain))
    const fetcher = testFetcher({ maxBodyBytes: plain.length })
    const response = expectResponse(await fetcher.get(`http://127.0.0.1:${port}/`))
    expect(response.body).toHaveLength(plain.length)
    expect(response.truncated).toBe(false)
  })

  test('a body beyond the cap on the wire gives what could be decoded', async () => {
    const port = await serve(name, encode(LARGE))
    const response = expectResponse(await testFetcher({ maxWireBytes: 200_000 }).get(`http://127.0.0.1:${port}/`))
    expect(response.truncated).toBe(true)
    expect(response.body.length).toBeGreaterThan(0)
    expect(Buffer.compare(response.body, LARGE.subarray(0, response.body.length))).toBe(0)
  })

  test.each([
    ['small', Buffer.from(SMALL)],
    ['large', LARGE],
  ])('a %s body that stops short is broken, not half a page', async (_size, plain) => {
    const bytes = encode(plain)
    const port = await serve(name, bytes.subarray(0, bytes.length - 12))
    const error = expectError(await testFetcher().get(`http://127.0.0.1:${port}/`))
    expect(error).toMatchObject({ code: 'encoding', retryable: true, status: 200, sent: true })
    expect(error.detail).toMatch(/body is broken/)
  })

  test('a body that is something else is broken', async () => {
    const port = await serve(name, Buffer.from('<!doctype html><p>not compressed at all'))
    expect(expectError(await testFetcher().get(`http://127.0.0.1:${port}/`)).code).toBe('encoding')
  })

  test('a bomb costs no more than the cap and ends the transfer', async () => {
    const { promise: closed, resolve } = signalled()
    const bomb = encode(Buffer.alloc(16 * MEGABYTE))
    const port = await serveHttp((_request, response) => {
      response.once('close', resolve)
      response.writeHead(200, { 'content-encoding': name })
      response.write(bomb)
      // And then nothing: only a fetcher that has had enough ends this.
      if (bomb.length < 150_000) response.end()
    })
    const response = expectResponse(await testFetcher({ maxBodyBytes: MEGABYTE }).get(`http://127.0.0.1:${port}/`))
    expect(response.body).toHaveLength(MEGABYTE)
    expect(response.truncated).toBe(true)
    await closed
  })
})

test('deflate without the wrapping of zlib is understood', async () => {
  const fetcher = testFetcher()
  for (const plain of [Buffer.from(SMALL), LARGE]) {
    const port = await serve('deflate', zlib.deflateRawSync(plain))
    const response = expectResponse(await fetcher.get(`http://127.0.0.1:${port}/`))
    expect(Buffer.compare(response.body, plain)).toBe(0)
  }
})

test('a gzip body of several members is read to the end', async () => {
  const port = await serve('gzip', Buffer.concat([zlib.gzipSync('one '), zlib.gzipSync('two')]))
  expect(textOf(await testFetcher().get(`http://127.0.0.1:${port}/`))).toBe('one two')
})

describe.each([
  ['small', Buffer.from(SMALL)],
  ['large', LARGE],
])('a %s gzip body', (_size, plain) => {
  const whole = zlib.gzipSync(plain)
  const fetchOf = async (...parts: readonly (string | Uint8Array)[]) => {
    const port = await serve('gzip', Buffer.concat(parts.map((part) => Buffer.from(part as Uint8Array))))
    return testFetcher().get(`http://127.0.0.1:${port}/`)
  }

  test.each([
    ['a byte', 'x'],
    ['text', '<!-- served by a cache -->'],
    ['zeros', Buffer.alloc(500)],
    ['the beginning of a beginning', Buffer.from([0x1f])],
    ['more than comes at once', Buffer.alloc(200_000, 'x')],
  ])('with %s after its end is read up to there', async (_name, rest) => {
    const response = expectResponse(await fetchOf(whole, rest))
    expect(Buffer.compare(response.body, plain)).toBe(0)
    expect(response.truncated).toBe(false)
  })

  test('with a name, a comment and more in its head is read', async () => {
    const head = Buffer.from([0x1f, 0x8b, 8, 2 + 4 + 8 + 16, 0, 0, 0, 0, 0, 3])
    const fields = Buffer.from('\x03\0abcpage.html\0no comment\0\x12\x34', 'latin1')
    const response = expectResponse(await fetchOf(head, fields, whole.subarray(10), 'rest'))
    expect(Buffer.compare(response.body, plain)).toBe(0)
  })

  test('of several members is read to the end', async () => {
    const response = expectResponse(await fetchOf(whole, zlib.gzipSync('two'), zlib.gzipSync('three')))
    expect(Buffer.compare(response.body, Buffer.concat([plain, Buffer.from('twothree')]))).toBe(0)
  })

  test.each(['x', '<!-- served by a cache -->', Buffer.alloc(500), Buffer.alloc(200_000, 'x')])(
    'of several members with something after the last is read up to there',
    async (rest) => {
      const response = expectResponse(await fetchOf(whole, zlib.gzipSync('two'), zlib.gzipSync('three'), rest))
      expect(Buffer.compare(response.body, Buffer.concat([plain, Buffer.from('twothree')]))).toBe(0)
      expect(response.truncated).toBe(false)
    },
  )

  test('of very many members is read to the end', async () => {
    const empty = zlib.gzipSync('')
    const response = expectResponse(await fetchOf(whole, Buffer.alloc(empty.length * 3_000, empty), zlib.gzipSync('.')))
    expect(Buffer.compare(response.body, Buffer.concat([plain, Buffer.from('.')]))).toBe(0)
  })

  test.each([
    ['whose checksum is wrong', whole.length - 8],
    ['whose size is wrong', whole.length - 4],
    ['whose data is wrong', Math.floor(whole.length / 2)],
  ])('%s is broken, whatever follows', async (_name, at) => {
    const bytes = Buffer.from(whole)
    bytes[at] = (bytes[at] ?? 0) ^ 255
    for (const rest of ['', 'rest']) {
      expect(expectError(await fetchOf(bytes, rest))).toMatchObject({ code: 'encoding', retryable: true })
    }
  })

  test('that stops short in a second member is broken', async () => {
    const second = zlib.gzipSync('two')
    expect(expectError(await fetchOf(whole, second.subarray(0, second.length - 3)))).toMatchObject({ code: 'encoding' })
  })
})

describe.each([
  ['small', Buffer.from(SMALL)],
  ['large', LARGE],
])('a %s zstd body', (_size, plain) => {
  const whole = zlib.zstdCompressSync(plain)
  const two = zlib.zstdCompressSync('two')
  const skipped = (bytes: number): Buffer => {
    const head = Buffer.from([0x5f, 0x2a, 0x4d, 0x18, 0, 0, 0, 0])
    head.writeUInt32LE(bytes, 4)
    return Buffer.concat([head, Buffer.alloc(bytes, 7)])
  }
  const fetchOf = async (...parts: readonly Uint8Array[]) =>
    testFetcher().get(`http://127.0.0.1:${await serve('zstd', Buffer.concat(parts))}/`)

  test.each([
    ['is read to the end', [whole, two, two], 'twotwo'],
    ['is read past frames that are to be skipped', [skipped(3), skipped(0), whole, skipped(70_000), two], 'two'],
    ['is read to the end where the last frames are to be skipped', [whole, skipped(3)], ''],
    ['is read up to what is no frame', [whole, two, Buffer.from('<!-- cached -->')], 'two'],
    ['is read up to what is too short for a frame', [whole, two, Buffer.from([0x28])], 'two'],
    ['is read in very many frames', [whole, ...Array.from({ length: 200 }, () => two)], 'two'.repeat(200)],
  ])('of several frames %s', async (_name, parts, rest) => {
    const response = expectResponse(await fetchOf(...parts))
    expect(Buffer.compare(response.body, Buffer.concat([plain, Buffer.from(rest)]))).toBe(0)
    expect(response.truncated).toBe(false)
  })

  test.each([
    ['that stops short in a second frame', [whole, two.subarray(0, two.length - 2)]],
    ['that stops short in what is to be skipped', [whole, skipped(100).subarray(0, 50)]],
    ['of frames without number', [whole, ...Array.from({ length: 300 }, () => two)]],
  ])('%s is broken', async (_name, parts) => {
    expect(expectError(await fetchOf(...parts))).toMatchObject({ code: 'encoding', retryable: true })
  })
})

describe('windows', () => {
  const brotli = (bytes: Uint8Array, log: number): Uint8Array =>
    zlib.brotliCompressSync(bytes, {
      params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1, [zlib.constants.BROTLI_PARAM_LGWIN]: log },
    })
  const zstd = (bytes: Uint8Array, log: number): Uint8Array =>
    zlib.zstdCompressSync(bytes, {
      params: { [zlib.constants.ZSTD_c_windowLog]: log, [zlib.constants.ZSTD_c_contentSizeFlag]: 0 },
    })
  /** RFC 8878 §3.1.1: a frame with this window and an `x`. */
  const frame = (log: number): Buffer => Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, (log - 10) << 3, 9, 0, 0, 0x78])
  const stacked = (
    names: readonly string[],
    log: number,
    plain: Uint8Array,
  ): { readonly field: string; readonly bytes: Uint8Array } => ({
    field: names.join(', '),
    bytes: names.reduce((bytes, name) => (name === 'br' ? brotli : zstd)(bytes, log), plain),
  })
  const error = { code: 'encoding', retryable: false, detail: expect.stringMatching(/takes too much memory/) as string }
  const three = ['br', 'zstd', 'br']

  test.each([
    ['one brotli of 16 MiB', ['br'], 24],
    ['one zstd of 8 MiB', ['zstd'], 23],
    ['two of 8 MiB', ['br', 'zstd'], 23],
    ['three of 4 MiB', three, 22],
    ['five of 2 MiB', [...three, 'zstd', 'br'], 21],
  ] as const)('%s are granted', async (_name, names, log) => {
    for (const plain of [Buffer.from(SMALL), LARGE]) {
      const { field, bytes } = stacked(names, log, plain)
      const response = expectResponse(await testFetcher().get(`http://127.0.0.1:${await serve(field, bytes)}/`))
      expect(Buffer.compare(response.body, plain)).toBe(0)
    }
  })

  test.each([
    ['two of 16 MiB', ['br', 'br'], 24],
    ['three of 8 MiB', three, 23],
    ['five of 4 MiB', [...three, 'zstd', 'br'], 22],
  ] as const)('%s are refused', async (_name, names, log) => {
    for (const plain of [Buffer.from(SMALL), LARGE]) {
      const { field, bytes } = stacked(names, log, plain)
      const outcome = await testFetcher().get(`http://127.0.0.1:${await serve(field, bytes)}/`)
      expect(expectError(outcome)).toMatchObject(error)
    }
  })

  test('each frame of zstd is looked at', async () => {
    for (const plain of [Buffer.from(SMALL), LARGE]) {
      const bytes = Buffer.concat([zstd(plain, 20), frame(24)])
      expect(expectError(await testFetcher().get(`http://127.0.0.1:${await serve('zstd', bytes)}/`))).toMatchObject(
        error,
      )
    }
  })

  test('every window that brotli can say is understood', async () => {
    for (let log = 10; log <= 24; log++) {
      for (const [field, bytes] of [
        ['br', brotli(Buffer.from('x'), log)],
        ['zstd, br, br', brotli(brotli(zstd(Buffer.from('x'), 10), log), log)],
      ] as const) {
        const outcome = await testFetcher().get(`http://127.0.0.1:${await serve(field, bytes)}/`)
        if (log > 22 && field !== 'br') expect(expectError(outcome)).toMatchObject(error)
        else expect(textOf(outcome)).toBe('x')
      }
    }
  })
})

test('codings on top of each other are undone in turn, whatever the spelling', async () => {
  const fetcher = testFetcher()
  for (const plain of [Buffer.from(SMALL), LARGE]) {
    const bytes = zlib.zstdCompressSync(zlib.gzipSync(zlib.deflateSync(plain)))
    for (const field of ['deflate,gzip,zstd', 'deflate, X-Gzip , identity,, ZSTD']) {
      const port = await serve(field, bytes)
      const response = expectResponse(await fetcher.get(`http://127.0.0.1:${port}/`))
      expect(Buffer.compare(response.body, plain)).toBe(0)
    }
  }
})

test.each(['http/1.1', 'h2'])(
  'a body that comes faster than it is decoded is held up, and whole: %s',
  async (protocol) => {
    const plain = Buffer.concat(Array.from({ length: 20 }, () => LARGE))
    const bytes = zlib.gzipSync(zlib.gzipSync(zlib.gzipSync(plain, { level: 1 }), { level: 1 }), { level: 1 })
    const headers = { 'content-encoding': 'gzip, gzip, gzip' }
    const fetcher = testFetcher({ maxBodyBytes: 16 * MEGABYTE, maxWireBytes: 16 * MEGABYTE })
    const url =
      protocol === 'h2'
        ? `https://127.0.0.1:${await serveHttp2((stream) => {
            stream.respond({ ':status': 200, ...headers })
            stream.end(bytes)
          })}/`
        : `http://127.0.0.1:${await serveHttp((_request, response) => response.writeHead(200, headers).end(bytes))}/`
    const response = expectResponse(await fetcher.get(url))
    expect(response.protocol).toBe(protocol)
    expect(Buffer.compare(response.body, plain)).toBe(0)
  },
)

test('a bomb inside a bomb is bounded at every stage', async () => {
  // The outer coding expands to empty gzip members without end, which the inner one turns into nothing.
  const nothing = zlib.gzipSync(new Uint8Array(0))
  const inner = Buffer.alloc(nothing.length * 200_000)
  for (let at = 0; at < inner.length; at += nothing.length) inner.set(nothing, at)
  const port = await serve('gzip, zstd', zlib.zstdCompressSync(inner))
  const fetcher = testFetcher({ maxBodyBytes: MEGABYTE / 2, maxWireBytes: MEGABYTE / 2 })
  expect(expectError(await fetcher.get(`http://127.0.0.1:${port}/`))).toMatchObject({
    code: 'too-large',
    retryable: false,
  })
})

test.each([
  ['compress', /"compress" is not known/],
  ['gzip, nonsense', /"nonsense" is not known/],
  ['constructor', /"constructor" is not known/],
  ['gzip, gzip, gzip, gzip, gzip, gzip', /more than 5 content codings/],
])('the coding %j is an error', async (field, words) => {
  const port = await serve(field, zlib.gzipSync('x'))
  const error = expectError(await testFetcher().get(`http://127.0.0.1:${port}/`))
  expect(error).toMatchObject({ code: 'encoding', retryable: false, status: 200 })
  expect(error.detail).toMatch(words)
})

test('a coded body can be aborted while it is decoded', async () => {
  const { promise: written, resolve } = signalled()
  const bytes = zlib.gzipSync(LARGE)
  const port = await serveHttp((_request, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' })
    response.write(bytes.subarray(0, 300_000), () => resolve())
  })
  const controller = new AbortController()
  const outcome = testFetcher().get(`http://127.0.0.1:${port}/`, {}, controller.signal)
  await written
  controller.abort()
  expect(await outcome).toEqual({ kind: 'aborted' })
})
