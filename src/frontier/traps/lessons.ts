/**
 * How each lesson stands: what speaks for it, what against. A lesson is about something that URLs have in common, named
 * by a text of which only the hash is kept.
 *
 * Each page that says the same as others raises the score, each one that is new lowers it by two of these. A lesson
 * holds while its score is at least what is asked as proof: three pages, and one more each time that the pages which
 * were new have doubled. So a trap without a single new page is known at once, and one behind a thousand good pages
 * after thirteen bad ones in a row.
 */
import type { Reader, Writer } from './codec.ts'

export interface Lesson {
  /** Pages that were new. */
  good: number
  score: number
  /** Pages since the last new one. */
  streak: number
  /** Pages in a row of which none was new but for a number, or an address. */
  alike: number
  /** Pages fetched to see whether the lesson is right, since the last new one. */
  probes: number
  /** How often what was bad was of another kind than the one before, and that kind. */
  kinds: number
  kind: number
  /** Contents of the latest bad pages, each once. */
  said: number[]
  /** Fingerprints of the latest pages, for those that gather them. */
  near: bigint[]
}

/** What a lesson asks for, beside three pages' worth of evidence. */
export interface Demand {
  /** Bad pages of so many kinds. */
  readonly kinds: number
  /** Bad pages, each time that the good ones have doubled. */
  readonly caution: number
}

export interface Lessons {
  find(id: number): Lesson | undefined
  /** Whether there is any that may hold. */
  mayHold(): boolean
  /** The lesson, made if it is new; the ones used longest ago are forgotten, those without a score first. */
  open(id: number): Lesson
  /** Adds a fingerprint to a lesson's. */
  gather(id: number, near: bigint): void
  write(writer: Writer): void
  read(reader: Reader): void
}

/** Kinds are numbers below this one. */
export const NO_KIND = 0xffff
/** What one bad page counts. */
export const FULL = 256
const PROOF = 3 * FULL
const NEW = 2 * FULL
const MAX_SCORE = 16 * FULL
const MAX_LESSONS = 96
/** Of one lesson. */
const MAX_NEAR = 4
const MAX_SAID = 3
/** Fingerprints that are written down; the others are gathered anew. */
const MAX_NEAR_WRITTEN = 24
/** So many that are alike are a trap after all, and no site of test pages. */
const MAX_ALIKE = 10_000
/** Of these many, the oldest, one without a score is looked for. */
const FORGETTABLE = 24

export function holds(lesson: Lesson, { kinds, caution }: Demand): boolean {
  if (lesson.alike >= MAX_ALIKE) return true
  return lesson.score >= PROOF + FULL * caution * Math.log2(Math.max(1, lesson.good)) && lesson.kinds >= kinds
}

/** A rule is a lesson that holds before anything was learned. */
export function presume(lesson: Lesson): void {
  if (lesson.good === 0) lesson.score = Math.max(lesson.score, PROOF)
}

export function acquit(lesson: Lesson, isAlike: boolean): void {
  lesson.alike = isAlike ? Math.min(lesson.alike + 1, MAX_ALIKE) : 0
  lesson.good = Math.min(lesson.good + 1, 65_535)
  lesson.score = Math.max(0, lesson.score - NEW)
  lesson.streak = 0
  lesson.probes = 0
}

/** Whether it is one of few contents that come again and again; if not, it is the next time. */
export function isSaidAgain(lesson: Lesson, content: number): boolean {
  if (lesson.said.includes(content)) return true
  lesson.said.push(content)
  if (lesson.said.length > MAX_SAID) lesson.said.shift()
  return false
}

export function blame(lesson: Lesson, weight: number, kind: number): void {
  lesson.score = Math.min(lesson.score + weight, MAX_SCORE)
  lesson.streak = Math.min(lesson.streak + 1, 255)
  lesson.alike = Math.min(lesson.alike + 1, MAX_ALIKE)
  if (kind !== lesson.kind) lesson.kinds = Math.min(lesson.kinds + 1, 255)
  lesson.kind = kind
}

function emptyLesson(): Lesson {
  return { good: 0, score: 0, streak: 0, alike: 0, probes: 0, kinds: 0, kind: NO_KIND, said: [], near: [] }
}

export function createLessons(): Lessons {
  const lessons = new Map<number, Lesson>()
  /** Whether one may hold; undefined when somebody may have changed one since it was looked for. */
  let hasProof: boolean | undefined
  const forgetOne = (): void => {
    let looked = 0
    let oldest: number | undefined
    for (const [id, lesson] of lessons) {
      oldest ??= id
      if (lesson.score === 0) {
        oldest = id
        break
      }
      if (++looked === FORGETTABLE) break
    }
    if (oldest !== undefined) lessons.delete(oldest)
  }
  const lookForProof = (): boolean => {
    for (const { score, alike } of lessons.values()) if (score >= PROOF || alike >= MAX_ALIKE) return true
    return false
  }
  const open = (id: number): Lesson => {
    hasProof = undefined
    const lesson = lessons.get(id) ?? emptyLesson()
    lessons.delete(id)
    if (lessons.size >= MAX_LESSONS) forgetOne()
    lessons.set(id, lesson)
    return lesson
  }
  return {
    find: (id) => lessons.get(id),
    mayHold: () => (hasProof ??= lookForProof()),
    open,
    gather(id, near) {
      const lesson = open(id)
      lesson.near.push(near)
      if (lesson.near.length > MAX_NEAR) lesson.near.shift()
    },
    write(writer) {
      let room = MAX_NEAR_WRITTEN
      const written = new Map<Lesson, number>()
      for (const lesson of [...lessons.values()].reverse()) {
        const count = Math.min(lesson.near.length, room)
        written.set(lesson, count)
        room -= count
      }
      writer.byte(lessons.size)
      for (const [id, lesson] of lessons) {
        writer.word(id)
        writer.short(lesson.good)
        writer.short(Math.round(lesson.score))
        writer.byte(lesson.streak)
        writer.short(lesson.alike)
        writer.byte(lesson.probes)
        writer.byte(lesson.kinds)
        writer.short(lesson.kind)
        const count = written.get(lesson) as number
        writer.byte(lesson.said.length * 16 + count)
        for (const content of lesson.said) writer.short(content)
        for (const near of lesson.near.slice(lesson.near.length - count)) {
          writer.word(Number(near & 0xffff_ffffn))
          writer.word(Number(near >> 32n))
        }
      }
    },
    read(reader) {
      const size = Math.min(reader.byte(), MAX_LESSONS)
      for (let count = 0; count < size; count++) {
        const id = reader.word() | 0
        const lesson: Lesson = {
          good: reader.short(),
          score: reader.short(),
          streak: reader.byte(),
          alike: reader.short(),
          probes: reader.byte(),
          kinds: reader.byte(),
          kind: reader.short(),
          said: [],
          near: [],
        }
        const sizes = reader.byte()
        for (let index = 0; index < Math.min(sizes >> 4, MAX_SAID); index++) lesson.said.push(reader.short())
        for (let index = 0; index < Math.min(sizes & 15, MAX_NEAR); index++) {
          const low = BigInt(reader.word())
          lesson.near.push((BigInt(reader.word()) << 32n) | low)
        }
        lessons.set(id, lesson)
      }
    },
  }
}
