/**
 * How odd a page's address is, and what follows for what its text proves. Sites that were made by a program for a test or
 * as a template have hundreds of pages under plain names and numbers that say the same but for a name or a number; none
 * of them may be held back. So where an address is plain, only the same title and text to the letter make a page a copy,
 * and a line or two prove nothing. Where it is odd, more is overlooked, as far as the oddness explains it.
 */
import type { ContentSample } from '../../model/index.ts'
import type { UrlShape } from '../../url/index.ts'

export interface Suspicion {
  /** The same but for dates, and for numbers in rows, is the same. */
  readonly overlooksDates: boolean
  /** The same but for any numbers, and for words that repeat the address, is the same. */
  readonly overlooksEchoes: boolean
  /** Texts of some length that are nearly the same prove something. */
  readonly overlooksWords: boolean
  /** A line or two prove something. */
  readonly heedsLines: boolean
  /** Nothing but its depth is odd. */
  readonly isOnlyDeep: boolean
}

/** From here on a path is deep. Numbers aside: trees are numbered, too. */
const DEEP_NAMES = 4

/** `isNested`: a folder lies in itself or in another one, or the page leads through ever more of them. */
export function suspicionOf(shape: UrlShape, isNested: boolean, { hasDate }: ContentSample): Suspicion {
  if (isPlain(shape, isNested))
    return {
      overlooksDates: hasDate,
      overlooksEchoes: false,
      overlooksWords: false,
      heedsLines: false,
      isOnlyDeep: false,
    }
  const inPath = shape.parts.filter(({ name }) => !shape.keys.includes(name))
  const hasToken = inPath.some(({ isRandom, isSession }) => isRandom || isSession)
  const isBent = isBentPath(shape, isNested)
  return {
    overlooksDates: hasDate || shape.hasDate || hasToken || shape.parameters > 0,
    overlooksEchoes: isBent,
    overlooksWords: shape.hasDate || isBent || hasToken,
    heedsLines: shape.hasDate || isBent || inPath.some(({ isSession }) => isSession),
    isOnlyDeep: isBent && !isNested && !shape.hasDate && !hasToken,
  }
}

/** Whether an address is made of names and numbers, and not many of them. */
export function isPlain(shape: UrlShape, isNested: boolean): boolean {
  return shape.parts.length === 0 && !shape.hasDate && !isBentPath(shape, isNested)
}

/** With a query, depth is no explanation. */
const isBentPath = ({ names, parameters }: UrlShape, isNested: boolean): boolean =>
  isNested || (names >= DEEP_NAMES && parameters === 0)
