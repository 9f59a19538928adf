/**
 * What a look-up of a known URL needs, without reading its row: how many pages name it, and its depth. Four bytes for
 * each URL, in blocks of 1,024; blocks in use are in memory, the others in the table `facts`.
 *
 * Both are exact. What was counted in a commit is logged with it, in `named`, and each block says how much of that it
 * has; blocks are written now and then. A depth that was never written is not known here, and whoever changes one has
 * its block written before the log forgets.
 */
import type { DatabaseSync } from 'node:sqlite'

/** URLs of a block. */
const BLOCK = 1_024
/** Blocks in memory: 48 MB. */
const BLOCKS_KEPT = 12_288
/** Blocks with new counts are written after so many counts, a few in each commit. */
const COUNTS_BETWEEN = 2 ** 19
/** Of so many counts, one block is written at the least. */
const COUNTS_FOR_BLOCK = 128
const LARGEST = 65_535

export interface Facts {
  /** A new URL, named for the first time. */
  born(id: number, depth: number): void
  /** Undefined when it is not known here: then its row has it, and `setDepth` is to be told. */
  depth(id: number): number | undefined
  setDepth(id: number, depth: number): void
  /** Counts one more; answers how many there are, up to 65,535. */
  count(id: number): number
  referrers(id: number): number
  /** The block of a URL, and its writing. */
  blockOf(id: number): number
  write(block: number): void
  /** Something was counted that is not logged yet. */
  readonly hasCounts: boolean
  /** Logs what was counted, and writes some of what is due to be written. */
  work(): void
  /** Writes everything. */
  flush(): void
}

/** Words of a block: the count and the depth plus one of each URL, in turn; 0 when it is not known. */
const BLOCK_WORDS = 2 * BLOCK
/** Blocks of one piece of memory: 1 MB. Blocks by themselves would each be three leaps from one place to another. */
const SLAB_BLOCKS = 256
/** Of a block that is not in memory. */
const NOWHERE = -1

