/**
 * Resolves the links of pages, with a number for each URL: the links of a page are mostly those of the page before. Every
 * answer equals `normalizeUrl(reference, base)`. Remembering references is left to the caller, who is told what of the
 * base they depend on.
 */
import type { NormalizedUrl, UrlNumbering } from '../model/index.ts'
import { createInternedUrls } from './interned-urls.ts'
import { pathStart, queryStart } from './parts.ts'
import { hasOtherScheme, mayHaveScheme } from './plain.ts'
import { createAncestors, createResolver, serializeBase, type Resolver } from './resolver.ts'

export interface LinkResolver {
  /** The number of the URL that a reference leads to, until the next resolver is made; `NOWHERE` if it is none. */
  resolve(reference: string): number
  /** The number of a URL that is known as such. */
  idOf(url: NormalizedUrl): number
  urlOf(id: number): NormalizedUrl
  /** In which these numbers hold. */
  readonly era: UrlNumbering['era']
  /** Undefined for a base that is no web URL. */
  readonly bases: ReferenceBases | undefined
}

/**
 * The numbers of what the references of a page may depend on: of its origin for one that begins with a slash, of the folder
 * that it climbs to for one that begins with `./` or `../`, together with what is left of it, and of its folder for any
 * other that is not absolute. Never 0 or 1, and never given twice.
 */
export interface ReferenceBases {
  /** Origin, folder, and the folders so many levels up, from 0 to `MAX_CLIMB`. */
  readonly ids: Int32Array
  /** Another one when the numbers of URLs are given anew. */
  readonly era: UrlNumbering['era']
}

export const NOWHERE = 0
export const MAX_CLIMB = 31

/** About 10 MB for each thread that reads pages, when full. */
const LIMITS = { maxUrls: 32_768, maxCharacters: 4_194_304 }
/** Folders and origins, and pages' bases, that have a number. */
const MAX_BASES = 32_768

const interned = createInternedUrls(LIMITS)
/** The number of each folder and origin, and the next one for whoever has climbed there: nothing that follows is a scheme. */
const baseIds = new Map<string, number>()
/** By the folder of the page. */
const basesOfFolders = new Map<string, ReferenceBases>()
let baseCharacters = 0
let lastBaseId = 0
let era: UrlNumbering['era'] = {}

function isFull(): boolean {
  return interned.isFull() || baseIds.size >= MAX_BASES || baseCharacters >= LIMITS.maxCharacters
}

function forget(): void {
  interned.forget()
  baseIds.clear()
  basesOfFolders.clear()
  baseCharacters = 0
  era = {}
}

export function createLinkResolver(base: string): LinkResolver {
  if (isFull()) forget()
  let resolveReference: Resolver | undefined
  return {
    resolve(reference) {
      resolveReference ??= createResolver(base)
      const url = resolveReference(reference)
      return url === undefined ? NOWHERE : interned.idOf(url)
    },
    idOf: interned.idOf,
    urlOf: interned.urlOf,
    era,
    bases: basesOf(base),
  }
}

/** Whether a reference without white space around it depends on nothing but what `ReferenceBases` says. */
export function isIndependentOfPage(reference: string): boolean {
  if (reference.charCodeAt(0) === 0x3f) return false
  // `http:x` is relative, if the page has that scheme.
  return !mayHaveScheme(reference) || hasOtherScheme(reference) || /^https?:\/\/./.test(reference)
}

function basesOf(base: string): ReferenceBases | undefined {
  const self = serializeBase(base)
  if (self === undefined) return undefined
  const page = self.slice(0, queryStart(self))
  const folder = page.slice(0, page.lastIndexOf('/') + 1)
  const known = basesOfFolders.get(folder)
  if (known !== undefined) return known
  const origin = self.slice(0, pathStart(self))
  const ancestors = createAncestors(page, origin.length)
  const ids = new Int32Array(MAX_CLIMB + 3)
  ids[0] = baseId(origin)
  ids[1] = baseId(folder)
  for (let levels = 0; levels <= MAX_CLIMB; levels++) ids[levels + 2] = baseId(ancestors(levels)) + 1
  const bases = { ids, era }
  basesOfFolders.set(folder, bases)
  return bases
}

function baseId(base: string): number {
  const known = baseIds.get(base)
  if (known !== undefined) return known
  lastBaseId += 2
  baseIds.set(base, lastBaseId)
  baseCharacters += base.length
  return lastBaseId
}
