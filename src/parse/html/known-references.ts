/**
 * What the references of pages lead to. Most links of a page are spelled as on the page before, in the same folder: what
 * was resolved lately is remembered by the page machine, for all pages of the thread, and found again without a string
 * being made of it. It keeps true that what is found is what the resolver has answered.
 *
 * A reference is remembered together with as much of the base as it depends on (`ReferenceBases`); one that depends on the
 * very page (`?x`) is not remembered, nor is one of more than 128 bytes.
 */
import type { ReferenceBases } from '../../url/index.ts'
import { BASES, MAX_PAGE_BYTES, MAX_REFERENCES, pageMachine, REFERENCES, type PageMachine } from './page-machine.ts'

/** Nothing is known of the reference. */
export const UNKNOWN = -1
/**
 * It cannot be known: it holds anything but visible ASCII, or an ampersand, and is to be decoded first; or it is of a kind
 * that is not remembered.
 */
export const UNREADABLE = -2
/** It leads to the base itself. */
export const SELF = -3

/** As many are looked for at once. */
export const MOST_AT_ONCE = MAX_REFERENCES

/** The references of one page. */
export interface KnownReferences {
  /**
   * Looks for `count` of them, of which `places` has where each begins and ends, from the one that is the `first`. The
   * answer for each, as `find` has it, takes every second place of what is returned, until this is called again.
   */
  findAll(places: Int32Array, first: number, count: number): Int32Array
  /** The number of the URL that the reference between these places of the page leads to, or one of the three above. */
  find(start: number, end: number): number
  /** To be called when one was unknown, before the next is looked for, if it depends on nothing but the bases. */
  remember(id: number): void
}

let basesThere: ReferenceBases | undefined
let eraThere: object | undefined

/** Undefined where nothing is remembered. */
export function knownReferencesIn(page: Buffer, bases: ReferenceBases | undefined): KnownReferences | undefined {
  if (pageMachine === undefined || bases === undefined || page.length > MAX_PAGE_BYTES) return undefined
  return referencesIn(page, bases, pageMachine)
}

function referencesIn(page: Buffer, bases: ReferenceBases, machine: PageMachine): KnownReferences {
  if (basesThere !== bases) {
    machine.words.set(bases.ids, BASES)
    basesThere = bases
    if (eraThere !== bases.era) machine.forgetReferences()
    eraThere = bases.era
  }
  machine.load(page)
  return {
    findAll(places, first, count) {
      answers ??= machine.words.subarray(REFERENCES, REFERENCES + 2 * MOST_AT_ONCE)
      for (let at = 0; at < 2 * count; at++) answers[at] = places[2 * first + at] as number
      machine.findReferences(count)
      return answers
    },
    find: machine.findReference,
    remember: machine.rememberReference,
  }
}

let answers: Int32Array | undefined
