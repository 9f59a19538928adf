import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRng } from '../../base/index.ts'
import { countTokens, createNearDuplicateIndex, hammingDistance, simhash } from '../index.ts'

const rng = createRng(1)
const vocabulary = Array.from({ length: 3000 }, () => rng.int(2 ** 32).toString(36))
const words = (count: number): string[] => Array.from({ length: count }, () => vocabulary[rng.int(3000)] as string)
const hash64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })

describe('simhash', () => {
  test('one changed word in a page of two thousand moves it by at most three bits', () => {
    for (let round = 0; round < 20; round++) {
      const text = words(2000)
      const changed = text.with(rng.int(2000), 'changed')
      expect(hammingDistance(simhash(text.join(' ')), simhash(changed.join(' ')))).toBeLessThanOrEqual(3)
    }
  })

  test('different texts are about 32 bits apart, and each bit is as often set as not', () => {
    const hashes = Array.from({ length: 200 }, () => simhash(words(100).join(' ')))
    let total = 0
    for (let at = 1; at < hashes.length; at++) total += hammingDistance(hashes[at - 1] as bigint, hashes[at] as bigint)
    expect(total / 199).toBeGreaterThan(28)
    expect(total / 199).toBeLessThan(36)
    for (let bit = 0n; bit < 64n; bit++) {
      const ones = hashes.filter((hash) => ((hash >> bit) & 1n) === 1n).length
      expect(ones).toBeGreaterThan(50)
      expect(ones).toBeLessThan(150)
    }
  })

  test('case, punctuation and space do not count; words and their order do', () => {
    expect(simhash('The quick, brown fox!')).toBe(simhash('the QUICK\n brown   fox'))
    expect(simhash('one two three')).not.toBe(simhash('three two one'))
  })

  test('scripts without spaces are read by character', () => {
    const text = '自然言語処理は計算機科学の一分野であり人間の言語を扱う'.repeat(1)
    expect(simhash(text)).not.toBe(simhash(text.slice(1)))
    expect(hammingDistance(simhash(text), simhash(text.slice(1)))).toBeLessThan(16)
  })

  test('forms of one character are one, whether they fold alone or with their neighbours', () => {
    expect(simhash('Ａ caf\u00e9：open… now')).toBe(simhash('a cafe\u0301:OPEN... NOW'))
    expect(simhash('a \ufb01le ™ か\u3099')).toBe(simhash('A file TM が'))
    expect(simhash('ΟΔΟΣ ΣΟΦΟΣ.')).toBe(simhash('οδος σοφος'))
    expect(simhash('\u1112\u1161\u11ab 글 😀')).toBe(simhash('한 글 😀'))
    expect(simhash('x = y')).not.toBe(simhash('x e\u0338 y'))
  })

  test('a long text is read to its end', () => {
    const text = words(60_000).join(' ')
    expect(text.length).toBeGreaterThan(300_000)
    expect(simhash(`${text} last`)).toBe(simhash(`  ${text}\nLAST.`))
    expect(countTokens(`${text}\n${text}`)).toBe(2 * countTokens(text) + 1)
  })

  test('no text gives zero, one word does not', () => {
    expect(simhash('')).toBe(0n)
    expect(simhash(' …!')).toBe(0n)
    expect(simhash('word')).not.toBe(0n)
  })

  test('it fits in 64 bits for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(BigInt.asUintN(64, simhash(text))).toBe(simhash(text))
      }),
    )
  })

  test('Hamming distance counts differing bits', () => {
    fc.assert(
      fc.property(hash64, hash64, (a, b) => {
        expect(hammingDistance(a, b)).toBe((a ^ b).toString(2).replaceAll('0', '').length)
      }),
    )
  })
})

describe('the index of near duplicates', () => {
  const flips = fc.array(fc.integer({ min: 0, max: 63 }), { maxLength: 6 })
  test('it finds exactly what a scan of everything finds', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 7 }),
        hash64,
        fc.array(fc.tuple(flips, fc.option(hash64, { nil: undefined })), { maxLength: 150 }),
        (distance, query, entries) => {
          const index = createNearDuplicateIndex({ distance })
          const hashes = entries.map(
            ([bits, other]) => other ?? bits.reduce((hash, bit) => hash ^ (1n << BigInt(bit)), query),
          )
          for (const [at, hash] of hashes.entries()) index.add(hash, `${at}`)
          const expected = hashes
            .map((hash, at) => ({ id: `${at}`, distance: hammingDistance(hash, query) }))
            .filter((match) => match.distance <= distance)
            .sort((a, b) => a.distance - b.distance)
          expect(index.find(query)).toEqual(expected)
          expect(index.size).toBe(hashes.length)
        },
      ),
    )
  })

  test('it forgets the older half when it is full', () => {
    const index = createNearDuplicateIndex({ distance: 3, maxEntries: 100 })
    for (let at = 0; at < 1000; at++) {
      index.add(BigInt(at) << 40n, `${at}`)
      expect(index.size).toBeLessThanOrEqual(100)
    }
    expect(index.find(999n << 40n, 1)).toEqual([{ id: '999', distance: 0 }])
    expect(index.find(3n << 40n).some((match) => match.id === '3')).toBe(false)
  })

  test('a distance it cannot serve is refused', () => {
    expect(() => createNearDuplicateIndex({ distance: 8 })).toThrow(RangeError)
    expect(() => createNearDuplicateIndex({ distance: 1.5 })).toThrow(RangeError)
  })
})

describe('counting tokens', () => {
  test('English prose has about four and a half characters a token', () => {
    const prose =
      'The host is the unit of scheduling. The frontier is a set of queues and one order of hosts by the time they are next due. Workers lease hosts that are due, never addresses that they then wait for, so no host can block another, and an idle crawl costs nothing at all.'
    expect(prose.length / countTokens(prose)).toBeGreaterThan(3.8)
    expect(prose.length / countTokens(prose)).toBeLessThan(5)
  })

  test('Chinese has about one token a character, numbers three digits a token', () => {
    expect(countTokens('网络爬虫是一种自动程序')).toBe(11)
    expect(countTokens('1234567')).toBe(3)
    expect(countTokens('getElementById')).toBe(4)
    expect(countTokens('HTTPServer, v2!!')).toBe(6)
    expect(countTokens('a\n\n    b  ')).toBe(5)
    expect(countTokens('')).toBe(0)
  })

  test('a text is never fewer tokens than its words, nor more than its UTF-16 units', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        expect(countTokens(text)).toBeLessThanOrEqual(text.length)
      }),
    )
  })
})
