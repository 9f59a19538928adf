/**
 * Whether a page says the same as others before it, in which sense, and how much that proves. What is overlooked depends
 * on how odd its address is: see `suspicion.ts`.
 */
import { hammingDistance, SAMPLE_SIZES } from '../../content/index.ts'
import type { ContentSample } from '../../model/index.ts'
import type { UrlShape } from '../../url/index.ts'
import { FULL, TELLING, type Lessons } from './lessons.ts'
import type { Memory, Said } from './memory.ts'
import type { Subject } from './subjects.ts'
import { suspicionOf } from './suspicion.ts'

export interface Sameness {
  /** How much it proves that the page says the same as another, or nearly; 0 for a page that is new. */
  readonly weight: number
  /** How much it would prove, if it says the same. */
  readonly full: number
  /** Whether it is the same, rather than nearly. */
  readonly isCopy: boolean
  /** It is new, but only by a number, or by its address. */
  readonly isAlike: boolean
  /** Nothing but the depth of its path makes it a copy. */
  readonly isByDepth: boolean
  /** Words that repeat the address count for nothing. */
  readonly overlooksEchoes: boolean
  /** Of what it has in common with others, 16 bits. */
  readonly content: number
  /** Has it kept in mind what the page said, once all is weighed. */
  remember(): void
}

/** How much a line proves that says the same as another page with more or fewer parameters, or but for a date. */
export const SAME_LINE = 0.75 * FULL
/** The same but for a few words. */
export const NEARLY_SAME = 0.75 * FULL
/** Next to no words. */
const SAME_NOTHING = 1
const MAX_BITS_APART = 3

/**
 * `isOdd`: the folders of its path are. `families` are the subjects within which pages are compared that are nearly the
 * same.
 */
export function samenessOf(
  page: { shape: UrlShape; isOdd: boolean; sample: ContentSample; said: Said },
  families: readonly Subject[],
  lessons: Lessons,
  memory: Memory,
): Sameness {
  const { shape, isOdd, sample, said } = page
  const { overlooksDates, overlooksEchoes, overlooksWords, heedsLines, isOnlyDeep } = suspicionOf(shape, isOdd, sample)
  /** Whether copies of the same kind said it: these are kept in mind when the page is forgotten that said it first. */
  const isSaidByCopies = (content: number): boolean =>
    families.some(({ id }) => lessons.find(id)?.said.includes(content & 0xffff) === true)
  const hasOtherKeys =
    shape.parameters > 0 && (memory.hasContentWithOtherKeys(said.exact, shape) || isSaidByCopies(said.exact))
  const size = sample.exact.charAt(0)
  const isLong = size >= SAMPLE_SIZES.long

  const isSaid = (content: number): boolean => memory.hasContent(content) || isSaidByCopies(content)
  /** What it says that was said before; undefined for a page that is new. */
  const repeated = (): number | undefined => {
    if (memory.hasWhole(said) || isSaidByCopies(said.whole)) return said.whole
    if (overlooksDates && isSaid(said.undated)) return said.undated
    return (overlooksEchoes && isSaid(said.exact)) || hasOtherKeys ? said.exact : undefined
  }
  const copied = repeated()

  /** A calendar is known by its addresses, a filter by what is the same without it: two such copies are enough. */
  const isTelling = shape.hasDate || (hasOtherKeys && isLong)
  const strong = isTelling ? TELLING : FULL
  const lineWeight = (): number => {
    if (heedsLines) return strong
    if (hasOtherKeys && !shape.isNumbered) return SAME_LINE
    // Where a date in the text is all that is odd, it must be what differs.
    return sample.hasDate && copied === said.undated ? SAME_LINE : 0
  }
  const line = isLong ? strong : lineWeight()
  const full = size === SAMPLE_SIZES.nothing ? Math.min(line, SAME_NOTHING) : line

  /** What it says but for numbers; in a line or two they are part of `exact`, and not of the fingerprint. */
  const unnumbered = isLong || sample.near === null ? said.exact : Number.parseInt(sample.near.slice(8), 16)
  const near = sample.near === null || !overlooksWords ? undefined : BigInt(`0x${sample.near}`)
  const nearness = ({ id, nearCounts }: Subject): number => {
    if (near === undefined) return 0
    const others = lessons.find(id)?.near ?? []
    const apart = Math.min(...others.map((other) => hammingDistance(other, near)))
    if (size === SAMPLE_SIZES.ample) return apart <= MAX_BITS_APART && nearCounts ? NEARLY_SAME : 0
    // In a line or two only what the machine filled in may differ.
    return !isLong && apart === 0 && overlooksEchoes ? NEARLY_SAME : 0
  }
  const weight = copied === undefined ? Math.max(0, ...families.map(nearness)) : full

  return {
    weight,
    full,
    isCopy: copied !== undefined,
    isAlike: weight === 0 && (copied !== undefined || memory.hasContent(unnumbered)),
    isByDepth: weight > 0 && isOnlyDeep && (!isLong || copied !== said.whole),
    overlooksEchoes,
    content: (copied ?? Number((near ?? 0n) & 0xffffn)) & 0xffff,
    remember() {
      memory.rememberContent(shape, said, overlooksDates)
      if (unnumbered !== said.exact) memory.rememberUnnumbered(unnumbered)
      if (copied !== undefined || near === undefined) return
      for (const family of families) lessons.gather(family.id, near)
    },
  }
}
