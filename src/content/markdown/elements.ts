/**
 * What the reader needs to know about each HTML element: how it nests, and whether its text is content. An element
 * that is not in the table is transparent: its tags vanish and its text stays.
 */

import { NameTable } from './name-table.ts'

/** Has no content and no end tag. */
export const VOID = 1
/** Ends an open paragraph when it begins, and stops the search for an inline element's end tag. */
export const BLOCK = 2
/** Its content is text up to its own end tag, whatever it looks like (HTML §13.2.5.2 to §13.2.5.4). */
export const RAW = 4
/** Never content: code for the browser, controls, drawings. */
export const HARD_JUNK = 8
/** Page furniture; content only where a page has nothing else. */
export const SOFT_JUNK = 16
/** End tags inside it do not close what was opened outside. */
export const BOUNDARY = 32

export interface ElementKind {
  readonly id: number
  readonly name: string
  readonly flags: number
}

const FLAGS: Record<string, number> = {
  a: 0,
  abbr: 0,
  address: BLOCK,
  annotation: 0,
  area: VOID | HARD_JUNK,
  article: BLOCK,
  aside: BLOCK,
  audio: HARD_JUNK,
  b: 0,
  base: VOID,
  blockquote: BLOCK,
  br: VOID,
  button: HARD_JUNK,
  canvas: HARD_JUNK,
  caption: BLOCK | BOUNDARY,
  center: BLOCK,
  cite: 0,
  code: 0,
  col: VOID | HARD_JUNK,
  datalist: HARD_JUNK,
  dd: BLOCK,
  del: 0,
  details: BLOCK,
  dialog: BLOCK | SOFT_JUNK,
  div: BLOCK,
  dl: BLOCK,
  dt: BLOCK,
  em: 0,
  embed: VOID | HARD_JUNK,
  fieldset: BLOCK,
  figcaption: BLOCK,
  figure: BLOCK,
  footer: BLOCK | SOFT_JUNK,
  form: BLOCK,
  h1: BLOCK,
  h2: BLOCK,
  h3: BLOCK,
  h4: BLOCK,
  h5: BLOCK,
  h6: BLOCK,
  header: BLOCK,
  hgroup: BLOCK,
  hr: VOID | BLOCK,
  i: 0,
  iframe: RAW | HARD_JUNK,
  img: VOID,
  input: VOID | HARD_JUNK,
  kbd: 0,
  li: BLOCK,
  link: VOID | HARD_JUNK,
  main: BLOCK,
  map: HARD_JUNK,
  math: 0,
  menu: BLOCK,
  meta: VOID | HARD_JUNK,
  nav: BLOCK | SOFT_JUNK,
  noembed: RAW | HARD_JUNK,
  noframes: RAW | HARD_JUNK,
  noscript: HARD_JUNK,
  object: HARD_JUNK,
  ol: BLOCK,
  p: BLOCK,
  param: VOID | HARD_JUNK,
  pre: BLOCK,
  q: 0,
  s: 0,
  samp: 0,
  script: RAW | HARD_JUNK,
  section: BLOCK,
  select: HARD_JUNK,
  source: VOID | HARD_JUNK,
  span: 0,
  strike: 0,
  strong: 0,
  style: RAW | HARD_JUNK,
  sub: 0,
  summary: BLOCK,
  sup: 0,
  svg: HARD_JUNK,
  table: BLOCK | BOUNDARY,
  tbody: BLOCK,
  td: BLOCK | BOUNDARY,
  template: HARD_JUNK,
  textarea: RAW | HARD_JUNK,
  tfoot: BLOCK,
  th: BLOCK | BOUNDARY,
  thead: BLOCK,
  title: RAW | HARD_JUNK,
  tr: BLOCK,
  track: VOID | HARD_JUNK,
  tt: 0,
  ul: BLOCK,
  var: 0,
  video: HARD_JUNK,
  wbr: VOID | HARD_JUNK,
}

/** By id; 0 is no element, so that a tape full of zeroes is harmless. */
export const ELEMENTS: readonly ElementKind[] = [
  { id: 0, name: '', flags: 0 },
  ...Object.entries(FLAGS).map(([name, flags], index) => ({ id: index + 1, name, flags })),
]

const NAMES = new NameTable(Object.keys(FLAGS))

/** The id of the element whose name in any case stands between two places of a page; 0 for none. `hash` is the name's. */
export function elementNamed(hash: number, units: Uint16Array, from: number, to: number): number {
  return NAMES.findHashed(hash, units, from, to) + 1
}

/** Some elements by their ids, as an array of facts: asked many times for every tag. */
export class ElementSet {
  readonly #members = new Uint8Array(ELEMENTS.length)

  constructor(names: readonly string[]) {
    for (const { id, name } of ELEMENTS) if (names.includes(name)) this.#members[id] = 1
  }

  /** False for the end of an element, whose id is negative. */
  has(id: number): boolean {
    return id > 0 && this.#members[id] === 1
  }
}

export function idsOf(...names: readonly string[]): ElementSet {
  return new ElementSet(names)
}
