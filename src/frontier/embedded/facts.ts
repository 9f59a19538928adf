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
  /** Logs what was counted, and writes some of what is due to be written. */
  work(): void
  /** Writes everything. */
  flush(): void
}

interface Block {
  readonly number: number
  /** The count and the depth plus one of each URL, in turn; 0 when it is not known. */
  readonly words: Uint16Array
  /** It has what was logged up to here. */
  readonly counted: number
  isDirty: boolean
  isUsed: boolean
}

export function createFacts(db: DatabaseSync, blocksKept: number = BLOCKS_KEPT): Facts {
  const read = db.prepare('SELECT words, counted FROM facts WHERE block = ?')
  const save = db.prepare('INSERT OR REPLACE INTO facts VALUES (?, ?, ?)')
  const logged = db.prepare('SELECT seq, ids FROM named ORDER BY seq')
  const appendLog = db.prepare('INSERT INTO named VALUES (?, ?)')
  const dropLog = db.prepare('DELETE FROM named WHERE seq <= ?')
  const keep = db.prepare('INSERT OR REPLACE INTO meta VALUES (?, ?)')
  /** By their number. */
  const blocks: (Block | undefined)[] = []
  /** Those in memory, in the order in which one is looked for that may leave. */
  const ring: Block[] = []
  let hand = 0
  let last: Block | undefined
  let countsSinceWriting = 0
  let countsSinceWork = 0
  /** Counted, and not logged yet. */
  let pending: number[] = []
  let lastSeq = lastLogged()
  /** Blocks that are to be written, the next one last; then nobody needs the log up to there. */
  let due: number[] = []
  let dueSeq = 0

  const logCounts = (): void => {
    if (pending.length === 0) return
    lastSeq += 1
    appendLog.run(lastSeq, new Uint8Array(new Uint32Array(pending).buffer))
    pending = []
  }
  const forgetLog = (): void => {
    dropLog.run(dueSeq)
    // Blocks say up to which entry they have everything, so numbers go on when there is no entry left.
    keep.run('named', dueSeq)
  }
  const write = (block: Block): void => {
    if (!block.isDirty) return
    logCounts()
    save.run(block.number, new Uint8Array(block.words.buffer), lastSeq)
    block.isDirty = false
  }

  const load = (number: number): Block => {
    const row = read.get(number) as { words: Uint8Array; counted: number } | undefined
    const words = row === undefined ? new Uint16Array(2 * BLOCK) : new Uint16Array(row.words.slice().buffer)
    const block: Block = { number, words, counted: row?.counted ?? 0, isDirty: false, isUsed: true }
    blocks[number] = block
    if (ring.length < blocksKept) ring.push(block)
    else ring[leaving()] = block
    return block
  }

  /** The place of one that was not used since it was last looked at, which leaves. */
  const leaving = (): number => {
    for (;;) {
      hand = (hand + 1) % ring.length
      const block = ring[hand] as Block
      if (!block.isUsed) {
        write(block)
        blocks[block.number] = undefined
        return hand
      }
      block.isUsed = false
    }
  }

  const blockOf = (id: number): number => Math.floor(id / BLOCK)
  const at = (id: number): Block => {
    const number = blockOf(id)
    if (last?.number === number) return last
    const block = blocks[number] ?? load(number)
    block.isUsed = true
    last = block
    return block
  }
  const indexOf = (id: number): number => (id % BLOCK) * 2

  const setDepth = (id: number, depth: number): void => {
    const block = at(id)
    const word = Math.min(depth + 1, LARGEST)
    if (block.words[indexOf(id) + 1] === word) return
    block.words[indexOf(id) + 1] = word
    block.isDirty = true
  }
  const writeSome = (count: number): void => {
    if (due.length === 0) return
    for (let done = 0; done < count && due.length > 0; done++) {
      const block = blocks[due.pop() as number]
      if (block !== undefined) write(block)
    }
    if (due.length === 0) forgetLog()
  }
  const writeAllSoon = (): void => {
    logCounts()
    dueSeq = lastSeq
    due = ring.filter(({ isDirty }) => isDirty).map(({ number }) => number)
    due.sort((a, b) => b - a)
    if (due.length === 0) forgetLog()
  }
  const countOnce = (id: number): number => {
    const block = at(id)
    const index = indexOf(id)
    const count = Math.min(LARGEST, Math.max(1, block.words[index] as number) + 1)
    block.words[index] = count
    block.isDirty = true
    countsSinceWriting += 1
    return count
  }

  countAgain()

  return {
    born(id, depth) {
      setDepth(id, depth)
      at(id).words[indexOf(id)] = 1
    },
    depth(id) {
      const word = at(id).words[indexOf(id) + 1] as number
      return word === 0 || word === LARGEST ? undefined : word - 1
    },
    setDepth,
    count(id) {
      countsSinceWork += 1
      pending.push(id)
      return countOnce(id)
    },
    referrers: (id) => Math.max(1, at(id).words[indexOf(id)] as number),
    blockOf,
    write(number) {
      const block = blocks[number]
      if (block !== undefined) write(block)
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
      if (at(id).counted < seq) countOnce(id)
    }
  }

  function lastLogged(): number {
    const sql = `SELECT max(coalesce((SELECT max(seq) FROM named), 0),
      coalesce((SELECT value FROM meta WHERE key = 'named'), 0)) AS last`
    return (db.prepare(sql).get() as { last: number }).last
  }
}
