/**
 * Does any input crash a parser, or take it more than 50 ms for each 100 kB?
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
import { createRng } from '../src/base/index.ts'
import { mutate } from './fuzz/mutation.ts'
import { PARSERS, type FuzzedParser } from './fuzz/parsers.ts'
import { figure, megabytes, printTable } from './support/table.ts'

const MAX_MS_PER_100_KB = 50
/** Files from a folder, for each parser. */
const MAX_FILES = 300

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
  const heapBefore = heapBytes()
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
      let cost = await costOf(parser, input)
      // The compiler or the collector may have had its turn: what is slow by itself is slow again.
      for (let again = 0; again < 3 && cost > limit / 4; again++) {
        cost = Math.min(cost, await costOf(parser, input))
      }
      slowest = Math.max(slowest, cost)
      if (cost > limit && hangs++ < 10) keep(parser, input, seed, count, `${figure(cost)} ms per 100 kB`)
    } catch (error) {
      if (crashes++ < 10) keep(parser, input, seed, count, String(error instanceof Error ? error.stack : error))
    }
  }
  if (crashes + hangs > 0) process.exitCode = 1
  const heap = [heapBefore, heapBytes()].map(megabytes)
  return [parser.name, figure(count), megabytes(read), figure(slowest), crashes, hangs, ...heap]
}

/** Milliseconds of processor time for each 100 kB; less than that counts as that much. */
async function costOf(parser: FuzzedParser, input: Uint8Array): Promise<number> {
  const before = process.cpuUsage()
  await parser.run(input)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000 / Math.max(1, input.length / 100_000)
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

function heapBytes(): number {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}
