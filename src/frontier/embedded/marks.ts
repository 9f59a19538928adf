/**
 * Two bits for each URL that spare a look at the disk, in memory for all of them: 2.5 MB for ten million.
 *
 * `changed`: the table `state` may have a row of it. Most URLs that are leased were never touched since they were
 * found, and their rows need not be looked for there.
 *
 * `gone`: what the table `queue` has of it, if anything, does not count. A URL leaves its queue for good when it is
 * done, and a page of the file would be written for that entry alone; so it stays, and is deleted together with its
 * neighbours when they are gone too. It keeps true that such an entry stands where the tables say that the URL stood.
 *
 * Only the writing of a generation sets them, and stores them in the table `mark` before the rows that they speak of:
 * when it starts over after a crash, it sets them again.
 */
import type { DatabaseSync } from 'node:sqlite'

/** URLs of a block of the table, of a word, and bits of a URL. */
const BLOCK = 8_192
const PER_WORD = 16
const WORD_SHIFT = 4
const BITS = 2
const WORDS = BLOCK / PER_WORD

const CHANGED = 1
const GONE = 2

export interface Marks {
  isChanged(id: number): boolean
  isGone(id: number): boolean
  setChanged(id: number): void
  setGone(id: number, isGone: boolean): void
  /** Blocks that were set since they were stored, in order; and their storing. */
  unstored(): readonly number[]
  store(block: number): void
}

export function createMarks(db: DatabaseSync): Marks {
  const save = db.prepare('INSERT OR REPLACE INTO mark VALUES (?, ?)')
  let words = new Uint32Array(WORDS)
  const dirty = new Set<number>()

  const makeRoom = (index: number): void => {
    if (index < words.length) return
    const longer = new Uint32Array(Math.max(2 * words.length, Math.ceil((index + 1) / WORDS) * WORDS))
    longer.set(words)
    words = longer
  }
  const has = (id: number, bit: number): boolean =>
    (((words[id >>> WORD_SHIFT] ?? 0) >>> ((id & (PER_WORD - 1)) * BITS)) & bit) !== 0
  const set = (id: number, bit: number, isSet: boolean): void => {
    if (has(id, bit) === isSet) return
    const index = id >>> WORD_SHIFT
    makeRoom(index)
    words[index] = (words[index] as number) ^ (bit << ((id & (PER_WORD - 1)) * BITS))
    dirty.add(Math.floor(id / BLOCK))
  }

  const stored = db.prepare('SELECT block, bits FROM mark ORDER BY block DESC').iterate()
  for (const { block, bits } of stored as Iterable<{ block: number; bits: Uint8Array }>) {
    makeRoom((block + 1) * WORDS - 1)
    words.set(new Uint32Array(bits.slice().buffer), block * WORDS)
  }

  return {
    isChanged: (id) => has(id, CHANGED),
    isGone: (id) => has(id, GONE),
    setChanged: (id) => set(id, CHANGED, true),
    setGone: (id, isGone) => set(id, GONE, isGone),
    unstored: () => [...dirty].sort((a, b) => a - b),
    store(block) {
      save.run(block, new Uint8Array(words.buffer, block * WORDS * 4, WORDS * 4))
      dirty.delete(block)
    },
  }
}
