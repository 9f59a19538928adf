/**
 * What a page teaches: which lessons it speaks for, and which against. The precise explanations come first, and a copy
 * that one of them explains is no evidence for the wider ones.
 */
import { createLru } from '../../base/index.ts'
import { SAMPLE_SIZES } from '../../content/index.ts'
import type { ContentSample, NormalizedUrl } from '../../model/index.ts'
import { shapeOf, type UrlPart, type UrlShape } from '../../url/index.ts'
import type { Address } from './address.ts'
import { leadsDeeper } from './detours.ts'
import { hashOf } from './hash.ts'
import { kinshipOf } from './kin.ts'
import {
  acquit,
  blame,
  breakRow,
  countKin,
  FULL,
  isSaidAgain,
  NO_KIND,
  presume,
  TELLING,
  type Demand,
  type Lesson,
  type Lessons,
  type News,
} from './lessons.ts'
import { MAX_PARTS, type Memory, type Said } from './memory.ts'
import { ruleAgainst } from './rules.ts'
import { NEARLY_SAME, SAME_LINE, samenessOf } from './sameness.ts'
import { subjectsOf, type Subject } from './subjects.ts'
import {
  BARE,
  DETOUR,
  DETOURED,
  ENDING,
  everywhere,
  here,
  NESTED,
  PLAIN,
  subjectsWithout,
  VARIED,
  type Verdicts,
} from './verdicts.ts'

/** The part that is the order of the parameters. */
const ORDER = '&'
const ALL_NEW: News = { isAlike: false, isKin: false }
/** The share that a copy counts for a place where only other contents came again before. */
const FIRST_TIME = 1 / 8
const REFERRERS_KEPT = 64

/** What came of it: whether lessons began or ceased to hold. */
export interface Taught {
  readonly hasBegun: boolean
  readonly hasCeased: boolean
  /** The page was met under another address before. */
  readonly isAlias: boolean
  /** It says the same as others. */
  readonly isCopy: boolean
}

/** How a copy is explained: by a part that looks like a session id, by another one, by the folders in its path. */
type Explanation = 'token' | 'parameter' | 'folders' | undefined

/** A page as it is learned from. */
export interface Lecture {
  readonly sample: ContentSample
  /** The page that it was found on. */
  readonly referrer: NormalizedUrl | undefined
  /** The pages that it links to. */
  readonly links: readonly NormalizedUrl[]
  /** So many like it were read, of which this one is a sample. That one is a copy proves nothing of the others. */
  readonly standsFor: number
}

