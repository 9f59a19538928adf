/**
 * Pages that say the same but for names and links, and lead above all to others of their place: a program may have ever
 * more of these. So may an honest list of fixed length, whose next page is another such list. What tells them apart is
 * what is found on them: a list leads to pages that say something, a trap to more of its kind. So a page that is new and was
 * found on such a page speaks for that page's kind. And what the first of them leads to does not count yet, only what was
 * found on those: a first list also leads to what is in it, and that is read before.
 */
import type { ContentSample, NormalizedUrl } from '../../model/index.ts'
import { hashOf } from './hash.ts'
import type { Lessons } from './lessons.ts'
import type { Memory } from './memory.ts'
import type { Subject } from './subjects.ts'

export interface Kinship {
  /** It says the same as the latest page of its place that leads to others of it, but for names and links. */
  readonly isKin: boolean
  /** Whether it speaks against its kind. */
  counts(): boolean
  /** Has it kept in mind, once all is weighed. */
  remember(): void
}

/** `families` are the places of the page, the subjects within which pages are compared. */
export function kinshipOf(
  page: { url: NormalizedUrl; referrer: NormalizedUrl | undefined; sample: ContentSample },
  families: readonly Subject[],
  lessons: Lessons,
  memory: Memory,
): Kinship {
  const { url, referrer, sample } = page
  const prose = proseOf(sample)
  const places = families.flatMap(({ id }) => lessons.find(id) ?? [])
  const isKin = prose !== 0 && places.some((place) => isHalfSame(prose, place.prose))
  return {
    isKin,
    counts: () => isKin && referrer !== undefined && memory.isKin(idOf(referrer)),
    remember() {
      if (prose === 0) return
      // Of a site whose pages all are of one kind nothing follows from it.
      if (isKin && lessons.isVaried()) memory.rememberKin(idOf(url))
      for (const { id } of families) lessons.open(id).prose = prose
    },
  }
}

/** A newline is in no URL, so this is not taken for one. */
const idOf = (url: NormalizedUrl): number => hashOf(`\n=${url}`)

/** As lessons keep it. */
function proseOf({ prose }: ContentSample): number {
  return prose === null ? 0 : Number.parseInt(prose.slice(4, 8) + prose.slice(12), 16)
}

function isHalfSame(prose: number, other: number): boolean {
  if (other === 0) return false
  const different = prose ^ other
  return different >>> 16 === 0 || (different & 0xffff) === 0
}
