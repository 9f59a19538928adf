/**
 * What follows for a URL from the rules and from what was learned of its host: whether it is set aside, why, and by which
 * lesson. Changes nothing.
 */
import type { NormalizedUrl } from '../../model/index.ts'
import type { UrlPart, UrlShape } from '../../url/index.ts'
import type { Address } from './address.ts'
import { hashOf } from './hash.ts'
import type { Demand, Lesson, Lessons } from './lessons.ts'
import type { Memory } from './memory.ts'
import { ruleAgainst, shortened } from './rules.ts'
import { subjectsOf, type Subject } from './subjects.ts'

/** Why a URL is set aside. */
export interface Verdict {
  readonly reason: string
  /** The lesson; without one it is final. */
  readonly id: number | undefined
}

export interface Verdicts {
  /** The parts of a URL that make no difference. */
  idleParts(shape: UrlShape): ReadonlySet<string>
  on(address: Address): Verdict | undefined
  /** What the rules alone say: all there is to say as long as no lesson may hold. */
  byRule(url: NormalizedUrl, shape: UrlShape): Verdict | undefined
  /** Whether a folder lies in itself, or one of the host's outermost folders in another. */
  isNested(address: Address): boolean
}

export const PLAIN: Demand = { kinds: 0, caution: 1 }
/** From two templates at least. */
export const VARIED: Demand = { kinds: 2, caution: 1 }
/** The same, and hardly where pages differed: versions of a documentation have much in common. */
export const DETOURED: Demand = { kinds: 2, caution: 4 }

/** The lessons about a part: on the whole host, and on one template. */
export const everywhere = ({ name }: UrlPart): number => hashOf(`part ${name}`)
export const here = ({ name }: UrlPart, { template }: UrlShape): number => hashOf(`part ${name} ${template}`)
export const ENDING = hashOf('ending')
export const DETOUR = hashOf('detour')
export const BARE = hashOf('bare')
export const NESTED = hashOf('nested')

/** Good pages that speak for a subject against the lesson of a wider one. */
const PROVEN_GOOD = 2
const NONE: ReadonlySet<string> = new Set()
const SAID_THE_SAME = 'said the same as others'

export function createVerdicts(lessons: Lessons, memory: Memory): Verdicts {
  const isLearned = (id: number, demand: Demand): boolean => {
    const lesson = lessons.find(id)
    return lesson !== undefined && lessons.holds(lesson, demand)
  }
  /** Whether what is presumed has turned out to be wrong. */
  const isLifted = (id: number): boolean => {
    const lesson = lessons.find(id)
    return lesson !== undefined && lesson.good > 0 && !lessons.holds(lesson, PLAIN)
  }
  const partLesson = (shape: UrlShape, part: UrlPart): number | undefined => {
    if (isLearned(everywhere(part), VARIED)) return everywhere(part)
    return isLearned(here(part, shape), PLAIN) ? here(part, shape) : undefined
  }
  const idleParts = (shape: UrlShape): ReadonlySet<string> =>
    lessons.mayHold()
      ? new Set(shape.parts.filter((part) => partLesson(shape, part) !== undefined).map(({ name }) => name))
      : NONE
  const isNested = (address: Address): boolean => address.isRecurrent || memory.hasOutermostWithin(address)

  const byRule = (url: NormalizedUrl, shape: UrlShape): Verdict | undefined => {
    const rule = ruleAgainst(url.length, shape)
    if (rule === undefined) return undefined
    if (rule.isFinal) return { reason: rule.reason, id: undefined }
    const id = hashOf(rule.id)
    return isLifted(id) ? undefined : { reason: rule.reason, id }
  }

  const byBareness = (address: Address): Verdict | undefined =>
    memory.knowsBare(address) && !isLifted(BARE)
      ? { reason: 'the page was found with a session id, which makes no difference', id: BARE }
      : undefined

  const byParts = (address: Address, idle: ReadonlySet<string>): Verdict | undefined => {
    const part = address.parts.find(({ name }) => idle.has(name))
    if (part === undefined || memory.knowsItself(address)) return undefined
    const id = partLesson(address, part)
    const words = `${wordsFor(part)} makes no difference`
    if (memory.knowsWithout(address, idle)) return { reason: `${words}, and the page was found without it`, id }
    // A session makes any number of URLs for each page: without a memory of the pages there would be no end.
    const isSession = address.parts.some(({ name, ...part }) => idle.has(name) && (part.isSession || part.isRandom))
    if (!isSession || !memory.hasForgotten) return undefined
    return { reason: `${words}, and there are too many pages to know whether this one was read`, id }
  }

  const byPath = (address: Address): Verdict | undefined => {
    if (isLearned(ENDING, VARIED) && !memory.knowsItself(address) && memory.knowsEnding(address))
      return { reason: 'it was found with other folders in front, which make no difference', id: ENDING }
    if (isLearned(DETOUR, DETOURED) && !memory.knowsItself(address) && memory.knowsStraight(address))
      return { reason: 'it was found without a folder before its end, which makes no difference', id: DETOUR }
    const nesting = isNested(address) ? lessons.find(NESTED) : undefined
    if (nesting === undefined || !lessons.holds(nesting, VARIED)) return undefined
    return { reason: `${lastPages(nesting)} with a folder inside itself or another ${SAID_THE_SAME}`, id: NESTED }
  }

  const bySubjects = (subjects: readonly Subject[]): Verdict | undefined => {
    for (const subject of subjects) {
      const { id } = subject
      const lesson = lessons.find(id)
      if (lesson === undefined) continue
      if (lessons.holds(lesson, subject.demand))
        return { reason: `${lastPages(lesson)} of ${shortened(subject.words)} ${wordsOf(lesson)}`, id }
      if (lesson.good >= PROVEN_GOOD) return undefined
    }
    return undefined
  }

  return {
    idleParts,
    isNested,
    byRule,
    on(address) {
      const rule = byRule(address.url, address)
      if (rule !== undefined || !lessons.mayHold()) return rule
      const idle = idleParts(address)
      return (
        byParts(address, idle) ?? byBareness(address) ?? byPath(address) ?? bySubjects(subjectsWithout(address, idle))
      )
    },
  }
}

/** Of a URL without these parts. */
export function subjectsWithout(address: Address, idle: ReadonlySet<string>): readonly Subject[] {
  if (idle.size === 0) return address.subjects
  return subjectsOf(
    address,
    address.keys.filter((key) => !idle.has(key)),
  )
}

function lastPages({ streak, alike, kin }: Lesson): string {
  const count = Math.max(streak, alike, kin)
  return count > 1 ? `the last ${count} pages` : 'most pages'
}

function wordsOf({ streak, alike, kin }: Lesson): string {
  return kin > Math.max(streak, alike) ? `${SAID_THE_SAME} but for names and links` : SAID_THE_SAME
}

function wordsFor({ name, isRandom, isSession }: UrlPart): string {
  if (name === '&') return 'the order of the parameters'
  if (name === '(S)' || name.startsWith('*')) return 'a random segment of the path'
  return isRandom || isSession ? `the session id ${shortened(name)}` : `the parameter ${shortened(name)}`
}
