import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRng, type Fingerprint } from '../../../base/index.ts'
import { createMemoryRunFiles, createSeenSet, type RunFiles, type SeenSet, type SeenSetOptions } from './index.ts'

const SMALL = { capacity: 1_000_000, falsePositiveRate: 0.01, manifest: undefined, memtable: 16, fanIn: 3 }

/** So many different fingerprints, spread evenly; the same for the same seed. */
function printsOf(count: number, seed = 1): Fingerprint[] {
  const rng = createRng(seed)
  return Array.from({ length: count }, () => ({ hi: rng.int(2 ** 32), lo: rng.int(2 ** 32) }))
}

/** An owner that works and commits after every few additions; gives the last manifest. */
function addAll(set: SeenSet, prints: readonly Fingerprint[], each = 4): string | undefined {
  let manifest: string | undefined
  for (const [index, print] of prints.entries()) {
    set.add(print, index + 1)
    if (index % each === 0) {
      manifest = set.work() ?? manifest
      set.committed()
    }
  }
  return manifest
}

function expectAll(set: SeenSet, prints: readonly Fingerprint[]): void {
  const found = prints.map((print) => set.find(print))
  expect(found).toEqual(prints.map((_, index) => index + 1))
}

function namesIn(manifest: string | undefined): string[] {
  if (manifest === undefined) return []
  return (JSON.parse(manifest) as { runs: { name: string }[] }).runs.map(({ name }) => name)
}

/** Counts what goes through these files. */
function watched(
  files: RunFiles,
): RunFiles & { readonly bytes: { read: number; written: number }; reads: () => number } {
  const bytes = { read: 0, written: 0 }
  let reads = 0
  return {
    ...files,
    bytes,
    reads: () => reads,
    create(name) {
      const draft = files.create(name)
      return {
        ...draft,
        append(portion) {
          bytes.written += portion.length
          draft.append(portion)
        },
      }
    },
    open(name) {
      const file = files.open(name)
      if (file === undefined) return undefined
      return {
        ...file,
        read(into, offset) {
          reads += 1
          bytes.read += into.length
          file.read(into, offset)
        },
      }
    },
  }
}

/** Files of which a kill leaves only half of what was not finished. */
function breakable(files: RunFiles): RunFiles & { kill: () => void } {
  const unfinished = new Map<string, Uint8Array[]>()
  return {
    ...files,
    create(name) {
      const draft = files.create(name)
      const portions: Uint8Array[] = []
      unfinished.set(name, portions)
      return {
        ...draft,
        append(portion) {
          portions.push(portion.slice())
          draft.append(portion)
        },
        finish() {
          unfinished.delete(name)
          draft.finish()
        },
        abandon() {
          unfinished.delete(name)
          draft.abandon()
        },
      }
    },
    kill() {
      for (const [name, portions] of unfinished) {
        const draft = files.create(name)
        for (const portion of portions.slice(0, portions.length / 2)) draft.append(portion)
      }
      unfinished.clear()
    },
  }
}

