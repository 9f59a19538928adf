/**
 * Resolves the references of one page. It parses the base once and answers the usual kinds of reference by joining
 * strings; every answer equals `normalizeUrl(reference, base)`. Remembering which references a page repeats is left
 * to the caller.
 */
import type { NormalizedUrl } from '../model/index.ts'
import { copyOfPlain, MAX_REFERENCE_LENGTH, normalizeUrl, serializeUrl, withinLength } from './normalize.ts'
import { pathStart, queryStart } from './parts.ts'
import { endOfPlainQuery, endOfPlainTarget, endOfPlainUrl, hasOtherScheme, mayHaveScheme } from './plain.ts'

export type Resolver = (reference: string) => NormalizedUrl | undefined

const HASH = 0x23
const DOT = 0x2e
const SLASH = 0x2f
const QUESTION = 0x3f

/** The base as it is normalised; undefined if it is no web URL, or too long. */
export function serializeBase(base: string): string | undefined {
  if (base.length > MAX_REFERENCE_LENGTH) return undefined
  return endOfPlainUrl(base) === base.length ? base : serializeUrl(base)
}

export function createResolver(base: string): Resolver {
  const self = serializeBase(base)
  if (self === undefined) return (reference) => normalizeUrl(reference, base)

  const origin = self.slice(0, pathStart(self))
  const page = self.slice(0, queryStart(self))
  const ancestors = createAncestors(page, origin.length)

  const resolvePlain = (reference: string): string | undefined => {
    const first = reference.charCodeAt(0)
    if (first === QUESTION) {
      const end = endOfPlainQuery(reference, 1)
      return end === -1 ? undefined : page + reference.slice(0, end)
    }
    if (first === SLASH) {
      // Two slashes begin an authority.
      if (reference.charCodeAt(1) === SLASH) return undefined
      const end = endOfPlainTarget(reference, 1)
      return end === -1 ? undefined : origin + reference.slice(0, end)
    }
    let start = 0
    let levels = 0
    if (first === DOT) {
      for (;;) {
        if (reference.startsWith('../', start)) {
          levels++
          start += 3
        } else if (reference.startsWith('./', start)) start += 2
        else break
      }
    } else if (mayHaveScheme(reference)) {
      const end = endOfPlainUrl(reference)
      return end === -1 ? undefined : copyOfPlain(reference, end)
    }
    const end = endOfPlainTarget(reference, start)
    return end === -1 ? undefined : ancestors(levels) + reference.slice(start, end)
  }

  /** As much of the base as a reference can depend on: to parse all of a long one again takes its time, for each of many. */
  const leastBase = (reference: string): string | undefined => {
    if (reference.charCodeAt(0) === SLASH) return origin
    return /^https?:\/\//i.test(reference) ? undefined : base
  }

  return (reference) => {
    if (reference.length > MAX_REFERENCE_LENGTH) return undefined
    if (reference.length === 0 || reference.charCodeAt(0) === HASH) return withinLength(self)
    if (hasOtherScheme(reference)) return undefined
    const href = resolvePlain(reference) ?? serializeUrl(reference, leastBase(reference))
    return href === undefined ? undefined : withinLength(href)
  }
}

/** The folder of a page, its parent, and so on, cut off when first asked for. The root is its own parent. */
export function createAncestors(page: string, originLength: number): (levels: number) => string {
  const known = [page.slice(0, page.lastIndexOf('/') + 1)]
  return (levels) => {
    let folder = known[Math.min(levels, known.length - 1)]!
    while (known.length <= levels && folder.length > originLength + 1) {
      folder = folder.slice(0, folder.lastIndexOf('/', folder.length - 2) + 1)
      known.push(folder)
    }
    return folder
  }
}
