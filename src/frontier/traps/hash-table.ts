/**
 * A bounded table from 32-bit hashes to small numbers: the latest entries, and of the older ones a sample. Which of them are in
 * the sample depends on their hash alone, and fewer are as there are more. So what comes a second time after a thousand
 * others is still found now and then, in a table of a few hundred.
 */
import type { Reader, Writer } from './codec.ts'
import { ONE_ROOM } from './rooms.ts'

export interface HashTable {
  get(hash: number): number | undefined
  set(hash: number, value: number): void
  write(writer: Writer): void
  read(reader: Reader): void
}

/** At most this many in each of the two parts, 65,535 at most; values of so many bytes, three at most. */
export interface HashTableSize {
  readonly recent: number
  readonly sampled: number
  readonly bytes: number
}

/** With `rooms`, of so many times that size, now; it may grow. */
export function createHashTable(size: HashTableSize, rooms: () => number = ONE_ROOM): HashTable {
  const { bytes } = size
  // Hashes are kept with a sign, as small whole numbers: larger ones would each be an object.
  const recent = new Map<number, number>()
  const sample = new Map<number, number>()
  /** Of the hashes that end in so many zero bits. */
  let bits = 0

  const isSampled = (hash: number): boolean => hash % 2 ** bits === 0
  const keep = (hash: number, value: number): void => {
    if (!isSampled(hash)) return
    sample.set(hash, value)
    while (sample.size > size.sampled * rooms()) {
      bits += 1
      for (const old of sample.keys()) if (!isSampled(old)) sample.delete(old)
    }
  }
  const set = (hash: number, value: number): void => {
    recent.delete(hash)
    recent.set(hash, value)
    if (recent.size <= size.recent * rooms()) return
    const [oldest, old] = recent.entries().next().value as [number, number]
    recent.delete(oldest)
    keep(oldest, old)
  }
  const writeAll = (writer: Writer, entries: Map<number, number>): void => {
    writer.short(entries.size)
    for (const [hash, value] of entries) {
      writer.word(hash)
      for (let byte = 0; byte < bytes; byte++) writer.byte(value >> (8 * byte))
    }
  }
  const readAll = (reader: Reader, add: (hash: number, value: number) => void): void => {
    for (let left = reader.short(); left > 0 && reader.isWhole; left--) {
      const hash = reader.word() | 0
      let value = 0
      for (let byte = 0; byte < bytes; byte++) value |= reader.byte() << (8 * byte)
      add(hash, value)
    }
  }
  return {
    get: (hash) => recent.get(hash | 0) ?? sample.get(hash | 0),
    set: (hash, value) => set(hash | 0, value),
    write(writer) {
      writer.byte(bits)
      writeAll(writer, recent)
      writeAll(writer, sample)
    },
    read(reader) {
      bits = Math.min(reader.byte(), 32)
      // Where there is less room than there was, what does not fit is dropped as ever.
      const latest: [number, number][] = []
      readAll(reader, (hash, value) => latest.push([hash, value]))
      readAll(reader, keep)
      for (const [hash, value] of latest) set(hash, value)
    },
  }
}
