/**
 * Does any input crash a parser, take it more than 50 ms for each 100 kB, leave memory behind, or make it differ from
 * what it is compared with?
 *
 *   npx node bench/fuzz.ts [--seconds 10] [--seed 1] [--only robots,html] [FOLDER …]
 *
 * Inputs are made worse at random, from those of `fuzz/parsers.ts` and from files in the folders whose names fit. Input
 * number n of a seed is the same in every run. One that crashes or is slow three times over is written beside the others
 * into the system's temporary folder. Exit 1 when there was one.
 */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createRng } from '../src/base/index.ts'
import { mutate } from './fuzz/mutation.ts'
import { PARSERS, type FuzzedParser } from './fuzz/parsers.ts'
import { figure, megabytes, printTable } from './support/table.ts'

const MAX_MS_PER_100_KB = 50
/** What the heap may have grown by at the end: caches that are full, and no more. */
const MAX_GROWTH_BYTES = 32 * 1024 * 1024
/** Files from a folder, for each parser. */
const MAX_FILES = 300

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const { values, positionals } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
  },
  allowPositionals: true,
})
const parsers = PARSERS.filter(({ name }) => values.only === undefined || values.only.split(',').includes(name))

const rows = []
for (const parser of parsers) rows.push(await fuzz(parser, Number(values.seconds) * 1_000, Number(values.seed)))
printTable(['parser', 'inputs', 'read', 'slowest, ms per 100 kB', 'crashes', 'too slow', 'heap before', 'after'], rows)

async function fuzz(parser: FuzzedParser, forMs: number, seed: number): Promise<(string | number)[]> {
  const limit = parser.maxMsPer100Kb ?? MAX_MS_PER_100_KB
  const inputs = [
    ...parser.inputs.map((input) => (typeof input === 'string' ? Buffer.from(input) : input)),
    ...filesOf(parser),
  ]
  const heapBefore = await heapBytes()
  const until = performance.now() + forMs
  let count = 0
  let read = 0
  let slowest = 0
  let crashes = 0
  let hangs = 0
  for (; performance.now() < until; count++) {
    const input = mutate(inputs, parser.words, parser.maxBytes, createRng(seed * 1_000_003 + count))
    read += input.length
    try {
      const size = Math.max(input.length, (await parser.bytesIn?.(input)) ?? 0)
      let cost = await costOf(parser, input, size)
      // The compiler or the collector may have had its turn: what is slow by itself is slow again.
      for (let again = 0; again < 3 && cost > limit / 4; again++) {
        cost = Math.min(cost, await costOf(parser, input, size))
      }
      slowest = Math.max(slowest, cost)
      if (cost > limit && hangs++ < 10) keep(parser, input, seed, count, `${figure(cost)} ms per 100 kB`)
    } catch (error) {
      if (crashes++ < 10) keep(parser, input, seed, count, String(error instanceof Error ? error.stack : error))
    }
  }
  const heapAfter = await heapBytes()
  if (crashes + hangs > 0 || heapAfter - heapBefore > MAX_GROWTH_BYTES) process.exitCode = 1
  const heap = [heapBefore, heapAfter].map(megabytes)
  return [parser.name, figure(count), megabytes(read), figure(slowest), crashes, hangs, ...heap]
}

/** Milliseconds of processor time for each 100 kB; less than that counts as that much. */
async function costOf(parser: FuzzedParser, input: Uint8Array, size: number): Promise<number> {
  const before = process.cpuUsage()
  await parser.run(input)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000 / Math.max(1, size / 100_000)
}

function keep({ name }: FuzzedParser, input: Uint8Array, seed: number, count: number, what: string): void {
  const file = join(tmpdir(), `tiptoe-fuzz-${name}-${seed}-${count}`)
  writeFileSync(file, input)
  process.stderr.write(`${name}: input ${count} of seed ${seed}, ${input.length} bytes, ${file}\n  ${what}\n`)
}

function filesOf(parser: FuzzedParser): Buffer[] {
  const paths = positionals.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => parser.files.test(name))
      .map((name) => join(folder, name)),
  )
  const step = Math.max(1, Math.floor(paths.length / MAX_FILES))
  return paths
    .filter((path, at) => at % step === 0 && statSync(path).isFile() && statSync(path).size <= parser.maxBytes)
    .map((path) => readFileSync(path))
}

/** What is in use after a collection, on the heap and beside it. */
async function heapBytes(): Promise<number> {
  for (let round = 0; round < 3; round++) {
    collect()
    // Memory beside the heap is given back in between.
    await new Promise((resolve) => setImmediate(resolve))
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
