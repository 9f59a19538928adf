import { describe, expect, test } from 'vitest'
import { sha1 } from './digest.ts'
import { indexLine } from './index-line.ts'
import { readKnownPayloads } from './known-payloads.ts'

const payload = (key: number): string => sha1(Buffer.from(String(key)))
const line = (key: number, more: { recordId?: string } = { recordId: `urn:uuid:${key}` }): string =>
  indexLine({
    url: `https://a.test/${key}?","digest":"sha1:${'A'.repeat(32)}","recordId":"é`,
    date: '2026-01-02T03:04:05.678Z',
    mime: 'text/html',
    status: 200,
    digest: payload(key),
    length: 1,
    offset: 2,
    filename: 'x.warc.gz',
    ...more,
  })
const indexOf = (text: string): Parameters<typeof readKnownPayloads>[0] => ({
  length: text.length,
  read: (into, from) => into.set(Buffer.from(text).subarray(from, from + into.length)),
})

describe('payloads known from the index', () => {
  test('are those of originals, whatever a URL pretends', () => {
    const text = line(1) + line(2, {}) + line(3)
    const known = readKnownPayloads(indexOf(text))
    expect([1, 2, 3].map((key) => known.find(payload(key))?.recordId)).toEqual(['urn:uuid:1', undefined, 'urn:uuid:3'])
    expect(known.find(payload(3))).toEqual({
      url: `https://a.test/3?","digest":"sha1:${'A'.repeat(32)}","recordId":"é`,
      date: '2026-01-02T03:04:05.678Z',
      recordId: 'urn:uuid:3',
    })
    expect(known.has('A'.repeat(32))).toBe(false)
  })

  test('are at least those of the last lines when the index is longer than what is read of it', () => {
    const lines = [1, 2, 3, 4].map((key) => line(key))
    const text = lines.join('')
    const bytes = Buffer.byteLength(lines[0]!)
    for (let most = 2 * bytes + 1; most <= 3 * bytes; most++) {
      const known = readKnownPayloads(indexOf(text), most)
      expect([1, 2, 3, 4].map((key) => known.find(payload(key))?.recordId)).toEqual([
        undefined,
        undefined,
        'urn:uuid:3',
        'urn:uuid:4',
      ])
    }
  })
})
