/**
 * Resolves the links of pages. Most links of a page are spelled as on the page before, in the same folder: what was
 * resolved lately is remembered, for all pages of the thread, and found again without a string being made of it.
 * Every answer equals `normalizeUrl(reference, base)`.
 *
 * A reference is remembered together with as much of the base as it depends on: none if it is absolute, the origin if it
 * begins with a slash, and the folder otherwise; where it climbs (`../../x`), the folder that it climbs to, together with
 * what is left. One that depends on the very page (`?x`, `http:?x`) is not remembered. The memory is a table of fixed size, in which what comes later takes the place of what was there.
 */
import type { NormalizedUrl } from '../model/index.ts'
import { createInternedUrls } from './interned-urls.ts'
import { pathStart, queryStart } from './parts.ts'
import { hasOtherScheme, mayHaveScheme } from './plain.ts'
import { createAncestors, createResolver, serializeBase } from './resolver.ts'

export interface LinkResolver {
  /** The number of the URL that a reference leads to, until the next resolver is made; `NOWHERE` if it is none. */
  resolve(reference: string): number
  /**
   * The same for a piece of a page, without white space around it. `UNREADABLE` if it holds anything but visible ASCII,
   * or an ampersand: such a piece is to be decoded first.
   */
  resolvePiece(bytes: Buffer, start: number, end: number): number
  urlOf(id: number): NormalizedUrl
}

export const NOWHERE = 0
export const UNREADABLE = -1

/** With the table, about 10 MB for each thread that reads pages, when full. */
const LIMITS = { maxUrls: 32_768, maxCharacters: 4_194_304 }
/** A reference has four places in the table where it may stand. */
const SETS = 4_096
const WAYS = 4
/** Bytes of a reference; longer ones are not remembered. */
const MAX_REMEMBERED_LENGTH = 128
/** Folders and origins that the table may speak of. */
const MAX_BASES = 32_768

const HASH = 0x23
const AMPERSAND = 0x26
const DOT = 0x2e
const SLASH = 0x2f
const COLON = 0x3a
const QUESTION = 0x3f
const DELETE = 0x7f
const SPACE = 0x20

const ABSOLUTE = 'http://x'

const interned = createInternedUrls(LIMITS)
/** The number of each folder and origin. 0 stands for an empty place in the table, 1 for no base. */
const baseIds = new Map<string, number>()
const NO_BASE = 1
/** Never given twice, so that a resolver that is still in use when all is forgotten does not take one for another. */
let lastBaseId = NO_BASE

/**
 * The table: of each reference its hash, its base, its length and the URL that it leads to, side by side, so that the four
 * places of a reference are one line of the processor's cache; and its bytes, to be compared.
 */
const FIELDS = 4
const table = new Int32Array(SETS * WAYS * FIELDS)
const references = new Uint8Array(SETS * WAYS * MAX_REMEMBERED_LENGTH)
/** The way in which the next reference of any set is put. */
let turn = 0

function forget(): void {
  interned.forget()
  baseIds.clear()
  table.fill(0)
}

function baseId(base: string): number {
  const known = baseIds.get(base)
  if (known !== undefined) return known
  baseIds.set(base, ++lastBaseId)
  return lastBaseId
}

export function createLinkResolver(base: string): LinkResolver {
  if (interned.isFull() || baseIds.size >= MAX_BASES) forget()
  const resolveReference = createResolver(base)
  const resolve = (reference: string): number => {
    const url = resolveReference(reference)
    return url === undefined ? NOWHERE : interned.idOf(url)
  }
  const self = serializeBase(base)
  const bases = self === undefined ? undefined : basesOf(self)
  let own: number | undefined

  return {
    resolve,
    urlOf: (id) => interned.urlOf(id),
    resolvePiece(bytes, start, end) {
      let rest = start
      let levels = 0
      while (rest + 1 < end && bytes[rest] === DOT) {
        if (bytes[rest + 1] === SLASH) rest += 2
        else if (rest + 2 < end && bytes[rest + 1] === DOT && bytes[rest + 2] === SLASH) {
          rest += 3
          levels++
        } else break
      }
      let hash = 0
      let at = rest
      for (; at < end; at++) {
        const byte = bytes[at] as number
        if (byte === HASH) break
        if (byte <= SPACE || byte >= DELETE || byte === AMPERSAND) return UNREADABLE
        hash = Math.imul(hash ^ byte, 0x0100_0193)
      }
      if (at === start) return (own ??= resolve(''))
      const first = bytes[start] as number
      if (bases === undefined || first === QUESTION || at - start > MAX_REMEMBERED_LENGTH) {
        return resolve(bytes.toString('latin1', start, at))
      }
      const base =
        rest > start
          ? bases.ancestor(levels)
          : first === SLASH
            ? bases.origin
            : isAbsolute(bytes, start, at)
              ? NO_BASE
              : bases.folder
      hash = Math.imul(hash ^ (hash >>> 15) ^ base, 0x2c1b_3c6d)
      const set = ((hash ^ (hash >>> 17)) & (SETS - 1)) * WAYS
      const length = at - rest
      for (let place = set; place < set + WAYS; place++) {
        const entry = place * FIELDS
        if (table[entry] !== hash || table[entry + 1] !== base || table[entry + 2] !== length) continue
        if (isRemembered(place, bytes, rest, length)) return table[entry + 3] as number
      }
      const reference = bytes.toString('latin1', start, at)
      const target = resolve(reference)
      if (base === NO_BASE || isIndependent(reference)) {
        const place = set + (turn++ & (WAYS - 1))
        references.set(bytes.subarray(rest, at), place * MAX_REMEMBERED_LENGTH)
        table.set([hash, base, length, target], place * FIELDS)
      }
      return target
    },
  }
}

/** The numbers of what the references of a page may depend on. */
interface Bases {
  readonly origin: number
  readonly folder: number
  /** The folder so many levels up. Where a reference has climbed, nothing that follows is a scheme or an origin. */
  ancestor(levels: number): number
}

function basesOf(self: string): Bases {
  const origin = self.slice(0, pathStart(self))
  const ancestors = createAncestors(self.slice(0, queryStart(self)), origin.length)
  const climbed: number[] = []
  return {
    origin: baseId(origin),
    folder: baseId(ancestors(0)),
    ancestor: (levels) => (climbed[levels] ??= baseId(`./${ancestors(levels)}`)),
  }
}

function isRemembered(place: number, bytes: Uint8Array, start: number, length: number): boolean {
  const first = place * MAX_REMEMBERED_LENGTH
  let at = 0
  while (at < length && references[first + at] === bytes[start + at]) at++
  return at === length
}

/** Whether `http://` or `https://` stands here. */
function isAbsolute(bytes: Uint8Array, start: number, end: number): boolean {
  if (bytes[start] !== 0x68 || end - start < ABSOLUTE.length) return false
  for (let at = 1; at < 4; at++) if (bytes[start + at] !== ABSOLUTE.charCodeAt(at)) return false
  const colon = bytes[start + 4] === 0x73 ? start + 5 : start + 4
  return bytes[colon] === COLON && bytes[colon + 1] === SLASH && bytes[colon + 2] === SLASH
}

/** Whether nothing of the base but its folder counts; the first character is known to be visible, and no `?` or `#`. */
function isIndependent(reference: string): boolean {
  return !mayHaveScheme(reference) || hasOtherScheme(reference)
}
