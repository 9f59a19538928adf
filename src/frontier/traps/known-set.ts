/**
 * Whether a 32-bit hash was added before: for certain while there are no more than 2,048. For each room that it has it
 * remembers between 2,048 and 4,096 of them, with one wrong yes in some hundreds: when the younger half is full, the older
 * one is forgotten.
 *
 * A wrong yes costs a page: one that was never read is taken for another that was. So instead of a filter, which is wrong
 * from the first hash on that it does not list, each half is a sorted list of the first bits of its hashes, as many of them
 * as there is room for when it is written down (`hash-list.ts`).
 */
import type { Reader, Writer } from './codec.ts'
import { createHashList, readHashList, type HashList } from './hash-list.ts'
import { ONE_ROOM } from './rooms.ts'

export interface KnownSet {
  has(hash: number): boolean
  add(hash: number): void
  /** Whether some were forgotten. */
  readonly hasForgotten: boolean
  write(writer: Writer): void
  read(reader: Reader): void
}

/** Of a half, for each room. */
const MAX_ENTRIES = 2_048
/** What the whole set takes when it is written down, for each room, and what a half takes beside the other. */
const MAX_BYTES = 6_144
const HALF_BYTES = MAX_BYTES / 2

export function createKnownSet(rooms: () => number = ONE_ROOM): KnownSet {
  let older = createHashList()
  let younger = createHashList()
  let hasForgotten = false
  const has = (hash: number): boolean => younger.has(hash) || older.has(hash)
  const roomForYounger = (): number => rooms() * (older.size === 0 ? MAX_BYTES : HALF_BYTES)
  /** One that was written where there was more room is forgotten as a whole. */
  const fitting = (list: HashList): HashList => {
    if (list.size <= rooms() * MAX_ENTRIES) return list
    hasForgotten = true
    return createHashList()
  }
  return {
    has,
    add(hash) {
      if (has(hash)) return
      if (younger.size >= rooms() * MAX_ENTRIES) {
        hasForgotten ||= older.size > 0
        older = younger
        older.fitInto(rooms() * HALF_BYTES)
        younger = createHashList()
      }
      younger.add(hash)
      younger.fitInto(roomForYounger())
    },
    get hasForgotten() {
      return hasForgotten
    },
    write(writer) {
      writer.byte(Number(hasForgotten))
      older.write(writer)
      younger.write(writer)
    },
    read(reader) {
      hasForgotten = reader.byte() === 1
      older = fitting(readHashList(reader))
      younger = fitting(readHashList(reader))
    },
  }
}
