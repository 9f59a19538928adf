/**
 * The pages of a host that were read: what they said, and under which addresses. An address is remembered whole, without
 * each of its parts, and by its ends, so that another one for the same page is known as such. Bounded; of older pages
 * it knows some in full, and nearly all by the hash of their address.
 */
import type { UrlPart, UrlShape } from '../../url/index.ts'
import type { Address, End } from './address.ts'
import type { Reader, Writer } from './codec.ts'
import { hashOf } from './hash.ts'
import { createHashTable } from './hash-table.ts'
import { createKnownSet } from './known-set.ts'

/** What a page said, in three degrees of sameness: see `ContentSample`. 32 bits each. */
export interface Said {
  readonly whole: number
  readonly undated: number
  readonly exact: number
}

/** Whether there is a page of this form: see `formsOf`. */
export type HasForm = (form: number) => boolean

/** Parts of one URL that are looked at while nothing is known of them. */
export const MAX_PARTS = 4
/** Endings of one path, the shortest aside, by which it is found when its end turns up as a path of its own. */
const MAX_ENDINGS = 2

export interface Memory {
  /** Whether the last page that says the same by `exact` says it to the letter. */
  hasWhole(said: Said): boolean
  /** Whether a page said this, by `undated` or `exact`. */
  hasContent(content: number): boolean
  /** Whether the first page that said this has the same path and other parameters. */
  hasContentWithOtherKeys(content: number, shape: UrlShape): boolean
  /** Whether a page that differs in these parts only said the same; undefined if none is known. */
  isSaidWithout(shape: UrlShape, parts: ReadonlySet<string>, said: Said): boolean | undefined
  /** Whether the page that `knowsEnding` is about said the same, and whether its path is longer than this one. */
  isSaidByEnding(address: Address, said: Said): { isSame: boolean; isLonger: boolean } | undefined
  /** Whether a page was let pass that differs in these parts only; or is among others, known by their forms. */
  knowsWithout(shape: UrlShape, parts: ReadonlySet<string>, among?: HasForm): boolean
  /** Whether a page was read whose path is the end of this one, or ends like it behind a wrong base; or is among others. */
  knowsEnding(address: Address, among?: HasForm): boolean
  /** Whether a page was let pass that has this path but for the folders before its end; or is among others. */
  knowsStraight(address: Address, among?: HasForm): boolean
  /** Whether that page said the same; undefined if none is known. */
  isSaidStraight(address: Address, said: Said): boolean | undefined
  /** Whether one of the host's outermost folders lies in another. */
  hasOutermostWithin(address: Address): boolean
  /** Whether this very URL was let pass. */
  knowsItself(address: Address): boolean
  /** Whether this URL, which has no parts, is another for a page that was let pass with a session. */
  knowsBare(address: Address): boolean
  /** Whether a page that is known by this URL said the same; undefined if none is. */
  isSaidBare(address: Address, said: Said): boolean | undefined
  /** Whether so many pages were read that some are forgotten. */
  readonly hasForgotten: boolean
  /** Whether pages were let pass whose URLs have a session. */
  readonly hasSessions: boolean
  /** The URL will be asked for; these parts of it make no difference. */
  letPass(address: Address, idle: ReadonlySet<string>): void
  /** A page was read; without `said` only that it was. */
  remember(address: Address, idle: ReadonlySet<string>, said: Said | undefined): void
  /** What a page said; without `undated` where nobody will ask for it. */
  rememberContent(shape: UrlShape, said: Said, withUndated: boolean): void
  /** What a line says but for its numbers. */
  rememberUnnumbered(content: number): void
  /** Whether there is a page of this form. */
  readonly knows: HasForm
  /** A page said the same as another of its place but for names and links. */
  rememberKin(page: number): void
  isKin(page: number): boolean
  write(writer: Writer): void
  read(reader: Reader): void
}

