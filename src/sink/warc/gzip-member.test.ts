import { gunzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MAX_TEXT_BYTES, theDeflater } from './deflater.ts'
import { compressAside, compressAtOnce, deflatedMember, framedMember, storedMember } from './gzip-member.ts'

const PRINTABLE = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index))

const NOTHING = new Uint8Array()

/** What stands in the deflater's room from `start` on. */
function put(bytes: Uint8Array, start: number): { start: number; end: number } {
  theDeflater().room.set(bytes, start)
  return { start, end: start + bytes.length }
}

describe('a framed member of gzip', () => {
  const framed = (text: Uint8Array, rest: Uint8Array = NOTHING): Uint8Array => {
    const { start, end } = put(Buffer.concat([text, rest]), 100)
    return framedMember(start, start + text.length, end)
  }

  test('is read back as what it was made of, whatever that is', () => {
    const bytes = fc.uint8Array({ maxLength: 400 })
    const text = fc.string({ unit: fc.constantFrom(...PRINTABLE, '\r\n', '\t'), maxLength: 2_000 })
    const first = fc.oneof(
      bytes,
      text.map((each) => Buffer.from(each)),
    )
    fc.assert(
      fc.property(first, bytes, (head, rest) => {
        expect(gunzipSync(framed(head, rest)).equals(Buffer.concat([head, rest]))).toBe(true)
      }),
    )
  })

  test('has a code for every printable character, tab and line ends', () => {
    const text = `${PRINTABLE.join('')}\t\r\n`.repeat(20)
    const member = framed(Buffer.from(text))
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
    expect(framed(record).length / record.length).toBeLessThan(0.86)
  })

  test('holds what is longer than one block can be, with a few bytes for each of its blocks', () => {
    for (const length of [65_535, 65_536, 131_070, 200_000]) {
      const body = Buffer.alloc(length, 'é')
      const member = framed(Buffer.from('head'), body)
      expect(gunzipSync(member).subarray(4).equals(body)).toBe(true)
      expect(member.length - length).toBeLessThan(100)
    }
    const text = Buffer.alloc(100_000, 'ü')
    expect(gunzipSync(framed(text)).equals(text)).toBe(true)
  })

  test('may have more text than one page of it', () => {
    const text = Buffer.alloc(MAX_TEXT_BYTES - 100, '~ {')
    expect(gunzipSync(framed(text)).equals(text)).toBe(true)
  })
})

describe('a stored member of gzip', () => {
  test('is read back, whatever its length, with a few bytes for each of its blocks', () => {
    for (const length of [0, 1, 65_535, 65_536, 1_000_000]) {
      const bytes = Buffer.alloc(length, 'stored')
      expect(gunzipSync(storedMember(bytes)).equals(bytes)).toBe(true)
      expect(storedMember(bytes).length - length).toBeLessThan(110)
    }
  })
})

describe('a deflated member of gzip', () => {
  const deflated = (text: Uint8Array, start = 0): Uint8Array => {
    const { end } = put(text, start)
    return deflatedMember(start, end)
  }
  const isReadBack = (...parts: readonly Uint8Array[]): boolean => {
    const text = Buffer.concat(parts)
    return gunzipSync(deflated(text)).equals(text)
  }

  test('is read back, whatever its length and place, as one that is made by zlib is', async () => {
    for (const length of [0, 1, 3, 4, 5, 258, 259, 30_000, MAX_TEXT_BYTES - 5, MAX_TEXT_BYTES]) {
      const text = Buffer.alloc(length, `body ${length} `)
      expect(isReadBack(text)).toBe(true)
      expect(gunzipSync(deflated(text, MAX_TEXT_BYTES - length)).equals(text)).toBe(true)
      expect(gunzipSync(compressAtOnce(text)).equals(text)).toBe(true)
      expect(gunzipSync(await compressAside(text)).equals(text)).toBe(true)
    }
  })

  test('is the same for the same text, whatever was deflated before', () => {
    const text = Buffer.from('some text, some text, some other text')
    const first = deflated(text)
    for (const before of ['\xff', ', some text', 'x'.repeat(70_000)]) {
      deflated(Buffer.from(`some text, some text, some other text${before}`, 'latin1'))
      expect(deflated(text)).toEqual(first)
    }
  })

  test('is read back whatever is repeated in it, how often, and from how far', () => {
    const pieces = fc.array(fc.uint8Array({ minLength: 1, maxLength: 300 }), { minLength: 1, maxLength: 8 })
    const order = fc.array(fc.record({ piece: fc.nat(), times: fc.integer({ min: 1, max: 40 }) }), { maxLength: 40 })
    fc.assert(
      fc.property(pieces, order, (all, chosen) => {
        const parts = chosen.flatMap(({ piece, times }) =>
          Array.from({ length: times }, () => all[piece % all.length] ?? new Uint8Array()),
        )
        expect(isReadBack(Buffer.concat(parts).subarray(0, MAX_TEXT_BYTES))).toBe(true)
      }),
    )
  })

  test('refers to nothing that is farther away than deflate allows', () => {
    for (const distance of [32_767, 32_768, 32_769, 65_535, 65_536, 65_537, 98_304, 131_072]) {
      const mark = Buffer.from('a mark that comes twice and is not found elsewhere')
      const between = Buffer.from(Array.from({ length: distance - mark.length }, (_, index) => (index * index) >>> 7))
      expect(isReadBack(mark, between, mark)).toBe(true)
    }
  })

  test('has codes that are not too long where some bytes are very much rarer than others', () => {
    const counts = [1, 1]
    while (counts.length < 24) counts.push((counts.at(-1) ?? 0) + (counts.at(-2) ?? 0))
    const bytes = counts.flatMap((count, byte) => Array.from({ length: count }, () => byte))
    // In an order without repetitions that would hide how often each comes.
    const mixed = Buffer.from(bytes.map((_, index) => bytes[(index * 40_503) % bytes.length] ?? 0))
    expect(isReadBack(mixed)).toBe(true)
  })

  test('takes as many blocks as it needs', () => {
    const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, index) => Math.imul(index, 0x9e3779b1) >>> 25))
    expect(isReadBack(bytes)).toBe(true)
    expect(deflated(bytes).length).toBeLessThan(bytes.length)
  })

  test('of what cannot be made smaller is hardly longer than that', () => {
    const noise = fc.sample(fc.uint8Array({ minLength: 70_000, maxLength: 70_000, size: 'max' }), {
      numRuns: 1,
      seed: 1,
    })
    const [bytes = new Uint8Array()] = noise
    const head = Buffer.from('HTTP/1.1 200 OK\r\n\r\n')
    expect(isReadBack(head, bytes)).toBe(true)
    expect(deflated(Buffer.concat([head, bytes])).length).toBeLessThan(head.length + bytes.length + 100)
  })

  test('takes a fifth of a page that is mostly links', () => {
    const words = 'archive buffer clock delay engine filter garden harbour index journal kettle lantern'.split(' ')
    const page = Array.from({ length: 400 }, (_, number) => {
      const path = `/docs/${number % 17}/page-${(number * 31) % 997}.html`
      return `<li><a href="${path}">${words[(number * 5) % 12]} ${words[number % 12]}</a></li>\n`
    }).join('')
    expect(deflated(Buffer.from(page)).length).toBeLessThan(page.length / 5)
  })

  test('stays as it is when others are made', () => {
    const first = deflated(Buffer.from('one'))
    for (let count = 0; count < 300; count++) deflated(Buffer.alloc(5_000, `another ${count}`))
    expect(gunzipSync(first).toString()).toBe('one')
  })
})