describe('the set of known fingerprints', () => {
  test('answers like a map, whatever is added, merged, committed, killed and opened again', () => {
    const half = fc.oneof(fc.integer({ min: 0, max: 0xffffffff }), fc.constantFrom(0, 1, 0x7fffffff, 0xffffffff))
    const print = fc.record({ hi: half, lo: half })
    const step = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({ kind: fc.constant('add' as const), prints: fc.array(print, { maxLength: 60 }) }),
      },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('work' as const), times: fc.nat(60) }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('commit' as const) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('kill' as const, 'close' as const) }) },
    )
    const sizes = fc.record({
      memtable: fc.integer({ min: 1, max: 20 }),
      fanIn: fc.integer({ min: 2, max: 4 }),
      capacity: fc.constantFrom(0, 20, 1_000_000),
    })
    fc.assert(
      fc.property(sizes, fc.array(step, { maxLength: 40, size: 'max' }), fc.array(print), (sizes, steps, others) => {
        const files = breakable(createMemoryRunFiles())
        const key = ({ hi, lo }: Fingerprint): string => `${hi} ${lo}`
        /** What the owner has: its rows, of which those up to `rows` are committed together with `manifest`. */
        let ids = new Map<string, number>()
        let rows: Fingerprint[] = []
        let returned: string | undefined
        let committed: { manifest: string | undefined; rows: number } = { manifest: undefined, rows: 0 }
        const open = (): SeenSet => createSeenSet({ ...SMALL, ...sizes, files, manifest: committed.manifest })
        let set = open()
        const reopen = (): void => {
          set = open()
          returned = committed.manifest
          expect(set.storedUpTo).toBeLessThanOrEqual(committed.rows)
          rows = rows.slice(0, committed.rows)
          ids = new Map(rows.map((print, index) => [key(print), index + 1]))
          for (let id = set.storedUpTo + 1; id <= rows.length; id++) set.add(rows[id - 1] as Fingerprint, id)
        }
        for (const move of steps) {
          if (move.kind === 'add') {
            for (const print of move.prints) {
              expect(set.find(print)).toBe(ids.get(key(print)) ?? 0)
              if (ids.has(key(print))) continue
              rows.push(print)
              ids.set(key(print), rows.length)
              set.add(print, rows.length)
            }
          } else if (move.kind === 'work') {
            for (let time = 0; time < move.times; time++) returned = set.work() ?? returned
          } else if (move.kind === 'commit') {
            committed = { manifest: returned, rows: rows.length }
            set.committed()
          } else {
            if (move.kind === 'kill') files.kill()
            else set.close()
            reopen()
          }
          expect(files.list()).toEqual(expect.arrayContaining(namesIn(committed.manifest)))
        }
        for (const print of [...rows, ...others]) expect(set.find(print)).toBe(ids.get(key(print)) ?? 0)
      }),
      { numRuns: 1_000 },
    )
  })

  test('a large merge that ends after smaller ones of younger runs loses nothing of what stands between', () => {
    const set = createSeenSet({ ...SMALL, files: createMemoryRunFiles(), memtable: 1, fanIn: 2, capacity: 0 })
    const prints = printsOf(18)
    const add = (from: number, to: number): void => {
      for (let id = from; id <= to; id++) set.add(prints[id - 1] as Fingerprint, id)
    }
    const work = (times: number): void => {
      for (let time = 0; time < times; time++) set.work()
    }
    add(1, 2)
    work(11)
    add(3, 18)
    work(62)
    expectAll(set, prints)
  })

  test('finds fingerprints that are not spread evenly', () => {
    const prints = Array.from({ length: 5_000 }, (_, index) => ({ hi: index < 2_500 ? 7 : 0xffffffff, lo: index * 9 }))
    const set = createSeenSet({ ...SMALL, files: createMemoryRunFiles(), memtable: 2_048 })
    addAll(set, prints)
    expectAll(set, prints)
    expect(set.find({ hi: 7, lo: 1 })).toBe(0)
    expect(set.find({ hi: 8, lo: 0 })).toBe(0)
    expect(set.find({ hi: 0xfffffffe, lo: 0 })).toBe(0)
  })

  test('an owner that never calls work loses nothing, and files are merged all the same', () => {
    const files = createMemoryRunFiles()
    const set = createSeenSet({ ...SMALL, files, memtable: 64, fanIn: 4 })
    const prints = printsOf(20_000)
    for (const [index, print] of prints.entries()) set.add(print, index + 1)
    expect(set.storedUpTo).toBe(0)
    const manifest = set.work()
    set.committed()
    expect(set.storedUpTo).toBeGreaterThan(20_000 - 3 * 64)
    expectAll(set, prints)
    expect(files.list().length).toBeLessThan(25)
    const again = createSeenSet({ ...SMALL, files, memtable: 64, manifest })
    expectAll(again, prints.slice(0, again.storedUpTo))
  })

  test('files are few, and an entry is not written again too often', () => {
    const files = watched(createMemoryRunFiles())
    const set = createSeenSet({ ...SMALL, files, memtable: 64, fanIn: 4 })
    const counts: number[] = []
    for (const [index, print] of printsOf(30_000).entries()) {
      set.add(print, index + 1)
      const manifest = set.work()
      if (manifest === undefined) continue
      set.committed()
      counts.push(namesIn(manifest).length)
    }
    // 469 memtables: up to four levels with three runs each, the oldest run, and what is being merged.
    expect(Math.max(...counts)).toBeLessThan(20)
    expect(counts.reduce((sum, count) => sum + count, 0) / counts.length).toBeLessThan(8)
    // An entry takes 14 bytes, and 25 in the smallest runs.
    expect(files.bytes.written / 30_000).toBeLessThan(8 * 14)
  })

  test('no call writes more than a step, however large the runs are', () => {
    const files = watched(createMemoryRunFiles())
    const set = createSeenSet({ ...SMALL, files, memtable: 8_192, fanIn: 2 })
    let most = 0
    for (const [index, print] of printsOf(200_000).entries()) {
      set.add(print, index + 1)
      if (index % 50 !== 0) continue
      const before = files.bytes.written
      set.work()
      set.committed()
      most = Math.max(most, files.bytes.written - before)
    }
    expect(files.bytes.written).toBeGreaterThan(200_000 * 12 * 3)
    expect(most).toBeLessThan(700_000)
  })

  test('opening reads the filters and the index, and no entries', () => {
    const files = watched(createMemoryRunFiles())
    const manifest = addAll(createSeenSet({ ...SMALL, files, memtable: 4_096 }), printsOf(100_000))
    const before = files.bytes.read
    const { storedUpTo } = createSeenSet({ ...SMALL, files, memtable: 4_096, manifest })
    expect(storedUpTo).toBeGreaterThan(90_000)
    expect((files.bytes.read - before) / storedUpTo).toBeLessThan(2)
  })
})

