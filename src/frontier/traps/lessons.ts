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
  /** Pages in a row that said the same but for names and links; those that the first of them leads to are one. */
  kin: number
  /** The prose of the latest page that has one, 16 bits of each half; 0 for none. */
  prose: number
  /** Pages fetched to see whether the lesson is right, since the last one that was new by more than a number. */
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
  holds(lesson: Lesson, demand: Demand): boolean
  /** Whether there is any that may hold. */
  mayHold(): boolean
  /** How many more bad pages it takes for it to hold, at least. */
  missing(lesson: Lesson, demand: Demand): number
  /** How many pages of a kind may still come that are new by a number only, or by an address. */
  moreAlike(lesson: Lesson): number
  /** How many pages of a place may still come that are new by names and links only. */
  moreKin(lesson: Lesson): number
  /** So many pages of the host said what none had said before, numbers and their addresses aside. */
  noteDistinct(pages: number): void
  /** Whether so many did that the site is no site of test pages. */
  isVaried(): boolean
  /** The lesson, made if it is new; the ones used longest ago are forgotten, those that nothing speaks for first. */
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
/** What one counts at most whose address tells why it is bad. */
export const TELLING = 1.5 * FULL
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
/**
 * A site that says something else on so many pages is no site of test pages: there a few that are alike are enough, one
 * more for each so many that were not.
 */
const DISTINCT_PAGES = 32
const FEW_ALIKE = 4
/** There, so many that are alike but for names and links. */
const FEW_KIN = 3
/** From here on they are kept in mind as what speaks for a lesson is. */
const WORTH_KEEPING = 2
/**
 * Of these many, the oldest, one that nothing speaks for is forgotten, the one with the fewest good pages: of a place with
 * many it would have to be found out again how many may be under way at once.
 */
const FORGETTABLE = 24

/** A rule is a lesson that holds before anything was learned. */
export function presume(lesson: Lesson): void {
  if (lesson.good === 0) lesson.score = Math.max(lesson.score, PROOF)
}

/** How a page is new. */
export interface News {
  /** By a number only, or by its address. */
  readonly isAlike: boolean
  /** By names and links only. */
  readonly isKin: boolean
}

/** By a page that stands for so many. */
export function acquit(lesson: Lesson, { isAlike, isKin }: News, pages: number): void {
  lesson.alike = isAlike ? Math.min(lesson.alike + 1, MAX_ALIKE) : 0
  if (!isAlike && !isKin) lesson.kin = 0
  lesson.good = Math.min(lesson.good + pages, 65_535)
  lesson.score = Math.max(0, lesson.score - pages * NEW)
  lesson.streak = 0
  if (!isAlike) lesson.probes = 0
}

/** Whether it is one of few contents that come again and again; if not, it is the next time. */
export function isSaidAgain(lesson: Lesson, content: number): boolean {
  if (lesson.said.includes(content)) return true
  lesson.said.push(content)
  if (lesson.said.length > MAX_SAID) lesson.said.shift()
  return false
}

/** One more page that is new by names and links only; if it does not count yet, it is the first. */
export function countKin(lesson: Lesson, counts: boolean): void {
  lesson.kin = counts ? Math.min(lesson.kin + 1, MAX_ALIKE) : Math.max(lesson.kin, 1)
}

/** What was found on a page that is alike, or kin, is new: it leads to something. */
export function breakRow(lesson: Lesson): void {
  lesson.alike = 0
  lesson.kin = 0
}

export function blame(lesson: Lesson, weight: number, kind: number): void {
  lesson.score = Math.min(lesson.score + weight, MAX_SCORE)
  lesson.streak = Math.min(lesson.streak + 1, 255)
  lesson.alike = Math.min(lesson.alike + 1, MAX_ALIKE)
  if (kind !== lesson.kind) lesson.kinds = Math.min(lesson.kinds + 1, 255)
  lesson.kind = kind
}

function emptyLesson(): Lesson {
  return {
    good: 0,
    score: 0,
    streak: 0,
    alike: 0,
    kin: 0,
    prose: 0,
    probes: 0,
    kinds: 0,
    kind: NO_KIND,
    said: [],
    near: [],
  }
}

export function createLessons(): Lessons {
  const lessons = new Map<number, Lesson>()
  /** Whether one may hold; undefined when somebody may have changed one since it was looked for. */
  let hasProof: boolean | undefined
  let distinct = 0
  const isVaried = (): boolean => distinct >= DISTINCT_PAGES
  const mostAlike = (): number => (isVaried() ? Math.max(FEW_ALIKE, Math.floor(distinct / DISTINCT_PAGES)) : MAX_ALIKE)
  /** Where pages of the kind were new, it takes as many that are not. */
  const mostAlikeOf = ({ good, alike }: Lesson): number => Math.min(Math.max(mostAlike(), good - alike), MAX_ALIKE)
  const mostKinOf = ({ good, kin }: Lesson): number => (isVaried() ? Math.max(FEW_KIN, good - kin) : Infinity)
  const proofFor = ({ good }: Lesson, { caution }: Demand): number =>
    PROOF + FULL * caution * Math.log2(Math.max(1, good))
  /** What is in force is kept, if it can be: nothing more is learned of what is set aside by it. */
  const forgetOne = (): void => {
    let looked = 0
    const [oldest] = lessons.keys()
    let idle: number | undefined
    let leastGood = Infinity
    let unproven: number | undefined
    for (const [id, { score, alike, kin, good }] of lessons) {
      if (score > 0 || Math.max(alike, kin) >= WORTH_KEEPING) {
        if (score < PROOF) unproven ??= id
      } else if (good < leastGood) {
        idle = id
        leastGood = good
      }
      if (++looked === FORGETTABLE) break
    }
    const forgotten = idle ?? unproven ?? oldest
    if (forgotten !== undefined) lessons.delete(forgotten)
  }
  const lookForProof = (): boolean => {
    const most = mostAlike()
    for (const { score, alike, kin } of lessons.values())
      if (score >= PROOF || alike >= most || kin >= FEW_KIN) return true
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
    holds(lesson, demand) {
      const { kinds } = demand
      // What lies in one place may well be alike; of one kind, a few pages are enough.
      if (lesson.alike >= (kinds === 0 ? mostAlikeOf(lesson) : MAX_ALIKE) || lesson.kin >= mostKinOf(lesson))
        return true
      return lesson.score >= proofFor(lesson, demand) && lesson.kinds >= kinds
    },
    missing: (lesson, demand) => Math.max(0, Math.ceil((proofFor(lesson, demand) - lesson.score) / TELLING)),
    moreAlike: (lesson) => Math.max(0, mostAlikeOf(lesson) - lesson.alike),
    moreKin: (lesson) => Math.max(0, mostKinOf(lesson) - lesson.kin),
    noteDistinct(pages) {
      distinct = Math.min(distinct + pages, 65_535)
      hasProof = undefined
    },
    isVaried,
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
      writer.short(distinct)
      writer.byte(lessons.size)
      for (const [id, lesson] of lessons) {
        writer.word(id)
        writer.short(lesson.good)
        writer.short(Math.round(lesson.score))
        writer.byte(lesson.streak)
        writer.short(lesson.alike)
        writer.short(lesson.kin)
        writer.word(lesson.prose)
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
      distinct = reader.short()
      const size = Math.min(reader.byte(), MAX_LESSONS)
      for (let count = 0; count < size; count++) {
        const id = reader.word() | 0
        const lesson: Lesson = {
          good: reader.short(),
          score: reader.short(),
          streak: reader.byte(),
          alike: reader.short(),
          kin: reader.short(),
          prose: reader.word(),
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