export function teach(
  shape: Address,
  { sample, referrer, links, standsFor }: Lecture,
  { lessons, memory, verdicts }: { lessons: Lessons; memory: Memory; verdicts: Verdicts },
): Taught {
  const taught = { hasBegun: false, hasCeased: false, isAlias: false, isCopy: false }
  const change = (id: number, demand: Demand, by: (lesson: Lesson) => void): void => {
    const lesson = lessons.open(id)
    const held = lessons.holds(lesson, demand)
    by(lesson)
    const isHeld = lessons.holds(lesson, demand)
    taught.hasBegun ||= !held && isHeld
    taught.hasCeased ||= held && !isHeld
  }
  const weigh = (id: number, demand: Demand, weight: number, kind: string, news: News = ALL_NEW): void =>
    change(id, demand, (lesson) => {
      if (weight > 0) blame(lesson, weight, (hashOf(kind) >>> 0) % NO_KIND)
      else acquit(lesson, news, standsFor)
    })
  const size = sample.exact.charAt(0)
  const isLong = size >= SAMPLE_SIZES.long
  const weighPart = (part: UrlPart, weight: number): void => {
    weigh(everywhere(part), VARIED, weight, shape.template)
    // A line that all pages of a template have in common says nothing about the part.
    if (isLong || part.isSession || weight === 0) weigh(here(part, shape), PLAIN, weight, shape.template)
  }

  const said = saidOf(sample)
  const idle = verdicts.idleParts(shape)
  const subjects = subjectsWithout(shape, idle)
  const families = subjects.filter(({ isFamily }) => isFamily)
  const isNested = verdicts.isNested(shape)
  const isAstray = memory.knowsStraight(shape) && leadsDeeper(shape.url, links, memory.knows)
  const sameness = samenessOf({ shape, isOdd: isNested || isAstray, sample, said }, families, lessons, memory)
  const { weight, isAlike, isByDepth } = sameness
  const kinship = kinshipOf({ url: shape.url, referrer, sample }, families, lessons, memory)
  const isKin = weight === 0 && kinship.isKin
  const isNew = weight === 0 && !isAlike && !isKin
  const countsAsKin = isKin && kinship.counts()
  if (isNew) lessons.noteDistinct(standsFor)

  /** Whether it says the same as pages that differ in one part, or whether parts matter that were thought idle. */
  const explainByParts = (): Explanation => {
    const former = idle.size === 0 ? undefined : memory.isSaidWithout(shape, idle, said)
    if (former === true) return 'token'
    if (former === false) {
      for (const part of shape.parts) if (idle.has(part.name)) weighPart(part, 0)
      weigh(BARE, PLAIN, 0, shape.template)
    }
    for (const part of shape.parts.filter(({ name }) => !idle.has(name)).slice(0, MAX_PARTS)) {
      const isSame = memory.isSaidWithout(shape, new Set([...idle, part.name]), said)
      if (isSame === undefined) continue
      const evidence = isSame ? partWeight(part, shape, size) : 0
      weighPart(part, evidence)
      if (isSame && evidence >= NEARLY_SAME) return part.isRandom || part.isSession ? 'token' : 'parameter'
    }
    return undefined
  }
  const explainByEnding = (): Explanation => {
    const known = memory.isSaidByEnding(shape, said)
    if (known === undefined) return undefined
    // The page whose path has another folder in front may have come first: then that one is odd, and not this one.
    const isOdd = known.isLonger && (shape.folderNames[0]?.length ?? 0) > 1 && size > SAMPLE_SIZES.nothing
    const isSame = known.isSame && (sameness.isCopy || sameness.overlooksEchoes || isOdd)
    const full = isOdd ? FULL : sameness.full
    // A line that proves nothing speaks against nothing either.
    if (!isSame || full > 0) weigh(ENDING, VARIED, isSame ? full : 0, shape.template)
    return isSame && full >= NEARLY_SAME ? 'folders' : undefined
  }
  const explainByDetour = (): Explanation => {
    const isSame = memory.isSaidStraight(shape, said)
    if (isSame === undefined || sameness.full === 0) return undefined
    if (!isSame) {
      weigh(DETOUR, DETOURED, 0, shape.template)
      return undefined
    }
    // What that page said may be remembered less well than here, and then it speaks neither for nor against.
    if (!sameness.isCopy || !isAstray) return undefined
    // One text under many addresses is a stub.
    if (isSaidAgain(lessons.open(DETOUR), sameness.content)) return undefined
    weigh(DETOUR, DETOURED, sameness.full, shape.template)
    return 'folders'
  }
  const explainByBareness = (): Explanation => {
    const isSame = memory.knowsBare(shape) ? memory.isSaidBare(shape, said) : undefined
    if (isSame === undefined) return undefined
    presume(lessons.open(BARE))
    weigh(BARE, PLAIN, isSame ? FULL : 0, shape.template)
    return isSame ? 'token' : undefined
  }
  const explanation = explainByParts() ?? explainByBareness() ?? explainByEnding() ?? explainByDetour()
  const isExplained = (by: Explanation): boolean => weight > 0 && explanation === by

  const rule = ruleAgainst(shape.url.length, shape)
  if (rule !== undefined) {
    presume(lessons.open(hashOf(rule.id)))
    weigh(hashOf(rule.id), PLAIN, weight, rule.id)
  }
  if (isNested && (weight === 0 || isExplained('folders'))) weigh(NESTED, VARIED, weight, shape.template)
  if (!isExplained('token') && !isExplained('folders')) {
    // Where those before it had the same template it is that which they have in common, and not their place.
    const isOfKinKind = subjects.some(({ id, isWide }) => !isWide && (lessons.find(id)?.kin ?? 0) > 0)
    // What is new behind a part that was thought to be idle speaks for the queries with that part, too.
    const others = weight > 0 || idle.size === 0 ? [] : shape.subjects
    for (const { id, demand, kind, isWide, isFamily } of [...subjects, ...others]) {
      if (isKin && (!isWide || (isFamily && !isOfKinKind)))
        change(id, demand, (lesson) => countKin(lesson, countsAsKin))
      // That a page is new by a number or a name only speaks for its place where all are, and nowhere else.
      if ((isWide ? isAlike || isKin : isKin && !isAlike) && lessons.isVaried()) continue
      const isAgain = weight > 0 && isSaidAgain(lessons.open(id), sameness.content)
      const share = isAgain || !isWide ? weight : weight * FIRST_TIME
      // Depth without end has ever new folders: that pages of one template or one folder are alike is no sign of it.
      if (!isByDepth) weigh(id, demand, share, kind, { isAlike: isAlike && !isWide, isKin })
      else if (isWide) weigh(id, demand, share, shape.folders.at(-1) ?? kind)
      else weigh(id, demand, 0, kind, { isAlike: true, isKin })
    }
  }
  if (isNew && referrer !== undefined) {
    for (const { id, demand } of narrowSubjectsOf(referrer)) {
      const { alike = 0, kin = 0 } = lessons.find(id) ?? {}
      if (alike + kin > 0) change(id, demand, breakRow)
    }
  }
  sameness.remember()
  kinship.remember()
  memory.remember(shape, idle, said)
  taught.isAlias = weight > 0 && explanation !== undefined
  taught.isCopy = weight > 0
  return taught
}

/** What the latest pages that others were found on are of: what a page leads to comes together. */
const referrers = createLru<NormalizedUrl, readonly Subject[]>(REFERRERS_KEPT)

function narrowSubjectsOf(url: NormalizedUrl): readonly Subject[] {
  const known = referrers.get(url)
  if (known !== undefined) return known
  const shape = shapeOf(url)
  const subjects = subjectsOf(shape, shape.keys).filter(({ isWide }) => !isWide)
  referrers.set(url, subjects)
  return subjects
}

/** 32 bits of each degree. */
function saidOf({ whole, undated, exact }: ContentSample): Said {
  return { whole: lowBits(whole), undated: lowBits(undated), exact: lowBits(exact) }
}

const lowBits = (hash: string): number => Number.parseInt(hash.slice(8), 16)

/**
 * A session by name and value proves it with one pair of pages, one by either with two, any other part with three. That
 * the order of parameters counts is rare enough for one pair.
 */
function partWeight(
  { name, isSession, isRandom }: UrlPart,
  { isNumbered, parameters }: UrlShape,
  size: string,
): number {
  if (isSession) return isRandom ? 3 * FULL : TELLING
  if (size >= SAMPLE_SIZES.long) {
    if (name === ORDER) return 3 * FULL
    return isRandom ? TELLING : FULL
  }
  // Numbered pages of a line that they have in common are pages all the same.
  return size === SAMPLE_SIZES.nothing || (isNumbered && parameters > 0) ? 0 : SAME_LINE
}
