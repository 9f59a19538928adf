import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRng } from '../../base/index.ts'
import {
  MIN_NEAR_FEATURES,
  countTokens,
  createNearHashes,
  createNearDuplicateIndex,
  hammingDistance,
  highWord,
  lowWord,
  simhash,
  textFingerprint,
} from '../index.ts'

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

  test('what every row of a table repeats does not outvote what the rows say', () => {
    const table = (): string =>
      words(600)
        .map((word) => `${word} in module see also`)
        .join('\n')
    for (let round = 0; round < 10; round++) {
      expect(hammingDistance(simhash(table()), simhash(table()))).toBeGreaterThan(10)
    }
  })

  test('what is repeated without end counts as much as 128 times', () => {
    const text = 'again and '.repeat(500_000)
    expect(textFingerprint(text).features).toBe(textFingerprint('again and again').features)
    expect(simhash(text)).toBe(simhash('again and '.repeat(129)))
  })

  test('it fits in 64 bits for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(BigInt.asUintN(64, simhash(text))).toBe(simhash(text))
      }),
    )
  })

  test('a text that is compared has a fingerprint near to that of an edited copy; a short one only to its equal', () => {
    const text = words(2 * MIN_NEAR_FEATURES)
    const long = textFingerprint(text.join(' '))
    expect(long.features).toBeGreaterThanOrEqual(MIN_NEAR_FEATURES)
    expect(long.near).toBe(long.simhash)
    expect(long.simhash).toBe(simhash(text.join(' ')))
    const stub = text.slice(0, MIN_NEAR_FEATURES / 2)
    const short = textFingerprint(stub.join(' '))
    expect(short.features).toBeLessThan(MIN_NEAR_FEATURES)
    expect(short.simhash).toBe(simhash(stub.join(' ')))
    expect(short.near).toBe(textFingerprint(`  ${stub.join('\n').toUpperCase()}!`).near)
    const edited = textFingerprint(stub.with(30, 'changed').join(' '))
    expect(hammingDistance(short.simhash, edited.simhash)).toBeLessThan(hammingDistance(short.near, edited.near))
    expect(hammingDistance(short.near, edited.near)).toBeGreaterThan(10)
  })

  test('features are the different words, and half of the pairs of neighbours', () => {
    expect(textFingerprint('').features).toBe(0)
    expect(textFingerprint('one').features).toBe(1)
    const text = vocabulary.slice(0, 1000).join(' ')
    const { features } = textFingerprint(text)
    expect(features).toBeGreaterThan(1400)
    expect(features).toBeLessThan(1600)
    expect(Math.abs(textFingerprint(`${text}\n${text}`).features - features)).toBeLessThanOrEqual(1)
  })

  test('words that are changed here and there are overlooked in a long text', () => {
    let found = 0
    for (let round = 0; round < 40; round++) {
      const text = words(1000)
      const edited = [...text]
      for (let edits = 0; edits < 5; edits++) edited[rng.int(1000)] = vocabulary[rng.int(3000)] as string
      if (hammingDistance(simhash(text.join(' ')), simhash(edited.join(' '))) <= 3) found++
    }
    expect(found).toBeGreaterThan(30)
  })

  test('texts in scripts without spaces are as far from one another as others, though they share their letters', () => {
    const syllables = Array.from({ length: 600 }, () =>
      Array.from({ length: 2 + rng.int(4) }, () => String.fromCharCode(0x0e01 + rng.int(46))).join(''),
    )
    const text = (): string[] => Array.from({ length: 400 }, () => syllables[rng.int(600)] as string)
    for (let round = 0; round < 20; round++) {
      const thai = text()
      expect(hammingDistance(simhash(thai.join('')), simhash(text().join('')))).toBeGreaterThan(8)
      expect(hammingDistance(simhash(thai.join('')), simhash(thai.with(200, 'กข').join('')))).toBeLessThanOrEqual(4)
    }
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

  test('of what it remembers it finds exactly what a scan finds, however often it forgot', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 7 }),
        fc.integer({ min: 1, max: 20 }),
        fc.array(fc.subarray([0, 5, 16, 17, 31, 32, 40, 48, 63]), { maxLength: 80 }),
        (distance, capacity, added) => {
          const known = createNearHashes({ distance, capacity, notes: 1 })
          const hashes = added.map((bits) => bits.reduce((hash, bit) => hash ^ (1n << BigInt(bit)), 0n))
          for (const [at, hash] of hashes.entries()) {
            known.setNote(known.add(lowWord(hash), highWord(hash)), 0, at)
            const found: unknown[] = []
            known.find(lowWord(hash), highWord(hash), (slot, apart) =>
              found.push({ at: known.note(slot, 0), apart, age: known.ageOf(slot) }),
            )
            const from = at + 1 - known.size
            const expected = hashes
              .slice(from, at + 1)
              .map((other, index) => ({
                at: from + index,
                apart: hammingDistance(other, hash),
                age: at - from - index,
              }))
              .filter(({ apart }) => apart <= distance)
            expect(found).toHaveLength(expected.length)
            expect(found).toEqual(expect.arrayContaining(expected))
            expect(known.size).toBeGreaterThanOrEqual(Math.min(at + 1, Math.floor(capacity / 2)))
            expect(known.size).toBeLessThanOrEqual(Math.max(2, capacity))
          }
        },
      ),
    )
  })

  test('among a hundred thousand it finds exactly what a scan finds', () => {
    const known = createNearHashes({ distance: 3, capacity: 250_000 })
    const word = (): number => rng.int(2 ** 32) | 0
    // With few values in one half of the bits, blocks are shared by very many.
    const hashes = Array.from({ length: 100_000 }, (_, at) => [word(), at % 2 === 0 ? word() : rng.int(16)] as const)
    for (const [low, high] of hashes) known.add(low, high)
    const bits = (word32: number): number => hammingDistance(BigInt.asUintN(32, BigInt(word32)), 0n)
    for (let round = 0; round < 10; round++) {
      const [low, high] = hashes[rng.int(hashes.length)] as readonly [number, number]
      const asked = low ^ (1 << rng.int(32)) ^ (1 << rng.int(32))
      const found: number[] = []
      known.find(asked, high, (slot) => found.push(slot))
      const expected = hashes.flatMap(([itsLow, itsHigh], at) =>
        bits(itsLow ^ asked) + bits(itsHigh ^ high) <= 3 ? [at] : [],
      )
      expect(found.sort((a, b) => a - b)).toEqual(expected)
    }
  })

  test('when very many share a block, the youngest of them are compared, and no more', () => {
    const known = createNearHashes({ distance: 3, capacity: 100_000 })
    for (let at = 0; at < 20_000; at++) known.add(7, 7)
    const ages: number[] = []
    known.find(7, 7, (slot) => ages.push(known.ageOf(slot)))
    expect(ages).toEqual(Array.from({ length: 4_096 }, (_, age) => age))
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