/** With so many rooms, now: see `rooms.ts`. */
export function createMemory(rooms: () => number): Memory {
  /** What was said; with it some bits of the path and of the parameters of the first time, and of `whole` the last time. */
  const contents = createHashTable({ recent: 160, sampled: 168, bytes: 3 }, rooms)
  /** Addresses, and what they said: a byte of `exact`, and one of `undated`. */
  const said = createHashTable({ recent: 128, sampled: 160, bytes: 2 }, rooms)
  const known = createKnownSet(rooms)
  let hasSessions = false

  const keep = (content: number, whole: number, shape: UrlShape): void => {
    const first = contents.get(content)
    const address = first === undefined ? (pathBits(shape) << KEY_BITS) | keyBits(shape) : first >> WHOLE_BITS
    contents.set(content, (address << WHOLE_BITS) | wholeBits(whole))
  }
  const note = (form: number, content: Said | undefined): void => {
    if (content !== undefined) said.set(form, bytesOf(content))
    known.add(form)
  }
  /**
   * Calls back with what a page is known as whose path ends like this one, the longest common end first, until told to
   * stop. That two paths have an end in common means something only where the end begins with an outermost folder:
   * `/de/mod/a` and `/en/mod/a` are two pages.
   */
  const walkEnds = ({ ends, asEnd }: Address, visit: (form: number) => boolean): void => {
    if (!visit(asEnd)) return
    for (let index = ends.length - 1; index >= 0; index--) {
      const end = ends[index] as End
      if (!visit(end.whole) || (known.has(end.first) && !visit(end.asEnd))) return
    }
  }
  return {
    hasWhole({ whole, exact }) {
      const last = contents.get(exact)
      return last !== undefined && wholeBits(last) === wholeBits(whole)
    },
    hasContent: (content) => contents.get(content) !== undefined,
    hasContentWithOtherKeys(content, shape) {
      const first = contents.get(content)
      if (first === undefined || first >> (WHOLE_BITS + KEY_BITS) !== pathBits(shape)) return false
      return ((first >> WHOLE_BITS) & (2 ** KEY_BITS - 1)) !== keyBits(shape)
    },
    isSaidWithout(shape, parts, now) {
      const form = shape.without(parts)
      const bare = said.get(hashOf(form))
      const others = [...parts].flatMap((name) => said.get(hashOf(lacking(form, name))) ?? [])
      if (bare === undefined && others.length === 0) return undefined
      // A page that repeats the value of a parameter may be about it; not if it says the same without it. And one that
      // names all values there are says the same without it, be it an echo of its address or not.
      if (bare !== undefined && (isExact(bare, now) || isUndated(bare, now))) return true
      return others.some((content) => isUndated(content, now))
    },
    isSaidByEnding(address, now) {
      let content: number | undefined
      let isLonger = false
      walkEnds(address, (form) => {
        content = said.get(form)
        isLonger = form === address.asEnd
        return content === undefined
      })
      return content === undefined ? undefined : { isSame: isExact(content, now), isLonger }
    },
    knowsWithout: (shape, parts, among = known.has) => formsWithout(shape, parts).some((form) => among(hashOf(form))),
    knowsEnding(address, among = known.has) {
      let isKnown = false
      walkEnds(address, (form) => !(isKnown = among(form)))
      return isKnown
    },
    knowsStraight: ({ straight }, among = known.has) => straight.some(among),
    isSaidStraight({ straight }, now) {
      const contents = straight.flatMap((form) => said.get(form) ?? [])
      return contents.length === 0 ? undefined : contents.some((content) => isExact(content, now))
    },
    hasOutermostWithin: ({ inner }) => inner.some((folder) => known.has(folder)),
    knowsItself: ({ itself }) => known.has(itself),
    knowsBare(address) {
      if (!hasSessions || address.parts.length > 0 || known.has(address.itself)) return false
      return known.has(address.whole) || known.has(withAnySession(address, NO_PARTS))
    },
    isSaidBare(address, now) {
      const content = said.get(address.whole) ?? said.get(withAnySession(address, NO_PARTS))
      return content === undefined ? undefined : isExact(content, now)
    },
    get hasForgotten() {
      return known.hasForgotten
    },
    get hasSessions() {
      return hasSessions
    },
    letPass(address, idle) {
      hasSessions ||= address.parts.some((part) => idle.has(part.name) && mayBeSession(part))
      known.add(hashOf(address.without(idle)))
      known.add(address.itself)
    },
    rememberContent(shape, { whole, undated, exact }, withUndated) {
      keep(exact, whole, shape)
      if (withUndated) keep(undated, whole, shape)
    },
    rememberUnnumbered(content) {
      contents.set(content, contents.get(content) ?? 0)
    },
    knows: known.has,
    rememberKin: known.add,
    isKin: known.has,
    remember(address, idle, content) {
      const { parts, ends, outermost } = address
      note(idle.size === 0 ? address.whole : hashOf(address.without(idle)), content)
      if (outermost !== undefined) known.add(outermost)
      if (parts.length > 0 || ends.length > 0 || hasSessions) known.add(address.itself)
      for (const { asEnd } of ends.slice(1, 1 + MAX_ENDINGS)) note(asEnd, content)
      for (const part of parts.filter(({ name }) => !idle.has(name)).slice(0, MAX_PARTS)) {
        const left = new Set([...idle, part.name])
        note(hashOf(lacking(address.without(left), part.name)), content)
        if (mayBeSession(part)) note(withAnySession(address, left), content)
      }
    },
    write(writer) {
      writer.byte(Number(hasSessions))
      for (const table of [contents, said, known]) table.write(writer)
    },
    read(reader) {
      hasSessions = reader.byte() === 1
      for (const table of [contents, said, known]) table.read(reader)
    },
  }
}

