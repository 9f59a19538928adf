/**
 * How many URLs of a kind are asked for before it is known what the first of them say. A lease of many tasks would run
 * into a trap with all of them at once; so of a kind that is new there are few, and more as it proves good.
 */
import type { Address } from './address.ts'
import type { Lessons } from './lessons.ts'
import { MAX_PARTS, type Memory } from './memory.ts'
import { isPlain } from './suspicion.ts'
import { ENDING, everywhere, type Verdicts } from './verdicts.ts'

/** Of a kind of which nothing is known. */
const FIRST = 2
/** Where the address is plain, which is rarely a trap. */
const FIRST_PLAIN = 6
/** One more for each so many good pages. */
const PAGES_EACH = 2
/** From here on a part, or a folder in front, is known to make a difference. */
const PROVEN_GOOD = 2

/** Whether one more URL may go with those that were admitted before. */
export function createBatch(lessons: Lessons, memory: Memory, verdicts: Verdicts): (address: Address) => boolean {
  const counts = new Map<number, number>()
  const limitOf = (id: number, first: number): number => {
    const lesson = lessons.find(id)
    if (lesson === undefined) return first
    if (lesson.streak > 0) return 1
    const limit = first + lesson.good / PAGES_EACH
    return lesson.alike === 0 ? limit : Math.min(limit, Math.max(1, lessons.moreAlike(lesson)))
  }
  const isUnproven = (id: number): boolean => (lessons.find(id)?.good ?? 0) < PROVEN_GOOD
  return (address) => {
    const first = isPlain(address, verdicts.isNested(address)) ? FIRST_PLAIN : FIRST
    const limits = new Map<number, number>()
    for (const { id } of address.subjects) limits.set(id, limitOf(id, first))
    for (const part of address.parts.slice(0, MAX_PARTS)) {
      const id = everywhere(part)
      if (isUnproven(id) && memory.knowsWithout(address, new Set([part.name]))) limits.set(id, 1)
    }
    if (isUnproven(ENDING) && memory.knowsEnding(address)) limits.set(ENDING, 1)
    for (const [id, limit] of limits) if ((counts.get(id) ?? 0) >= limit) return false
    for (const id of limits.keys()) counts.set(id, (counts.get(id) ?? 0) + 1)
    return true
  }
}
