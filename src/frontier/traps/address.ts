/**
 * A URL as traps look at it: its shape, and the hashes of all that is looked up of it. It is looked at three times, when
 * the URL is judged, when it is leased together with others, and when its page was read; so what was worked out is kept
 * for as long as the URL is under way. Plain data: reading a field costs nothing the second time.
 */
import type { NormalizedUrl } from '../../model/index.ts'
import { originOf, shapeOf, type UrlShape } from '../../url/index.ts'
import { hashOf } from './hash.ts'
import { subjectsOf, type Subject } from './subjects.ts'

/** URLs under way that are remembered, a power of two; others are looked at again. Some 2 KB each. */
const ADDRESSES_KEPT = 4_096

export interface Address extends UrlShape {
  readonly url: NormalizedUrl
  /** Of this very URL. */
  readonly itself: number
  /** Of the URL as it is written when nothing is left out. */
  readonly whole: number
  /** Of its outermost folder; undefined for a page in the root. */
  readonly outermost: number | undefined
  /** Of the folders in that one that have names of more than a letter, as if they were outermost. */
  readonly inner: readonly number[]
  /** Its `endings`, as they are looked up. */
  readonly ends: readonly End[]
  /** Of the URLs with its `detours` as paths. */
  readonly straight: readonly number[]
  /** As the end of a longer path. */
  readonly asEnd: number
  /** With all keys of its query. */
  readonly subjects: readonly Subject[]
}

/** One path of which this one is the end. */
export interface End {
  /** Of the URL with that path, and of it as the end of another. */
  readonly whole: number
  readonly asEnd: number
  /** Of the folder that it begins with, as if it were outermost. */
  readonly first: number
}

/** Addresses of URLs under way, of all hosts together. */
export interface Addresses {
  of(url: NormalizedUrl): Address
  /** The URL is not under way any more: it will hardly be asked for again. */
  forget(url: NormalizedUrl): void
}

export function createAddresses(): Addresses {
  // Each URL has one place, which the next that has the same takes from it. A map of so many short-lived objects would
  // keep the garbage collector from dropping them early.
  const kept: (Address | undefined)[] = Array.from({ length: ADDRESSES_KEPT }, () => undefined)
  return {
    of(url) {
      const place = placeOf(url)
      const known = kept[place]
      if (known?.url === url) return known
      const address = addressOf(url)
      kept[place] = address
      return address
    },
    forget(url) {
      const place = placeOf(url)
      if (kept[place]?.url === url) kept[place] = undefined
    },
  }
}

/** By the end of a URL, where those of one host differ. */
function placeOf(url: NormalizedUrl): number {
  let hash = url.length
  for (let at = Math.max(0, url.length - 24); at < url.length; at++) hash = Math.imul(hash, 31) + url.charCodeAt(at)
  return (hash ^ (hash >>> 12)) & (ADDRESSES_KEPT - 1)
}

/** Where nothing is kept. */
export const NO_ADDRESSES: Addresses = { of: addressOf, forget() {} }

const NOTHING: ReadonlySet<string> = new Set()

/** All at once, into plain fields: a getter of its own would cost each object more than what it puts off. */
function addressOf(url: NormalizedUrl): Address {
  const shape = shapeOf(url)
  const { folderNames, endings, detours, keys } = shape
  const origin = endings.length === 0 ? '' : originOf(url)
  const [outermost] = folderNames
  return {
    url,
    template: shape.template,
    isOpen: shape.isOpen,
    folders: shape.folders,
    depth: shape.depth,
    names: shape.names,
    keys,
    parameters: shape.parameters,
    isNumbered: shape.isNumbered,
    doubled: shape.doubled,
    parts: shape.parts,
    repeated: shape.repeated,
    recurrences: shape.recurrences,
    isRecurrent: shape.isRecurrent,
    folderNames,
    hasDate: shape.hasDate,
    without: shape.without,
    endings,
    detours,
    itself: hashOf(`\n${url}`),
    whole: hashOf(shape.without(NOTHING)),
    outermost: outermost === undefined ? undefined : hashOf(asOutermost(outermost)),
    inner: folderNames.slice(1).flatMap((name) => (name.length > 1 ? hashOf(asOutermost(name)) : [])),
    ends: endings.map((ending) => endOf(origin, ending)),
    straight: detours.map((path) => hashOf(origin + path)),
    asEnd: hashOf(asEnding(url)),
    subjects: subjectsOf(shape, keys),
  }
}

function endOf(origin: string, ending: string): End {
  const form = origin + ending
  const [, first = ''] = ending.split('/', 2)
  return { whole: hashOf(form), asEnd: hashOf(asEnding(form)), first: hashOf(asOutermost(first)) }
}

/** A newline is in no URL, so none of these is taken for one. */
const asEnding = (url: string): string => `\n…${url}`
const asOutermost = (folder: string): string => `\n/${folder}`
