import { gunzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compressAside, deflatedMember, framedMember, MAX_AT_ONCE_BYTES } from './gzip-member.ts'

const PRINTABLE = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index))

describe('a framed member of gzip', () => {
  test('is read back as what it was made of, whatever that is', () => {
    const bytes = fc.uint8Array({ maxLength: 400 })
    const text = fc.string({ unit: fc.constantFrom(...PRINTABLE, '\r\n', '\t'), maxLength: 2_000 })
    const first = fc.oneof(
      bytes,
      text.map((each) => Buffer.from(each)),
    )
    fc.assert(
      fc.property(first, fc.array(bytes, { maxLength: 3 }), (head, rest) => {
        const whole = Buffer.concat([head, ...rest])
        expect(gunzipSync(framedMember(head, rest)).equals(whole)).toBe(true)
      }),
    )
  })

  test('has a code for every printable character, tab and line ends', () => {
    const text = `${PRINTABLE.join('')}\t\r\n`.repeat(20)
    const member = framedMember(Buffer.from(text))
    expect(gunzipSync(member).toString()).toBe(text)
    expect(member.length).toBeLessThan(text.length)
  })

  test('takes a good sixth less than the record where that is only a head', () => {
    const record = Buffer.from(
      [
        'WARC/1.1',
        'WARC-Type: metadata',
        'WARC-Record-ID: <urn:uuid:bf553307-d9fa-412b-9592-9339283d8a00>',
        'WARC-Date: 2026-11-16T14:58:33.529Z',
        'WARC-Target-URI: https://docs.example.org/manual/howto/logging.html',
        'WARC-Concurrent-To: <urn:uuid:9c6c23e3-bc71-4eea-864e-69ac3c678a26>',
        'WARC-Block-Digest: sha1:BOMNAVOMDHYASGWAL4UETRKSKRFVSRDE',
        'Content-Type: application/warc-fields',
        'Content-Length: 79',
        '',
        'via: https://docs.example.org/manual/\r\nfoundBy: link\r\ndepth: 1\r\nfetchTimeMs: 9\r\n\r\n\r\n',
      ].join('\r\n'),
    )
    expect(framedMember(record).length / record.length).toBeLessThan(0.86)
  })

  test('holds what is longer than one block can be, with a few bytes for each of its blocks', () => {
    for (const length of [65_535, 65_536, 131_070, 200_000]) {
      const body = Buffer.alloc(length, 'é')
      const member = framedMember(Buffer.from('head'), [body])
      expect(gunzipSync(member).subarray(4).equals(body)).toBe(true)
      expect(member.length - length).toBeLessThan(100)
    }
    const text = Buffer.alloc(100_000, 'ü')
    expect(gunzipSync(framedMember(text)).equals(text)).toBe(true)
  })
})

describe('a deflated member of gzip', () => {
  test('is read back as its parts, whatever their length, and is the same when it is made aside', async () => {
    for (const length of [0, 1, 30_000, MAX_AT_ONCE_BYTES, MAX_AT_ONCE_BYTES + 1]) {
      const parts = [Buffer.from('head'), Buffer.alloc(length, `body ${length} `)]
      const whole = Buffer.concat(parts)
      const member = deflatedMember(parts)
      expect(gunzipSync(member).equals(whole)).toBe(true)
      expect(Buffer.from(await compressAside(whole)).equals(member)).toBe(true)
    }
  })

  test('stays as it is when another is made', () => {
    const first = deflatedMember([Buffer.from('one')])
    deflatedMember([Buffer.from('two')])
    expect(gunzipSync(first).toString()).toBe('one')
  })
})
