/**
 * What can be learned about a URL besides its parts: the subjects of lessons, the most particular first. A lesson about
 * a folder is not for a page whose own template has proved good: see `judge` in host-traps.ts.
 */
import type { UrlShape } from '../../url/index.ts'
import { hashOf } from './hash.ts'
import type { Demand } from './lessons.ts'

export interface Subject {
  /** The hash of what names it. */
  readonly id: number
  /** In words, for a person: "the last 4 pages … said the same as others". */
  readonly words: string
  readonly demand: Demand
  /** Whether its pages are anything that lies in one place: then only few contents that come again and again are bad. */
  readonly isWide: boolean
  /** Which kind a page of this shape is to it. */
  readonly kind: string
  /** Fingerprints are compared within it. */
  readonly isFamily: boolean
  /** Whether long texts that are nearly the same prove something: where a program numbered them, not where they have names. */
  readonly nearCounts: boolean
}

/** Keys of one query that are looked at by themselves. */
const MAX_KEYS = 6
/** Folders by themselves, from the root. */
const MAX_FOLDERS = 3
/** The deepest first. */
const DEPTHS = [16, 12, 8, 6, 4, 3, 2, 1].map((least) => ({
  least,
  id: hashOf(`depth ${least}`),
  words: least === 1 ? 'this host' : `paths of ${least} segments or more`,
}))

const ROOT = hashOf('root')

/** Of a URL with these keys left in its query. */
export function subjectsOf(shape: UrlShape, keys: readonly string[]): Subject[] {
  return keys.length > 0 ? ofQuery(shape, keys) : ofPath(shape)
}

const NARROW: Demand = { kinds: 0, caution: 1 }
/** Combinations of parameters must differ, for one of them must not condemn the others. */
const QUERY: Demand = { kinds: 2, caution: 1 }
/** Nor one template its whole folder. */
const WIDE: Demand = { kinds: 3, caution: 2 }

function ofQuery({ template }: UrlShape, keys: readonly string[]): Subject[] {
  const set = keys.join('&')
  const common = { kind: set, isWide: false, isFamily: false, nearCounts: true }
  const subjects: Subject[] = [
    { ...common, id: hashOf(`${template}?${set}`), words: `${template}?${set}`, demand: NARROW },
  ]
  if (keys.length > 1) {
    for (const key of keys.slice(0, MAX_KEYS)) {
      subjects.push({ ...common, id: hashOf(`${template}?${key}=`), words: `${template} with ${key}=`, demand: QUERY })
    }
  }
  subjects.push({
    ...common,
    id: hashOf(`${template}?`),
    words: `${template} with any query`,
    demand: QUERY,
    isFamily: true,
  })
  return subjects
}

function ofPath({ template, isOpen, folders, depth }: UrlShape): Subject[] {
  const subjects: Subject[] = []
  if (isOpen) {
    const open = { isWide: false, isFamily: true, nearCounts: true }
    subjects.push({ ...open, id: hashOf(template), words: template, kind: template, demand: NARROW })
  }
  const wide = { kind: template, demand: WIDE, isWide: true, nearCounts: false }
  const outer = folders.slice(0, MAX_FOLDERS)
  for (const folder of outer.toReversed()) {
    subjects.push({ ...wide, id: hashOf(`${folder}**`), words: `${folder}…`, isFamily: folder === folders[0] })
  }
  if (outer.length === 0) subjects.push({ ...wide, id: ROOT, words: 'the root folder', isFamily: true })
  for (const { least, id, words } of DEPTHS) {
    if (least <= depth) subjects.push({ ...wide, id, words, isFamily: false })
  }
  return subjects
}