/** Addresses that a page has which differs in these parts only: without them from the beginning, or with other values. */
function formsWithout(shape: UrlShape, parts: ReadonlySet<string>): string[] {
  const form = shape.without(parts)
  return [...[...parts].map((name) => lacking(form, name)), form]
}

/**
 * By which `knowsWithout`, `knowsEnding` and `knowsStraight` find the page of an address, none of whose parts is known to
 * be idle.
 */
export function formsOf(address: Address): number[] {
  const forms = [address.whole, ...address.ends.slice(1, 1 + MAX_ENDINGS).map(({ asEnd }) => asEnd)]
  for (const { name } of address.parts.slice(0, MAX_PARTS))
    forms.push(hashOf(lacking(address.without(new Set([name])), name)))
  return forms
}

/** As an address has them. */
const bytesOf = ({ exact, undated }: Said): number => ((exact & 255) << 8) | (undated & 255)
const isExact = (bytes: number, { exact }: Said): boolean => bytes >> 8 === (exact & 255)
const isUndated = (bytes: number, { undated }: Said): boolean => (bytes & 255) === (undated & 255)

const NO_PARTS: ReadonlySet<string> = new Set()
const mayBeSession = ({ isSession, isRandom }: UrlPart): boolean => isSession || isRandom
/** As which a page is known that has a session beside what is left without these parts. */
const withAnySession = (shape: UrlShape, parts: ReadonlySet<string>): number =>
  hashOf(lacking(shape.without(parts), '*'))

/** A newline is in no URL, so this is not taken for one. */
const lacking = (form: string, part: string): string => `${form}\n${part}`

const PATH_BITS = 7
const KEY_BITS = 5
const WHOLE_BITS = 12
const pathBits = ({ template }: UrlShape): number => hashOf(template) & (2 ** PATH_BITS - 1)
/** How many there are, first of all: more or fewer are never taken for the same. */
const keyBits = ({ keys }: UrlShape): number => (Math.min(keys.length, 7) << 2) | (hashOf(keys.join('&')) & 3)
const wholeBits = (whole: number): number => whole % 2 ** WHOLE_BITS
