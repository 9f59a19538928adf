import fc from 'fast-check'
import { mkdtempSync, rmSync, statSync, truncateSync, appendFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createRng, createSystemDisk, type Disk } from '../base/index.ts'
import { contentHash, hammingDistance } from '../content/index.ts'
import { openFingerprints, type Fingerprints, type Repetition } from './index.ts'

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fingerprints-'))
  path = join(folder, 'fingerprints')
})
afterEach(() => rmSync(folder, { recursive: true }))

const open = (committed = 0, maxEntries = 1_000, disk: Disk = createSystemDisk()): Fingerprints =>
  openFingerprints(path, committed, { maxEntries, disk })
const rng = createRng(5)
const randomHash = (): bigint => (BigInt(rng.int(2 ** 32)) << 32n) | BigInt(rng.int(2 ** 32))
const flip = (hash: bigint, ...bits: number[]): bigint =>
  bits.reduce((flipped, bit) => flipped ^ (1n << BigInt(bit)), hash)
const judge = (fingerprints: Fingerprints, url: string, near: bigint, content = url): Repetition | undefined =>
  fingerprints.judge({ url: `https://example.com/${url}`, near, contentHash: contentHash(content) })
const copyOf = (url: string, distance = 0, isSame = false): Repetition => ({
  url: `https://example.com/${url}`,
  distance,
  isSame,
})

/** Written and on the disk; returns what would be committed. */
function settle(fingerprints: Fingerprints): number {
  fingerprints.write()
  fingerprints.sync()
  return fingerprints.length
}

