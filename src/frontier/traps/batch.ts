/**
 * How many URLs of a kind are asked for before it is known what the first of them say. A lease of many tasks, or many
 * leases at once, would run into a trap with all of them; so of a kind that is new there are few, and more as it proves
 * good.
 */
import type { Address } from './address.ts'
import type { Demand, Lesson, Lessons } from './lessons.ts'
import { formsOf, MAX_PARTS, type Memory } from './memory.ts'
import { isPlain } from './suspicion.ts'
import type { UnderWay } from './under-way.ts'
import { DETOUR, DETOURED, ENDING, everywhere, VARIED, type Verdicts } from './verdicts.ts'

/** Of a kind of which nothing is known. */
const FIRST = 2
/** Where the address is plain, which is rarely a trap. */
const FIRST_PLAIN = 6
/** One more for each so many good pages. */
const PAGES_EACH = 2
/** From here on a part, or a folder in front, is known to make a difference. */
const PROVEN_GOOD = 2
/** Of each kind one for so many pages of the host that were read, whatever is known of it: it costs no more than that. */
const PAGES_PER_MISTAKE = 100

/**
 * Whether one more URL may go with those that are under way; if so, it is one of them. The first may always. `pages` of
 * the host were read. What may go is shared out over `batches`, of which this is the first: one that takes it all would
 * leave the others nothing to do at the same time.
 */
export function createBatch(
  lessons: Lessons,
  memory: Memory,
  verdicts: Verdicts,
  underWay: UnderWay,
  pages: number,
  batches: number,
): (address: Address) => boolean {
  const harmless = Math.floor(pages / PAGES_PER_MISTAKE)
  /** How many of each kind are of this batch. */
  const taken = new Map<number, number>()
  /** Whether one more of a kind would be more than may go, or than this batch's share of it. */
  const isEnough = (id: number, limit: number): boolean => {
    const own = taken.get(id) ?? 0
    const others = underWay.count(id) - own
    return own >= Math.ceil((limit - others) / batches)
  }
  const isUnderWay = (form: number): boolean => underWay.count(form) > 0
  const limitOf = (lesson: Lesson | undefined, demand: Demand, first: number): number => {
    if (lesson === undefined) return Math.max(first, harmless)
    const limit = first + lesson.good / PAGES_EACH
    // All that it takes to tell may as well go at once.
    const toTell = lesson.streak > 0 ? lessons.missing(lesson, demand) : Infinity
    const alike = lesson.alike > 0 ? lessons.moreAlike(lesson) : Infinity
    const kin = lesson.kin > 0 ? lessons.moreKin(lesson) : Infinity
    return Math.max(1, harmless, Math.min(limit, toTell, alike, kin))
  }
  const isUnproven = (id: number): boolean => (lessons.find(id)?.good ?? 0) < PROVEN_GOOD
  const isLearned = (id: number, demand: Demand): boolean => {
    const lesson = lessons.find(id)
    return lesson !== undefined && lessons.holds(lesson, demand)
  }
  /** Whether some pages said the same without a folder: most hosts with such pages have them for other reasons. */
  const mayBeDetour = (): boolean => (lessons.find(DETOUR)?.score ?? 0) > 0
  /** Whether another address is for what is known to be the same page: it will be aside once that was read. */
  const willBeAside = (address: Address): boolean =>
    (isLearned(ENDING, VARIED) && memory.knowsEnding(address, isUnderWay)) ||
    (isLearned(DETOUR, DETOURED) && memory.knowsStraight(address, isUnderWay))
  /** Whether another address for what may be the same page is: what that says is worth waiting for. */
  const mayBeUnderWay = (address: Address): boolean => {
    if (isUnproven(ENDING) && memory.knowsEnding(address, isUnderWay)) return true
    if (isUnproven(DETOUR) && memory.knowsStraight(address, isUnderWay)) return true
    return address.parts
      .slice(0, MAX_PARTS)
      .some((part) => isUnproven(everywhere(part)) && memory.knowsWithout(address, new Set([part.name]), isUnderWay))
  }
  return (address) => {
    if (underWay.size > 0 && (willBeAside(address) || (underWay.size >= harmless && mayBeUnderWay(address))))
      return false
    const first = isPlain(address, verdicts.isNested(address)) ? FIRST_PLAIN : FIRST
    const limits = new Map<number, number>()
    for (const { id, demand } of address.subjects) limits.set(id, limitOf(lessons.find(id), demand, first))
    for (const part of address.parts.slice(0, MAX_PARTS)) {
      const id = everywhere(part)
      if (isUnproven(id) && memory.knowsWithout(address, new Set([part.name]))) limits.set(id, Math.max(1, harmless))
    }
    if (isUnproven(ENDING) && memory.knowsEnding(address)) limits.set(ENDING, Math.max(1, harmless))
    if (isUnproven(DETOUR) && memory.knowsStraight(address))
      limits.set(DETOUR, Math.max(mayBeDetour() ? 1 : FIRST, harmless))
    if (underWay.size > 0) for (const [id, limit] of limits) if (isEnough(id, limit)) return false
    for (const id of limits.keys()) taken.set(id, (taken.get(id) ?? 0) + 1)
    underWay.add(address.url, [...limits.keys(), ...formsOf(address)])
    return true
  }
}
