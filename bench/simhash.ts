/**
 * What near-duplicates cost: fingerprints of texts, look-ups among many of them beside a scan of all in the same run, and
 * the file that keeps them. All in CPU time.
 *
 *   npx node bench/simhash.ts [fingerprints]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createRng } from '../src/base/index.ts'
import { createNearHashes, textFingerprint } from '../src/content/index.ts'
import { openFingerprints } from '../src/sink/index.ts'
import { figure, megabytes, printTable } from './support/table.ts'

const DISTANCE = 3
const TEXTS = 2_000
const WORDS = 900
const VOCABULARY = 20_000
const ROUNDS = 10
const LOOK_UPS = 200_000
const SCANS = 50
/** Copies of one page on a site: so many fingerprints within eight bits of one another. */
const CLUSTER = 50
const HASH = `sha256:${'0'.repeat(64)}`

const [count = 1_000_000] = process.argv.slice(2).map(Number)
const copies = Math.min(LOOK_UPS, count)
const rng = createRng(1)
const word = (): number => rng.int(2 ** 32) | 0

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** Bytes in arrays that are in use; what was in others is given back a little later than it is found. */
async function arrayBytes(): Promise<number> {
  collectGarbage()
  await sleep(500)
  return process.memoryUsage().arrayBuffers
}

/** Of CPU time, since other programs may use the machine. */
function seconds(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1e6
}

/** Words as frequent as in a language: the tenth is a tenth as frequent as the first. */
function makeTexts(): string[] {
  const vocabulary = Array.from({ length: VOCABULARY }, () => rng.int(36 ** (2 + rng.int(5))).toString(36))
  const draw = (): string => vocabulary[Math.floor(VOCABULARY ** rng.next()) - 1] as string
  return Array.from({ length: TEXTS }, () => Array.from({ length: WORDS }, draw).join(' '))
}

function benchTexts(): void {
  const texts = makeTexts()
  const bytes = texts.reduce((sum, text) => sum + text.length, 0)
  const read = (): void => texts.forEach((text) => textFingerprint(text))
  const best = Math.min(...Array.from({ length: ROUNDS }, () => seconds(read)))
  printTable(
    ['texts', 'bytes each', 'texts/s', 'MB/s'],
    [[figure(TEXTS), figure(bytes / TEXTS), figure(TEXTS / best), figure(bytes / best / 1e6)]],
  )
}

interface Hashes {
  readonly lows: Int32Array
  readonly highs: Int32Array
}

function randomHashes(length: number): Hashes {
  return { lows: Int32Array.from({ length }, word), highs: Int32Array.from({ length }, word) }
}

/** In groups of copies, each up to four bits from its centre. */
function clusteredHashes(length: number, centres: Hashes): Hashes {
  const lows = new Int32Array(length)
  const highs = new Int32Array(length)
  for (let at = 0; at < length; at++) {
    const centre = rng.int(centres.lows.length)
    let low = centres.lows[centre] as number
    let high = centres.highs[centre] as number
    for (let flips = rng.int(5); flips > 0; flips--) {
      const bit = rng.int(64)
      if (bit < 32) low ^= 1 << bit
      else high ^= 1 << (bit - 32)
    }
    lows[at] = low
    highs[at] = high
  }
  return { lows, highs }
}

function bitsOf(value: number): number {
  let bits = value - ((value >>> 1) & 0x5555_5555)
  bits = (bits & 0x3333_3333) + ((bits >>> 2) & 0x3333_3333)
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24
}

function scan({ lows, highs }: Hashes, low: number, high: number): number {
  let found = 0
  for (let at = 0; at < lows.length; at++) {
    if (bitsOf((lows[at] as number) ^ low) + bitsOf((highs[at] as number) ^ high) <= DISTANCE) found++
  }
  return found
}

function benchLookUps(name: string, known: Hashes, asked: Hashes): string[] {
  const hashes = createNearHashes({ distance: DISTANCE, capacity: count })
  const adding = seconds(() => {
    for (let at = 0; at < count; at++) hashes.add(known.lows[at] as number, known.highs[at] as number)
  })
  const founds: number[] = []
  const looking = seconds(() => {
    for (let at = 0; at < LOOK_UPS; at++) {
      let found = 0
      hashes.find(asked.lows[at] as number, asked.highs[at] as number, () => found++)
      founds.push(found)
    }
  })
  const scanning = seconds(() => {
    for (let at = 0; at < SCANS; at++) {
      const found = scan(known, asked.lows[at] as number, asked.highs[at] as number)
      if (found !== founds[at]) throw new Error(`a scan finds ${found}, a look-up ${founds[at]}`)
    }
  })
  return [
    name,
    figure(count / adding),
    figure(LOOK_UPS / looking),
    figure(SCANS / scanning),
    `${figure(LOOK_UPS / looking / (SCANS / scanning))} ×`,
    figure(founds.reduce((sum, found) => sum + found, 0) / LOOK_UPS),
  ]
}

function benchHashes(): void {
  const centres = randomHashes(Math.ceil(count / CLUSTER))
  printTable(
    ['fingerprints', 'added/s', 'look-ups/s', 'scans/s', 'ratio', 'found'],
    [
      benchLookUps(`${figure(count)} at random`, randomHashes(count), randomHashes(LOOK_UPS)),
      benchLookUps(
        `${figure(count)} in groups of ${CLUSTER}`,
        clusteredHashes(count, centres),
        clusteredHashes(LOOK_UPS, centres),
      ),
    ],
  )
}

/** Judges pages, then copies of the latest of them; returns what the file and the memory hold, and the seconds for both. */
async function judgePages(path: string): Promise<{ length: number; memory: number; judging: number; copying: number }> {
  const before = await arrayBytes()
  const fingerprints = openFingerprints(path, 0, { maxEntries: count })
  const nears = Array.from({ length: count }, () => (BigInt(rng.int(2 ** 32)) << 32n) | BigInt(rng.int(2 ** 32)))
  const judge = (at: number, near: bigint, site: string): void => {
    const url = `https://${site}.example.com/archive/2026/${at}/an-article-about-something`
    fingerprints.judge({ url, near, contentHash: HASH })
  }
  const judging = seconds(() => nears.forEach((near, at) => judge(at, near, 'www')))
  const copying = seconds(() => nears.slice(-copies).forEach((near, at) => judge(at, near ^ 5n, 'mirror')))
  fingerprints.write()
  fingerprints.sync()
  const memory = (await arrayBytes()) - before
  fingerprints.close()
  return { length: fingerprints.length, memory, judging, copying }
}

async function benchFile(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-simhash-'))
  try {
    const path = join(folder, 'fingerprints')
    const { length, memory, judging, copying } = await judgePages(path)
    const opening = seconds(() => openFingerprints(path, length, { maxEntries: count }).close())
    printTable(
      ['pages', 'judged/s', 'copies judged/s', 'bytes each', 'opened in ms', 'MB/s', 'in memory'],
      [
        [
          figure(count),
          figure(count / judging),
          figure(copies / copying),
          figure(length / (count + copies)),
          figure(1_000 * opening),
          figure(length / opening / 1e6),
          megabytes(memory),
        ],
      ],
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
}

benchTexts()
benchHashes()
await benchFile()
