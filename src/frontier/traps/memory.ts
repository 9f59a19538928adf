/**
 * The pages of a host that were read: what they said, and under which addresses. An address is remembered whole, without
 * each of its parts, and by its ends, so that another one for the same page is known as such. Bounded; of older pages
 * it knows some in full, and nearly all by the hash of their address.
 */
import { fingerprint } from '../../base/index.ts'
import type { NormalizedUrl } from '../../model/index.ts'
import { originOf, type UrlShape } from '../../url/index.ts'
import type { Reader, Writer } from './codec.ts'
import { createHashTable } from './hash-table.ts'
import { createKnownSet } from './known-set.ts'

/** What a page said, in three degrees of sameness: see `ContentSample`. 32 bits each. */
export interface Said {
  readonly whole: number
  readonly undated: number
  readonly exact: number
}

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
  /** Whether the page that `knowsEnding` is about said the same. */
  isSaidByEnding(url: NormalizedUrl, shape: UrlShape, said: Said): boolean | undefined
  /** Whether a page was let pass that differs in these parts only. */
  knowsWithout(shape: UrlShape, parts: ReadonlySet<string>): boolean
  /** Whether a page was read whose path is the end of this one, or ends like it behind a wrong base. */
  knowsEnding(url: NormalizedUrl, shape: UrlShape): boolean
  /** Whether one of the host's outermost folders lies in another. */
  hasOutermostWithin(shape: UrlShape): boolean
  /** Whether this very URL was let pass. */
  knowsItself(url: NormalizedUrl): boolean
  /** Whether so many pages were read that some are forgotten. */
  readonly hasForgotten: boolean
  /** The URL will be asked for; these parts of it make no difference. */
  letPass(url: NormalizedUrl, shape: UrlShape, idle: ReadonlySet<string>): void
  remember(url: NormalizedUrl, shape: UrlShape, idle: ReadonlySet<string>, said: Said): void
  /** What a page said; without `undated` where nobody will ask for it. */
  rememberContent(shape: UrlShape, said: Said, withUndated: boolean): void
  write(writer: Writer): void
  read(reader: Reader): void
}

export function createMemory(): Memory {
  /** What was said; with it some bits of the path and of the parameters of the first time, and of `whole` the last time. */
  const contents = createHashTable(160, 168, 3)
  /** Addresses, and a byte of what they said. */
  const said = createHashTable(128, 160, 1)
  const known = createKnownSet()

  const keep = (content: number, whole: number, shape: UrlShape): void => {
    const first = contents.get(content)
    const address = first === undefined ? (pathBits(shape) << KEY_BITS) | keyBits(shape) : first >> WHOLE_BITS
    contents.set(content, (address << WHOLE_BITS) | wholeBits(whole))
  }
  const note = (form: string, content: number): void => {
    said.set(hashOf(form), content & 255)
    known.add(hashOf(form))
  }
  const endingsOf = (url: NormalizedUrl, { endings }: UrlShape): string[] => {
    const origin = originOf(url)
    return endings.map((ending) => origin + ending)
  }
  const isOutermost = (name: string): boolean => known.has(hashOf(asOutermost(name)))
  /**
   * As what a page is known whose path ends like this one, the longest common end last. That two paths have an end in
   * common means something only where the end begins with an outermost folder: `/de/mod/a` and `/en/mod/a` are two pages.
   */
  const formsByEnding = (url: NormalizedUrl, shape: UrlShape): string[] => {
    const forms = endingsOf(url, shape).flatMap((form, index) => {
      const [, first = ''] = (shape.endings[index] as string).split('/', 2)
      return isOutermost(first) ? [asEnding(form), form] : [form]
    })
    return [...forms, asEnding(url)]
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
    isSaidWithout(shape, parts, { undated, exact }) {
      const form = shape.without(parts)
      // A page that repeats the value of a parameter may be about it; not if it says the same without it.
      const known = [...parts].map((name) => ({ content: said.get(hashOf(lacking(form, name))), now: undated }))
      known.push({ content: said.get(hashOf(form)), now: exact })
      if (known.every(({ content }) => content === undefined)) return undefined
      return known.some(({ content, now }) => content === (now & 255))
    },
    isSaidByEnding(url, shape, { exact }) {
      const content = formsByEnding(url, shape)
        .map((form) => said.get(hashOf(form)))
        .findLast((known) => known !== undefined)
      return content === undefined ? undefined : content === (exact & 255)
    },
    knowsWithout: (shape, parts) => formsWithout(shape, parts).some((form) => known.has(hashOf(form))),
    knowsEnding: (url, shape) => formsByEnding(url, shape).some((form) => known.has(hashOf(form))),
    hasOutermostWithin: ({ folderNames }) => folderNames.slice(1).some((name) => name.length > 1 && isOutermost(name)),
    knowsItself: (url) => known.has(hashOf(itself(url))),
    get hasForgotten() {
      return known.hasForgotten
    },
    letPass(url, shape, idle) {
      known.add(hashOf(shape.without(idle)))
      known.add(hashOf(itself(url)))
    },
    rememberContent(shape, { whole, undated, exact }, withUndated) {
      keep(exact, whole, shape)
      if (withUndated) keep(undated, whole, shape)
    },
    remember(url, shape, idle, { undated, exact }) {
      note(shape.without(idle), exact)
      const [outermost] = shape.folderNames
      if (outermost !== undefined) known.add(hashOf(asOutermost(outermost)))
      if (shape.parts.length > 0 || shape.endings.length > 0) known.add(hashOf(itself(url)))
      for (const form of endingsOf(url, shape).slice(1, 1 + MAX_ENDINGS)) note(asEnding(form), exact)
      for (const { name } of shape.parts.filter((part) => !idle.has(part.name)).slice(0, MAX_PARTS)) {
        note(lacking(shape.without(new Set([...idle, name])), name), undated)
      }
    },
    write(writer) {
      for (const table of [contents, said, known]) table.write(writer)
    },
    read(reader) {
      for (const table of [contents, said, known]) table.read(reader)
    },
  }
}

/** Addresses that a page has which differs in these parts only: without them from the beginning, or with other values. */
function formsWithout(shape: UrlShape, parts: ReadonlySet<string>): string[] {
  const form = shape.without(parts)
  return [...[...parts].map((name) => lacking(form, name)), form]
}

/** A newline is in no URL, so none of these is taken for one. */
const lacking = (form: string, part: string): string => `${form}\n${part}`
const itself = (url: string): string => `\n${url}`
const asEnding = (url: string): string => `\n…${url}`
const asOutermost = (folder: string): string => `\n/${folder}`

const PATH_BITS = 7
const KEY_BITS = 5
const WHOLE_BITS = 12
const pathBits = ({ template }: UrlShape): number => hashOf(template) % 2 ** PATH_BITS
const keyBits = ({ keys }: UrlShape): number => hashOf(keys.join('&')) % 2 ** KEY_BITS
const wholeBits = (whole: number): number => whole % 2 ** WHOLE_BITS

const KEY = { a: 0x9e3779b9, b: 0x85ebca6b }
const scratch = { hi: 0, lo: 0 }

/** 32 bits. The key is fixed: whoever finds two texts with one hash can fool nobody but their own host's crawl. */
export function hashOf(text: string): number {
  return fingerprint(text, KEY, scratch).lo
}
