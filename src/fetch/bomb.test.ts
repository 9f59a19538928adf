import * as zlib from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { BOMBS, repeated, type Bomb } from './test-support/bombs.ts'
import { expectResponse, MEGABYTE, serveRaw, signalled, testFetcher } from './test-support/loopback.ts'

const BODY_BYTES = 10 * MEGABYTE
const WIRE_BYTES = 50 * MEGABYTE
const NAMES = Object.keys(BOMBS)

const bombOf = (name: string): Promise<Bomb> => (BOMBS[name] ?? Promise.reject)()

const head = (coding: string): string => `HTTP/1.1 200 OK\r\nContent-Encoding: ${coding}\r\n\r\n`

/** Sends for as long as somebody takes it, and tells how much that was. */
async function serveEndless(
  coding: string,
  { beginning, piece }: Bomb,
): Promise<{ port: number; sent: Promise<number> }> {
  const { promise: sent, resolve } = signalled<number>()
  const many = Buffer.alloc(piece.length * Math.ceil(16_384 / piece.length), piece)
  const port = await serveRaw((socket) => {
    socket.once('close', () => resolve(socket.bytesWritten))
    socket.write(head(coding))
    socket.write(beginning)
    const more = (): void => {
      while (!socket.destroyed && socket.write(many));
    }
    socket.on('drain', more)
    more()
  })
  return { port, sent }
}

describe.each(NAMES)('a bomb in %s', (name) => {
  test('without end is cut by its ratio when a megabyte has come of it, and no more of it is taken', async () => {
    const { port, sent } = await serveEndless(name, await bombOf(name))
    const fetcher = testFetcher({ maxBodyBytes: BODY_BYTES, maxWireBytes: WIRE_BYTES })
    const response = expectResponse(await fetcher.get(`http://127.0.0.1:${port}/`))
    expect(response).toMatchObject({ truncated: true, limits: ['ratio'] })
    expect(response.body).toHaveLength(MEGABYTE)
    // What lies in the buffers of both sides is taken off the host's hands without being read.
    expect(response.wireBytes).toBeLessThan(4 * MEGABYTE)
    await sent
  })

  test('in few bytes is cut by its ratio', async () => {
    const few = repeated(await bombOf(name), 16)
    const port = await serveRaw((socket) => socket.end(Buffer.concat([Buffer.from(head(name)), few])))
    const fetcher = testFetcher({ maxBodyBytes: BODY_BYTES, maxWireBytes: WIRE_BYTES })
    const response = expectResponse(await fetcher.get(`http://127.0.0.1:${port}/`))
    expect(response).toMatchObject({ truncated: true, limits: ['ratio'] })
    expect(response.body).toHaveLength(MEGABYTE)
  })

  test.each(['gzip', 'zstd', 'gzip, zstd', 'gzip, gzip, gzip, gzip'])('inside %s is cut as well', async (outer) => {
    // Ten gigabytes.
    let bytes: Buffer = repeated(await bombOf(name), 10_000)
    for (const coding of outer.split(', ')) {
      bytes = coding === 'gzip' ? zlib.gzipSync(bytes, { level: 1 }) : zlib.zstdCompressSync(bytes)
    }
    const port = await serveRaw((socket) => {
      socket.end(Buffer.concat([Buffer.from(head(`${name}, ${outer}`)), bytes]))
    })
    const fetcher = testFetcher({ maxBodyBytes: BODY_BYTES, maxWireBytes: WIRE_BYTES })
    const outcome = await fetcher.get(`http://127.0.0.1:${port}/`)
    const response = expectResponse(outcome)
    expect(response.truncated).toBe(true)
    expect(response.limits).toEqual(['ratio'])
    expect(response.body.length).toBeLessThanOrEqual(MEGABYTE)
  })
})