describe.each(['with a file', 'without a file'])('fingerprints %s', (where) => {
  const start = (maxEntries = 1_000): Fingerprints =>
    where === 'with a file' ? open(0, maxEntries) : openFingerprints(undefined, 0, { maxEntries })

  test('a page repeats an earlier one within three bits, and no other', () => {
    const fingerprints = start()
    const text = randomHash()
    expect(judge(fingerprints, 'a', text)).toBeUndefined()
    expect(judge(fingerprints, 'b', flip(text, 0, 17, 63))).toEqual(copyOf('a', 3))
    expect(judge(fingerprints, 'c', flip(text, 1, 20, 40, 60))).toBeUndefined()
    fingerprints.close()
  })

  test('the same content is told from a text that is nearly the same', () => {
    const fingerprints = start()
    const text = randomHash()
    judge(fingerprints, 'a', text, 'words')
    expect(judge(fingerprints, 'b', text, 'words')).toEqual(copyOf('a', 0, true))
    expect(judge(fingerprints, 'c', text, 'Words')).toEqual(copyOf('a', 0, false))
    fingerprints.close()
  })

  test('the copy of a copy repeats the page that the group began with', () => {
    const fingerprints = start()
    const text = randomHash()
    judge(fingerprints, 'a', text)
    judge(fingerprints, 'b', flip(text, 1, 2, 3))
    expect(judge(fingerprints, 'c', flip(text, 1, 2, 3, 4, 5))).toEqual(copyOf('a', 2))
    fingerprints.close()
  })

  test('of several groups it is the nearest, and of equally near ones the earliest', () => {
    const fingerprints = start()
    const text = randomHash()
    judge(fingerprints, 'a', flip(text, 1, 2))
    judge(fingerprints, 'b', flip(text, 11, 12))
    expect(judge(fingerprints, 'between', text)).toEqual(copyOf('a', 2))
    expect(judge(fingerprints, 'nearer', flip(text, 11))).toMatchObject({ distance: 1 })
    fingerprints.close()
  })

  test('a page does not repeat itself, whether it has changed or not', () => {
    const fingerprints = start()
    const text = randomHash()
    judge(fingerprints, 'a', text)
    expect(judge(fingerprints, 'a', text)).toBeUndefined()
    expect(judge(fingerprints, 'a', flip(text, 1))).toBeUndefined()
    fingerprints.close()
  })

  test('an original that takes on the text of its copy remains the original', () => {
    const fingerprints = start()
    const text = randomHash()
    judge(fingerprints, 'a', text)
    expect(judge(fingerprints, 'b', flip(text, 1, 2))).toEqual(copyOf('a', 2))
    expect(judge(fingerprints, 'a', flip(text, 1, 2))).toBeUndefined()
    const other = randomHash()
    judge(fingerprints, 'late', other)
    expect(judge(fingerprints, 'b', other)).toBeUndefined()
    expect(judge(fingerprints, 'later', other)).toMatchObject({ distance: 0 })
    fingerprints.close()
  })

  test('what was judged in the same moment is known', () => {
    const fingerprints = start()
    const text = randomHash()
    expect([judge(fingerprints, 'a', text), judge(fingerprints, 'b', text)]).toEqual([undefined, copyOf('a')])
    fingerprints.close()
  })

  test('pages with one text are one entry, and do not push others out', () => {
    const fingerprints = start(100)
    const rare = randomHash()
    const common = randomHash()
    judge(fingerprints, 'rare', rare)
    judge(fingerprints, 'common', common)
    for (let at = 0; at < 40; at++) judge(fingerprints, `copy-${at}`, common)
    expect(judge(fingerprints, 'again', rare)).toEqual(copyOf('rare'))
    fingerprints.close()
  })

  test('the oldest are forgotten', () => {
    const fingerprints = start(10)
    const first = randomHash()
    judge(fingerprints, 'first', first)
    for (let at = 0; at < 10; at++) judge(fingerprints, `other-${at}`, randomHash())
    expect(judge(fingerprints, 'late', first)).toBeUndefined()
    fingerprints.close()
  })

  test('with no entries nothing is judged', () => {
    const fingerprints = start(0)
    const text = randomHash()
    expect([judge(fingerprints, 'a', text), judge(fingerprints, 'b', text)]).toEqual([undefined, undefined])
    expect(settle(fingerprints)).toBe(0)
    fingerprints.close()
  })

  test('no two pages are ever each other’s copies, however they change', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 5 }), fc.subarray([0, 1, 2, 3, 4, 5])), { maxLength: 60 }),
        (visits) => {
          const fingerprints = start()
          const firsts = new Map<string, number>()
          for (const [page, bits] of visits) {
            const url = `https://example.com/${page}`
            if (!firsts.has(url)) firsts.set(url, firsts.size)
            const match = judge(fingerprints, `${page}`, flip(0n, ...bits))
            // Copies always point to pages that came first before they did, so there is no circle.
            if (match !== undefined) expect(firsts.get(match.url)).toBeLessThan(firsts.get(url) as number)
          }
          fingerprints.close()
        },
      ),
    )
  })

  test('it answers as a scan of everything does', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 2 }), fc.subarray([0, 1, 9, 20, 33, 50, 63])), { maxLength: 40 }),
        (pages) => {
          const bases = [0n, 0x0123_4567_89ab_cdefn, 0xfedc_ba98_7654_3210n]
          const fingerprints = start()
          const known: { near: bigint; original: number }[] = []
          for (const [base, bits] of pages) {
            const near = flip(bases[base] as bigint, ...bits)
            const matches = known
              .map((entry) => ({ ...entry, distance: hammingDistance(entry.near, near) }))
              .filter(({ distance }) => distance <= 3)
              .sort((a, b) => a.distance - b.distance || a.original - b.original)
            const [expected] = matches
            const match = judge(fingerprints, `${known.length}`, near)
            expect(match).toEqual(expected && copyOf(`${expected.original}`, expected.distance))
            known.push({ near, original: expected?.original ?? known.length })
          }
          fingerprints.close()
        },
      ),
    )
  })
})

