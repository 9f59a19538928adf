/**
 * The exact set of known fingerprints, each with its id, for a hundred million of them. The youngest are in memory, in
 * a table; a full table is sealed into a sorted file, a run; runs are merged into larger ones. Each run has a Bloom
 * filter in memory, which spares most look-ups in the file and never decides.
 *
 * It keeps true that what `add` was given is found until the set is closed, and that the files which a manifest names
 * are whole before it is returned and there until a later one was committed. It leaves to its owner to store the
 * manifest, and to add again what only memory had. One owner at a time; all work is done in the owner's calls.
 */
import { bloomShape, bloomWords, type BloomShape, type Fingerprint } from '../../../base/index.ts'
import { readManifest, writeManifest } from './manifest.ts'
import { createMemtable, type Memtable } from './memtable.ts'
import { countOf, createMerge, planMerge, type Merge } from './merging.ts'
import type { RunFiles } from './run-files.ts'
import { createRunWriter, type RunWriter } from './run-writer.ts'
import { createBlock, openRun, type Run } from './run.ts'

/** Entries of the table of the youngest: 6 MB, and twice that while one is sealed. */
const MEMTABLE = 262_144
/** Runs of one level that are enough to merge. */
const FAN_IN = 4
/** A memtable is sealed in about so many steps; a step of a merge has as many entries. */
const STEPS_OF_SEALING = 8
/** Steps that are taken for each memtable of additions, at the least: sealing and five times merging fit in. */
const STEPS_OF_FILLING = 64
/**
 * Entries that a step between additions merges: so many for each addition since the last, at the least so many. With three
 * merges on the way to ten million, and six to a hundred, this is in time, and no call does much for those before it.
 */
const MERGED_FOR_ADDED = 16
const LEAST_MERGED = 1_024
/**
 * How the permitted rate of false positives is shared. The oldest run has most of the entries, so its filter is the one
 * that must be small. The younger ones are seldom more than eight, and their filters can afford to be exact.
 */
const OLDEST_SHARE = 3 / 4
const YOUNGER_SHARE = 1 / 32
/** A filter with fewer bits for each entry says `perhaps` nearly always: the run does without. */
const FEWEST_BITS = 2

export interface SeenSetOptions {
  readonly files: RunFiles
  /** Entries that the memory of the filters is meant for. With more, the largest filters are halved. */
  readonly capacity: number
  /** Of look-ups of unknown fingerprints, how many may be sent to a file, over all runs together. */
  readonly falsePositiveRate: number
  /** The one that was stored last; undefined for a new set. Files that it does not name are removed. */
  readonly manifest: string | undefined
  readonly memtable?: number
  readonly fanIn?: number
}

export interface SeenSet {
  /** The id, 0 for none. */
  find(print: Fingerprint): number
  /** Adds one that `find` does not know. Ids are from 1 to 2^32 - 1, and each is larger than those before. */
  add(print: Fingerprint, id: number): void
  /**
   * Every id up to here is in a run that the last manifest returned names. Younger ones are only in memory: the owner
   * adds them again after opening.
   */
  readonly storedUpTo: number
  /**
   * A bounded piece of work: seals a full memtable, merges runs a little. Returns a manifest to be stored when it
   * changed, else undefined. It is best called often; when it is not, `add` does what cannot wait.
   */
  work(): string | undefined
  /** The last manifest returned was committed durably: files that it no longer names are removed. */
  committed(): void
  /** How often a filter said `perhaps` and its run did not have it, since the set was opened. */
  readonly falsePositives: number
  close(): void
}

interface Sealing {
  readonly table: Memtable
  readonly writer: RunWriter
  slot: number
  written: number
}

