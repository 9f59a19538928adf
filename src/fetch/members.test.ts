import * as zlib from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createGunzipStream, gunzipAtOnce } from './gunzip.ts'
import type { MemberStream } from './members.ts'
import { createUnzstdStream, unzstdAtOnce } from './unzstd.ts'

const SIZES = { chunkSize: 1024 }
const ZSTD = { ...SIZES, params: {} }
const MAX = { maxOutputLength: 1_000_000 }

/** What comes out of it, or `broken`. */
function decoded(stream: MemberStream, pieces: readonly Uint8Array[]): Promise<string> {
  return new Promise((resolve) => {
    const parts: Buffer[] = []
    stream.on('data', (part: Buffer) => parts.push(Buffer.from(part)))
    stream.on('end', () => resolve(Buffer.concat(parts).toString('latin1')))
    stream.on('error', () => resolve('broken'))
    for (const piece of pieces) stream.write(Buffer.from(piece))
    stream.end()
  })
}

function atOnce(decode: () => Uint8Array): string {
  try {
    return Buffer.from(decode()).toString('latin1')
  } catch {
    return 'broken'
  }
}

function cut(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [0, ...cuts.map((place) => place % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b)
  return places
    .slice(1)
    .map((end, index) => bytes.subarray(places[index], end))
    .filter((piece) => piece.length > 0)
}

const text = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.nat(5000).map((length) => 'ab'.repeat(length)),
)
const noise = fc.uint8Array({ minLength: 1, maxLength: 9 }).map((bytes) => Buffer.from(bytes))
const skipped = fc.uint8Array({ maxLength: 20 }).map((bytes) => {
  const head = Buffer.from([0x50, 0x2a, 0x4d, 0x18, bytes.length, 0, 0, 0])
  return Buffer.concat([head, bytes])
})

test.each([
  [
    'gzip',
    text.map((plain) => zlib.gzipSync(plain)),
    () => createGunzipStream(SIZES),
    (bytes: Buffer) => gunzipAtOnce(bytes, { ...SIZES, ...MAX }),
  ],
  [
    'zstd',
    fc.oneof(
      text.map((plain) => zlib.zstdCompressSync(plain)),
      skipped,
    ),
    () => createUnzstdStream(ZSTD),
    (bytes: Buffer) => unzstdAtOnce(bytes, { ...ZSTD, ...MAX }),
  ],
] as const)('%s is the same however its bytes come, whole or not', async (name, member, createStream, decode) => {
  const parts = fc.tuple(fc.array(member, { minLength: 1, maxLength: 4 }), fc.option(noise), fc.option(fc.nat()))
  await fc.assert(
    fc.asyncProperty(parts, fc.array(fc.nat(), { maxLength: 6 }), async ([members, rest, end], cuts) => {
      const whole = Buffer.concat([...members, rest ?? Buffer.alloc(0)])
      const bytes = end === null ? whole : whole.subarray(0, 1 + (end % whole.length))
      const expected = atOnce(() => decode(bytes))
      const boundaries = members.map((_, index) => Buffer.concat(members.slice(0, index + 1)).length)
      // Node's decoder of zstd may have taken what is too short to tell from a frame for the beginning of one.
      const beyond = bytes.length - (boundaries.findLast((place) => place <= bytes.length) ?? 0)
      fc.pre(name === 'gzip' || beyond === 0 || beyond > 3)
      for (const pieces of [[bytes], cut(bytes, cuts), cut(bytes, [...cuts, ...boundaries])]) {
        expect(await decoded(createStream(), pieces)).toBe(expected)
      }
    }),
    { numRuns: 300 },
  )
})

test('a frame of zstd that fills the last buffer ends where it ends, whatever follows', async () => {
  const frame = zlib.zstdCompressSync('ab'.repeat(SIZES.chunkSize / 2))
  const bytes = Buffer.concat([frame, Buffer.alloc(4)])
  expect(atOnce(() => unzstdAtOnce(bytes, { ...ZSTD, ...MAX }))).toBe('ab'.repeat(SIZES.chunkSize / 2))
  expect(await decoded(createUnzstdStream(ZSTD), [bytes])).toBe('ab'.repeat(SIZES.chunkSize / 2))
})

test('zeros behind more members than are walked one by one come to an end', async () => {
  const members = Buffer.concat(Array.from({ length: 300 }, () => zlib.gzipSync('ab')))
  const pieces = [members, Buffer.alloc(1_000), Buffer.alloc(2_000), Buffer.alloc(40_000)]
  expect(await decoded(createGunzipStream(SIZES), pieces)).toBe('ab'.repeat(300))
  expect(await decoded(createGunzipStream(SIZES), [Buffer.concat(pieces)])).toBe('ab'.repeat(300))
})