describe('the file of fingerprints', () => {
  test('what was committed is known to the next process, and what was not is gone', () => {
    const [a, b] = [randomHash(), randomHash()]
    const before = open()
    judge(before, 'a', a)
    judge(before, 'copy', flip(a, 7, 8))
    const committed = settle(before)
    judge(before, 'b', b)
    settle(before)
    before.close()
    expect(statSync(path).size).toBeGreaterThan(committed)
    const after = open(committed)
    expect(after.length).toBe(committed)
    expect(judge(after, 'third', flip(a, 7, 8, 9))).toEqual(copyOf('a', 1))
    expect(judge(after, 'b', b)).toBeUndefined()
    expect(judge(after, 'a', flip(a, 7, 8))).toBeUndefined()
    after.close()
  })

  test('thousands of URLs of any length are found again, written or waiting', () => {
    const pages = Array.from({ length: 6_000 }, (_, at) => ({
      url: `${at}/${'ü'.repeat(rng.int(at % 100 === 0 ? 3_000 : 150))}`,
      near: randomHash(),
    }))
    let fingerprints = open(0, 100_000)
    for (const [at, { url, near }] of pages.entries()) {
      expect(judge(fingerprints, url, near)).toBeUndefined()
      if (at % 2_500 === 2_499) {
        const committed = settle(fingerprints)
        fingerprints.close()
        fingerprints = open(committed, 100_000)
      }
    }
    for (const { url, near } of pages)
      expect(judge(fingerprints, `copy/${url}`, flip(near, 30))).toEqual(copyOf(url, 1))
    fingerprints.close()
  })

  test('of a long file only the end is read', () => {
    const before = open(0, 100_000)
    const texts = Array.from({ length: 20_000 }, randomHash)
    for (const [at, text] of texts.entries()) judge(before, `${at}`, text)
    const committed = settle(before)
    before.close()
    let bytesRead = 0
    const disk = createSystemDisk()
    const counting: Disk = {
      ...disk,
      openGrowing(name) {
        const file = disk.openGrowing(name)
        return {
          ...file,
          read(into, position) {
            bytesRead += into.length
            return file.read(into, position)
          },
        }
      },
    }
    const after = open(committed, 1_000, counting)
    expect(bytesRead).toBeLessThan(committed / 4)
    expect(judge(after, 'copy', texts.at(-500) as bigint)).toEqual(copyOf('19500'))
    expect(judge(after, 'other', texts[10] as bigint)).toBeUndefined()
    after.close()
  })

  test('a page that comes again as it was leaves no trace', () => {
    const fingerprints = open()
    const text = randomHash()
    judge(fingerprints, 'a', text)
    judge(fingerprints, 'b', text)
    const committed = settle(fingerprints)
    judge(fingerprints, 'a', text)
    judge(fingerprints, 'b', text)
    expect(settle(fingerprints)).toBe(committed)
    fingerprints.close()
  })

  test('a URL that no record has room for is judged and not remembered', () => {
    const fingerprints = open()
    const text = randomHash()
    judge(fingerprints, 'a', text)
    const long = 'x'.repeat(70_000)
    expect(judge(fingerprints, long, text)).toEqual(copyOf('a'))
    expect(judge(fingerprints, long, randomHash())).toBeUndefined()
    fingerprints.close()
  })

  test('a file that is too short, or that holds something else, is refused', () => {
    const before = open()
    for (let at = 0; at < 100; at++) judge(before, `${at}`, randomHash())
    const committed = settle(before)
    before.close()
    truncateSync(path, committed - 16)
    expect(() => open(committed)).toThrow('were committed')
    appendFileSync(path, 'x'.repeat(16))
    writeFileSync(path, 'x'.repeat(committed))
    expect(() => open(committed)).toThrow('has no fingerprint')
  })

  test('with no entries the file stays as it is', () => {
    const before = open()
    judge(before, 'a', randomHash())
    const committed = settle(before)
    before.close()
    const idle = open(committed, 0)
    judge(idle, 'b', randomHash())
    expect(settle(idle)).toBe(committed)
    idle.close()
  })
})