export function createSeenSet(options: SeenSetOptions): SeenSet {
  const { files, capacity, falsePositiveRate, memtable = MEMTABLE, fanIn = FAN_IN } = options
  const stepEntries = Math.max(1, Math.floor(memtable / STEPS_OF_SEALING))
  const addsForStep = Math.max(1, Math.floor(memtable / STEPS_OF_FILLING))
  const oldestShape = bloomShape(falsePositiveRate * OLDEST_SHARE)
  const youngerShape = bloomShape(falsePositiveRate * YOUNGER_SHARE)
  /** Words of all filters together: enough even if all entries were in young runs. */
  const mostWords = bloomWords(capacity, youngerShape)

  const manifest = readManifest(options.manifest, files.place)
  const block = createBlock()
  /** Oldest first. */
  const runs: Run[] = openRuns()
  // Only when all that is named is there and whole: what else there is may be wanted for a rescue.
  const named = new Set(runs.map(({ name }) => name))
  for (const name of files.list()) if (!named.has(name)) files.remove(name)
  let lastName = Math.max(0, ...runs.map(({ name }) => Number.parseInt(name, 10)))

  let young = createMemtable(memtable)
  let spare: Memtable | undefined
  let sealing: Sealing | undefined
  /** Largest first, and the youngest first of the same size. */
  const merges: Merge[] = []
  let addsSinceStep = 0
  let falsePositives = 0

  let sealedUpTo = manifest.storedUpTo
  let storedUpTo = manifest.storedUpTo
  let changed = false
  /** Files of runs that were merged since the last manifest was returned, and those that it does not name any more. */
  let merged: string[] = []
  let unnamed: string[] = []
  fitFilters()

  function openRuns(): Run[] {
    const opened: Run[] = []
    try {
      for (const record of manifest.runs) opened.push(openRun(files, record, block))
      return opened
    } catch (error) {
      for (const run of opened) run.close()
      throw error
    }
  }

  const createWriter = (entries: number, level: number, shape: BloomShape): RunWriter => {
    lastName += 1
    const words = bloomWords(entries, shape, mostWords)
    const filterWords = words * 32 < entries * FEWEST_BITS ? 0 : words
    return createRunWriter(files, { name: `${lastName}.run`, level, entries, filterWords, probes: shape.probes }, block)
  }

  /** Halves the largest filters until all fit into memory. */
  function fitFilters(): void {
    const wordsOf = (run: Run): number => run.filter?.words.length ?? 0
    let words = runs.reduce((sum, run) => sum + wordsOf(run), 0)
    while (words > mostWords) {
      const largest = runs.reduce((largest, run) => (wordsOf(run) > wordsOf(largest) ? run : largest))
      const before = wordsOf(largest)
      const isUseful = before * 16 >= largest.entries * FEWEST_BITS
      largest.filter = isUseful ? largest.filter?.halved() : undefined
      words -= before - wordsOf(largest)
    }
  }

  const beginSealing = (): void => {
    sealing = {
      table: young,
      writer: createWriter(young.count, 0, youngerShape),
      slot: 0,
      written: 0,
    }
    young = spare ?? createMemtable(memtable)
    spare = undefined
  }

  const seal = (current: Sealing, entries: number): void => {
    const { table, writer } = current
    if (current.written < table.count) {
      current.slot = table.take(current.slot, entries, writer.add)
      current.written = Math.min(current.written + entries, table.count)
      writer.settle()
      return
    }
    const run = writer.finish()
    if (run === undefined) return
    runs.push(run)
    sealedUpTo = table.lastId
    changed = true
    table.clear()
    spare = table
    sealing = undefined
    fitFilters()
  }

  const beginMerge = (): void => {
    const busy = new Set(merges.flatMap((merge) => merge.runs))
    const chosen = planMerge(runs, busy, fanIn)
    if (chosen === undefined) return
    const [first, last] = [chosen[0] as Run, chosen.at(-1) as Run]
    const shape = first === runs[0] ? oldestShape : youngerShape
    const writer = createWriter(countOf(chosen), Math.max(first.level, last.level + 1), shape)
    merges.unshift(createMerge(chosen, writer))
    merges.sort((a, b) => countOf(b.runs) - countOf(a.runs))
  }

  const goOnMerging = (merge: Merge, entries: number): void => {
    const run = merge.step(entries)
    if (run === undefined) return
    merges.splice(merges.indexOf(merge), 1)
    runs.splice(runs.indexOf(merge.runs[0] as Run), merge.runs.length, run)
    for (const old of merge.runs) {
      old.close()
      merged.push(old.name)
    }
    changed = true
    fitFilters()
  }

  /** Small merges go first: they keep the number of runs low, and the large ones can wait for them. */
  const step = (entries: number): void => {
    addsSinceStep = 0
    if (sealing === undefined && young.count === memtable) beginSealing()
    if (sealing !== undefined) return seal(sealing, entries)
    beginMerge()
    const smallest = merges.at(-1)
    if (smallest !== undefined) goOnMerging(smallest, entries)
  }

  return {
    find({ hi, lo }) {
      const id = young.find(hi, lo) || (sealing?.table.find(hi, lo) ?? 0)
      if (id !== 0) return id
      // The oldest first, which has most of them: as a rule its filter is the only one that is asked.
      for (let index = 0; index < runs.length; index++) {
        const run = runs[index] as Run
        const { filter } = run
        if (filter !== undefined && !filter.has(hi, lo)) continue
        const stored = run.find(hi, lo)
        if (stored !== 0) return stored
        if (filter !== undefined) falsePositives += 1
      }
      return 0
    },
    add({ hi, lo }, id) {
      addsSinceStep += 1
      if (addsSinceStep >= addsForStep) step(stepEntries)
      while (!young.add(hi, lo, id)) {
        if (sealing === undefined) beginSealing()
        else seal(sealing, stepEntries)
      }
    },
    get storedUpTo() {
      return storedUpTo
    },
    work() {
      step(Math.min(stepEntries, Math.max(LEAST_MERGED, MERGED_FOR_ADDED * addsSinceStep)))
      if (!changed) return undefined
      changed = false
      storedUpTo = sealedUpTo
      unnamed.push(...merged)
      merged = []
      return writeManifest({ storedUpTo, runs })
    },
    committed() {
      for (const name of unnamed) files.remove(name)
      unnamed = []
    },
    get falsePositives() {
      return falsePositives
    },
    close() {
      sealing?.writer.abandon()
      for (const merge of merges) merge.abandon()
      for (const run of runs) run.close()
    },
  }
}
