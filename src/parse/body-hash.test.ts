import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bodyHash } from './index.ts'

/** As the specification of xxHash says it, word by word and slowly. */
function xxh64(bytes: Uint8Array): string {
  const [P1, P2, P3, P4, P5] = [
    0x9e3779b185ebca87n,
    0xc2b2ae3d27d4eb4fn,
    0x165667b19e3779f9n,
    0x85ebca77c2b2ae63n,
    0x27d4eb2f165667c5n,
  ]
  const u64 = (value: bigint): bigint => BigInt.asUintN(64, value)
  const rotate = (value: bigint, by: bigint): bigint => u64((value << by) | (u64(value) >> (64n - by)))
  const round = (lane: bigint, word: bigint): bigint => u64(rotate(u64(lane + word * P2), 31n) * P1)
  const word = (at: number, size: number): bigint => {
    let value = 0n
    for (let index = size - 1; index >= 0; index--) value = (value << 8n) | BigInt(bytes[at + index] as number)
    return value
  }
  let at = 0
  let hash = P5
  if (bytes.length >= 32) {
    const lanes = [u64(P1 + P2), P2, 0n, u64(-P1)]
    for (; at + 32 <= bytes.length; at += 32) {
      lanes.forEach((lane, index) => (lanes[index] = round(lane, word(at + 8 * index, 8))))
    }
    hash = u64(lanes.reduce((sum, lane, index) => sum + rotate(lane, [1n, 7n, 12n, 18n][index] as bigint), 0n))
    for (const lane of lanes) hash = u64((hash ^ round(0n, lane)) * P1 + P4)
  }
  hash = u64(hash + BigInt(bytes.length))
  for (; at + 8 <= bytes.length; at += 8) hash = u64(rotate(hash ^ round(0n, word(at, 8)), 27n) * P1 + P4)
  if (at + 4 <= bytes.length) {
    hash = u64(rotate(hash ^ u64(word(at, 4) * P1), 23n) * P2 + P3)
    at += 4
  }
  for (; at < bytes.length; at++) hash = u64(rotate(hash ^ u64(word(at, 1) * P5), 11n) * P1)
  hash = u64((hash ^ (hash >> 33n)) * P2)
  hash = u64((hash ^ (hash >> 29n)) * P3)
  return (hash ^ (hash >> 32n)).toString(16).padStart(16, '0')
}

test('a body has the name that other programs give it', () => {
  const names = {
    '': 'ef46db3751d8e999',
    a: 'd24ec4f1a98c6e5b',
    abc: '44bc2cf5ad770999',
    'Nobody inspects the spammish repetition': 'fbcea83c8a378bf1',
  }
  for (const [text, name] of Object.entries(names)) expect(bodyHash(Buffer.from(text))).toBe(`xxh64:${name}`)
})

test('names are those of the specification, whatever the bytes and however many', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(bodyHash(bytes)).toBe(`xxh64:${xxh64(bytes)}`)
    }),
    { numRuns: 1_000 },
  )
})

test('a very large body has a name too', () => {
  const body = Buffer.alloc(5_000_000, 'x')
  expect(bodyHash(body)).toBe(`sha256:${createHash('sha256').update(body).digest('hex')}`)
})