export function createFacts(db: DatabaseSync, blocksKept: number = BLOCKS_KEPT): Facts {
  const read = db.prepare('SELECT words, counted FROM facts WHERE block = ?')
  const save = db.prepare('INSERT OR REPLACE INTO facts VALUES (?, ?, ?)')
  const logged = db.prepare('SELECT seq, ids FROM named ORDER BY seq')
  const appendLog = db.prepare('INSERT INTO named VALUES (?, ?)')
  const dropLog = db.prepare('DELETE FROM named WHERE seq <= ?')
  const keep = db.prepare('INSERT OR REPLACE INTO meta VALUES (?, ?)')
  /** Where in memory each block is. */
  let slots = new Int32Array(SLAB_BLOCKS).fill(NOWHERE)
  /**
   * What is in memory: the words; and of each slot its block, up to which entry of the log that has everything, and
   * whether it changed since it was written and was used since it was last looked at.
   */
  const slabs: Uint16Array[] = []
  const numbers: number[] = []
  const countedUpTo: number[] = []
  const isDirty: boolean[] = []
  const isUsed: boolean[] = []
  let hand = 0
  let countsSinceWriting = 0
  let countsSinceWork = 0
  /** Counted, and not logged yet. */
  let pending = new Uint32Array(BLOCK)
  let pendingCount = 0
  let lastSeq = lastLogged()
  /** Blocks that are to be written, the next one last; then nobody needs the log up to there. */
  let due: number[] = []
  let dueSeq = 0

  const logCounts = (): void => {
    if (pendingCount === 0) return
    lastSeq += 1
    appendLog.run(lastSeq, new Uint8Array(pending.buffer, 0, 4 * pendingCount))
    pendingCount = 0
  }
  const forgetLog = (): void => {
    dropLog.run(dueSeq)
    // Blocks say up to which entry they have everything, so numbers go on when there is no entry left.
    keep.run('named', dueSeq)
  }
  const slabOf = (slot: number): Uint16Array => slabs[Math.floor(slot / SLAB_BLOCKS)] as Uint16Array
  const wordsOf = (slot: number): Uint16Array => {
    const from = (slot % SLAB_BLOCKS) * BLOCK_WORDS
    return slabOf(slot).subarray(from, from + BLOCK_WORDS)
  }
  const slotOfBlock = (number: number): number => slots[number] ?? NOWHERE
  const write = (number: number): void => {
    const slot = slotOfBlock(number)
    if (slot === NOWHERE || isDirty[slot] === false) return
    logCounts()
    const words = wordsOf(slot)
    save.run(number, new Uint8Array(words.buffer, words.byteOffset, words.byteLength), lastSeq)
    isDirty[slot] = false
  }

  const load = (number: number): number => {
    const row = read.get(number) as { words: Uint8Array; counted: number } | undefined
    const slot = numbers.length < blocksKept ? numbers.length : leaving()
    if (slot === slabs.length * SLAB_BLOCKS) slabs.push(new Uint16Array(SLAB_BLOCKS * BLOCK_WORDS))
    const words = wordsOf(slot)
    if (row === undefined) words.fill(0)
    else words.set(new Uint16Array(row.words.slice().buffer))
    if (number >= slots.length) {
      const longer = new Int32Array(Math.max(number + 1, 2 * slots.length)).fill(NOWHERE)
      longer.set(slots)
      slots = longer
    }
    slots[number] = slot
    numbers[slot] = number
    countedUpTo[slot] = row?.counted ?? 0
    isDirty[slot] = false
    return slot
  }

  /** The slot of one that was not used since it was last looked at, which leaves. */
  const leaving = (): number => {
    for (;;) {
      hand = (hand + 1) % numbers.length
      if (isUsed[hand] === false) {
        const number = numbers[hand] as number
        write(number)
        slots[number] = NOWHERE
        return hand
      }
      isUsed[hand] = false
    }
  }

  const blockOf = (id: number): number => Math.floor(id / BLOCK)
  const slotOf = (id: number): number => {
    const number = blockOf(id)
    const known = slotOfBlock(number)
    const slot = known === NOWHERE ? load(number) : known
    isUsed[slot] = true
    return slot
  }
  /** Where in its slab the count of a URL is; its depth is behind it. */
  const indexIn = (slot: number, id: number): number => (slot % SLAB_BLOCKS) * BLOCK_WORDS + (id % BLOCK) * 2

  const setDepth = (id: number, depth: number): void => {
    const slot = slotOf(id)
    const slab = slabOf(slot)
    const index = indexIn(slot, id) + 1
    const word = Math.min(depth + 1, LARGEST)
    if (slab[index] === word) return
    slab[index] = word
    isDirty[slot] = true
  }
  const writeSome = (count: number): void => {
    if (due.length === 0) return
    for (let done = 0; done < count && due.length > 0; done++) write(due.pop() as number)
    if (due.length === 0) forgetLog()
  }
  const writeAllSoon = (): void => {
    logCounts()
    dueSeq = lastSeq
    due = numbers.filter((_, slot) => isDirty[slot])
    due.sort((a, b) => b - a)
    if (due.length === 0) forgetLog()
  }
  const countOnce = (id: number): number => {
    const slot = slotOf(id)
    const slab = slabOf(slot)
    const index = indexIn(slot, id)
    const count = Math.min(LARGEST, Math.max(1, slab[index] as number) + 1)
    slab[index] = count
    isDirty[slot] = true
    countsSinceWriting += 1
    return count
  }
  const wordOf = (id: number, of: 0 | 1): number => {
    const slot = slotOf(id)
    return slabOf(slot)[indexIn(slot, id) + of] as number
  }

  countAgain()

  return {
    born(id, depth) {
      setDepth(id, depth)
      const slot = slotOf(id)
      slabOf(slot)[indexIn(slot, id)] = 1
    },
    depth(id) {
      const word = wordOf(id, 1)
      return word === 0 || word === LARGEST ? undefined : word - 1
    },
    setDepth,
    count(id) {
      countsSinceWork += 1
      if (pendingCount === pending.length) {
        const longer = new Uint32Array(2 * pending.length)
        longer.set(pending)
        pending = longer
      }
      pending[pendingCount] = id
      pendingCount += 1
      return countOnce(id)
    },
    referrers: (id) => Math.max(1, wordOf(id, 0)),
    blockOf,
    write,
    get hasCounts() {
      return pendingCount > 0
    },
    work() {
      logCounts()
      if (due.length === 0 && countsSinceWriting >= COUNTS_BETWEEN) {
        countsSinceWriting = 0
        writeAllSoon()
      }
      writeSome(1 + Math.ceil(countsSinceWork / COUNTS_FOR_BLOCK))
      countsSinceWork = 0
    },
    flush() {
      writeAllSoon()
      writeSome(due.length)
    },
  }

  /** What blocks lack of what was logged before a crash. */
  function countAgain(): void {
    const entries = logged.all() as { seq: number; ids: Uint8Array }[]
    const counted = entries.flatMap(({ ids }, entry) =>
      Array.from(new Uint32Array(ids.slice().buffer), (id) => id * entries.length + entry),
    )
    // In order of the ids: a block that leaves memory in the middle of it has all that it lacked.
    for (const each of Float64Array.from(counted).sort()) {
      const id = Math.floor(each / entries.length)
      const { seq } = entries[each % entries.length] as { seq: number }
      if ((countedUpTo[slotOf(id)] as number) < seq) countOnce(id)
    }
  }

  function lastLogged(): number {
    const sql = `SELECT max(coalesce((SELECT max(seq) FROM named), 0),
      coalesce((SELECT value FROM meta WHERE key = 'named'), 0)) AS last`
    return (db.prepare(sql).get() as { last: number }).last
  }
}