describe('the filters', () => {
  const PRINTS = printsOf(100_000)
  const OTHERS = printsOf(200_000, 2)

  function filled(options: Partial<SeenSetOptions>): { set: SeenSet; files: ReturnType<typeof watched>; runs: number } {
    const files = watched(createMemoryRunFiles())
    const set = createSeenSet({ ...SMALL, files, memtable: 2_048, fanIn: 4, ...options })
    const manifest = addAll(set, PRINTS)
    return { set, files, runs: namesIn(manifest).length }
  }

  test('are wrong no more often than was asked for, over all runs together, and every case is counted', () => {
    const { set, files } = filled({ falsePositiveRate: 0.01 })
    const [before, reads] = [set.falsePositives, files.reads()]
    for (const print of OTHERS) expect(set.find(print)).toBe(0)
    const wrong = set.falsePositives - before
    // An unknown fingerprint is looked for in a file only when a filter was wrong.
    expect(files.reads() - reads).toBe(wrong)
    expect(wrong / OTHERS.length).toBeLessThan(0.01)
    expect(wrong / OTHERS.length).toBeGreaterThan(0.005)
  })

  test('a fingerprint that is found in a file counts as no false positive of it', () => {
    const { set, files } = filled({ falsePositiveRate: 0.01 })
    const [before, reads] = [set.falsePositives, files.reads()]
    expectAll(set, PRINTS)
    const inFiles = PRINTS.length - 2 * 2_048
    expect(files.reads() - reads - (set.falsePositives - before)).toBeGreaterThan(inFiles)
    expect(files.reads() - reads - (set.falsePositives - before)).toBeLessThanOrEqual(PRINTS.length)
  })

  test('shrink when there are more entries than the memory is meant for, and nothing is lost', () => {
    const { set, files, runs } = filled({ capacity: 20_000 })
    const reads = files.reads()
    for (const print of OTHERS) expect(set.find(print)).toBe(0)
    const share = (files.reads() - reads) / OTHERS.length
    expect(share).toBeGreaterThan(0.02)
    expect(share).toBeLessThan(runs / 2)
    expectAll(set, PRINTS)
  })

  test('are done without where there is no memory: then every run is read, and there is nothing to be wrong', () => {
    const { set, files, runs } = filled({ capacity: 0 })
    const reads = files.reads()
    for (const print of OTHERS.slice(0, 1_000)) expect(set.find(print)).toBe(0)
    expect(set.falsePositives).toBe(0)
    expect(files.reads() - reads).toBeGreaterThanOrEqual(1_000 * (runs - 1))
    expectAll(set, PRINTS)
  })
})
