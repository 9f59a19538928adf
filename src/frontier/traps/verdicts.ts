/**
 * What follows for a URL from the rules and from what was learned of its host: whether it is set aside, why, and by which
 * lesson. Changes nothing.
 */
import type { NormalizedUrl } from '../../model/index.ts'
import type { UrlPart, UrlShape } from '../../url/index.ts'
import { holds, type Demand, type Lesson, type Lessons } from './lessons.ts'
import { hashOf, type Memory } from './memory.ts'
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
  on(url: NormalizedUrl, shape: UrlShape): Verdict | undefined
  /** Whether a folder lies in itself, or one of the host's outermost folders in another. */
  isNested(shape: UrlShape): boolean
}

export const PLAIN: Demand = { kinds: 0, caution: 1 }
/** From two templates at least. */
export const VARIED: Demand = { kinds: 2, caution: 1 }

/** The lessons about a part: on the whole host, and on one template. */
export const everywhere = ({ name }: UrlPart): number => hashOf(`part ${name}`)
export const here = ({ name }: UrlPart, { template }: UrlShape): number => hashOf(`part ${name} ${template}`)
export const ENDING = hashOf('ending')
export const NESTED = hashOf('nested')

/** Good pages that speak for a subject against the lesson of a wider one. */
const PROVEN_GOOD = 2
const NONE: ReadonlySet<string> = new Set()
const SAID_THE_SAME = 'said the same as others'

export function createVerdicts(lessons: Lessons, memory: Memory): Verdicts {
  const isLearned = (id: number, demand: Demand): boolean => {
    const lesson = lessons.find(id)
    return lesson !== undefined && holds(lesson, demand)
  }
  const partLesson = (shape: UrlShape, part: UrlPart): number | undefined => {
    if (isLearned(everywhere(part), VARIED)) return everywhere(part)
    return isLearned(here(part, shape), PLAIN) ? here(part, shape) : undefined
  }
  const idleParts = (shape: UrlShape): ReadonlySet<string> =>
    lessons.mayHold()
      ? new Set(shape.parts.filter((part) => partLesson(shape, part) !== undefined).map(({ name }) => name))
      : NONE
  const isNested = (shape: UrlShape): boolean => shape.isRecurrent || memory.hasOutermostWithin(shape)

  const byRule = (url: NormalizedUrl, shape: UrlShape): Verdict | undefined => {
    const rule = ruleAgainst(url.length, shape)
    if (rule === undefined) return undefined
    if (rule.isFinal) return { reason: rule.reason, id: undefined }
    const id = hashOf(rule.id)
    const lesson = lessons.find(id)
    const isLifted = lesson !== undefined && lesson.good > 0 && !holds(lesson, PLAIN)
    return isLifted ? undefined : { reason: rule.reason, id }
  }

  const byParts = (url: NormalizedUrl, shape: UrlShape, idle: ReadonlySet<string>): Verdict | undefined => {
    const part = shape.parts.find(({ name }) => idle.has(name))
    if (part === undefined || memory.knowsItself(url)) return undefined
    const id = partLesson(shape, part)
    const words = `${wordsFor(part)} makes no difference`
    if (memory.knowsWithout(shape, idle)) return { reason: `${words}, and the page was found without it`, id }
    // A session makes any number of URLs for each page: without a memory of the pages there would be no end.
    const isSession = shape.parts.some(({ name, ...part }) => idle.has(name) && (part.isSession || part.isRandom))
    if (!isSession || !memory.hasForgotten) return undefined
    return { reason: `${words}, and there are too many pages to know whether this one was read`, id }
  }

  const byPath = (url: NormalizedUrl, shape: UrlShape): Verdict | undefined => {
    if (isLearned(ENDING, VARIED) && !memory.knowsItself(url) && memory.knowsEnding(url, shape))
      return { reason: 'it was found with other folders in front, which make no difference', id: ENDING }
    const nesting = isNested(shape) ? lessons.find(NESTED) : undefined
    if (nesting === undefined || !holds(nesting, VARIED)) return undefined
    return { reason: `${lastPages(nesting)} with a folder inside itself or another ${SAID_THE_SAME}`, id: NESTED }
  }

  const bySubjects = (subjects: readonly Subject[]): Verdict | undefined => {
    for (const subject of subjects) {
      const id = hashOf(subject.id)
      const lesson = lessons.find(id)
      if (lesson === undefined) continue
      if (holds(lesson, subject.demand))
        return { reason: `${lastPages(lesson)} of ${shortened(subject.words)} ${SAID_THE_SAME}`, id }
      if (lesson.good >= PROVEN_GOOD) return undefined
    }
    return undefined
  }

  return {
    idleParts,
    isNested,
    on(url, shape) {
      const rule = byRule(url, shape)
      if (rule !== undefined || !lessons.mayHold()) return rule
      const idle = idleParts(shape)
      return byParts(url, shape, idle) ?? byPath(url, shape) ?? bySubjects(subjectsOf(shape, keysWithout(shape, idle)))
    },
  }
}

export function keysWithout({ keys }: UrlShape, idle: ReadonlySet<string>): readonly string[] {
  return idle.size === 0 ? keys : keys.filter((key) => !idle.has(key))
}

function lastPages({ streak, alike }: Lesson): string {
  const count = Math.max(streak, alike)
  return count > 1 ? `the last ${count} pages` : 'most pages'
}

function wordsFor({ name, isRandom, isSession }: UrlPart): string {
  if (name === '&') return 'the order of the parameters'
  if (name === '(S)' || name.startsWith('*')) return 'a random segment of the path'
  return isRandom || isSession ? `the session id ${shortened(name)}` : `the parameter ${shortened(name)}`
}
