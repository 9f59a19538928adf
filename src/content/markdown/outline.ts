/**
 * What a page looks like once its tags are matched: a tape of events, in the order of the page, each one tag with its
 * place, its partner and the text before it. Every element on it is properly nested. Here is the tape's format and how
 * it is read; making it is the outliner's part.
 */
import { decodeReferences } from '../../base/index.ts'
import type { LimitName } from '../../model/index.ts'
import type { Attributes } from './attributes.ts'
import { ELEMENTS, type ElementKind } from './elements.ts'
import type { Page } from './page.ts'

/** The fields of one event on the tape. */
export const START = 0
/** Just behind the tag; equal to START for an end tag that the page left out. */
export const END = 1
/** The element's id; negative for its end; 0 for a comment, or a tag that means nothing. */
export const ELEMENT = 2
/** For a beginning, the index of its end event, and the reverse. */
export const PARTNER = 3
export const FLAGS = 4
/** Characters of text before this event, outside what is never content. */
export const TEXT = 5
/** The same without page furniture. */
export const CONTENT_TEXT = 6
/** Where the notes of the tag's attributes stand; 0 where it has none that is wanted. */
export const ATTRIBUTES = 7
export const STRIDE = 8

export const IS_FURNITURE = 1
/** A first-level heading, main or article lies within. */
export const HOLDS_MAIN = 2
/** A table or list that arranges a page instead of data. */
export const IS_LAYOUT = 4
export const IS_MAIN = 8
export const IS_ARTICLE = 16
export const IS_NAMED_CONTENT = 32
/** A box beside the text that belongs to it. */
export const IS_SIDEBAR = 64

export interface Outline {
  readonly page: Page
  /** The page's text. */
  readonly html: string
  /** STRIDE numbers for each event. */
  readonly tape: Int32Array
  /** Of the element that a rule is about, and of another that the rule looks at. Each is turned from tag to tag. */
  readonly attributes: Attributes
  readonly otherAttributes: Attributes
  /** The number of events. */
  readonly count: number
  /** Text up to the end, as TEXT and CONTENT_TEXT count it. */
  readonly text: number
  readonly contentText: number
  /** Where the text behind the last event ends. */
  readonly end: number
  /** The first base element's href, as written. */
  readonly base: string | undefined
  /** Indexes of events that may hold the main content, in order. */
  readonly candidates: readonly number[]
  readonly headings: readonly number[]
  /** Limits that were met: `nesting` where elements stand too deep to count, `tags` where the page is not read on. */
  readonly limits: readonly LimitName[]
}

/** Words beyond this decide nothing. */
const MAX_WORDS_LENGTH = 200

/** The element that begins at an event; the nameless one for an end, a comment or a tag that means nothing. */
export function elementBeginning(outline: Outline, event: number): ElementKind {
  return ELEMENTS[Math.max(0, outline.tape[event * STRIDE + ELEMENT] as number)] as ElementKind
}

/** The event that ends the element. */
export function partnerOf(outline: Outline, event: number): number {
  return outline.tape[event * STRIDE + PARTNER] as number
}

export function flagsOf(outline: Outline, event: number): number {
  return outline.tape[event * STRIDE + FLAGS] as number
}

/** The attributes of the element that begins at an event. They last until those of another are asked for. */
export function attributesOf({ tape, attributes }: Outline, event: number): Attributes {
  return attributes.at(tape[event * STRIDE + ATTRIBUTES] as number)
}

/** The same for an element that is looked at while a rule has the attributes of its own. */
export function otherAttributesOf({ tape, otherAttributes }: Outline, event: number): Attributes {
  return otherAttributes.at(tape[event * STRIDE + ATTRIBUTES] as number)
}

/** The length of the text in an element, as `field` counts it: TEXT or CONTENT_TEXT. */
export function textIn(outline: Outline, event: number, field: number): number {
  const { tape } = outline
  return (tape[partnerOf(outline, event) * STRIDE + field] as number) - (tape[event * STRIDE + field] as number)
}

/** The words of an element with few tags and little text, for rules that read them. */
export function wordsOf(outline: Outline, event: number): string {
  const { html, tape } = outline
  const last = partnerOf(outline, event)
  let words = ''
  for (let at = event; at < last && words.length < MAX_WORDS_LENGTH; at++) {
    words += html.slice(tape[at * STRIDE + END], tape[(at + 1) * STRIDE + START])
  }
  return decodeReferences(words, false).trim()
}
