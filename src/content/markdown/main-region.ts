/**
 * Which part of a page is its main content. What the page itself declares (main, role=main, article) comes first,
 * then names that tools and themes are known for, then the whole page. A declaration is believed only if the part
 * holds a fair share of the page's text, so that no page is lost to an empty or misplaced element.
 */
import {
  CONTENT_TEXT,
  ELEMENT,
  FLAGS,
  IS_ARTICLE,
  IS_FURNITURE,
  IS_MAIN,
  IS_NAMED_CONTENT,
  PARTNER,
  STRIDE,
  elementBeginning,
  type Outline,
} from './outline.ts'

/** A range of events: from the first up to, and without, the last. */
export interface Region {
  readonly from: number
  readonly to: number
}

/** A declared main needs this share of the text outside furniture, or ENOUGH characters. */
const MAIN_SHARE = 0.1
const ENOUGH = 250
/** An article inside main, or on a page without one: less means one article of several. */
const ARTICLE_SHARE = 0.6
/** An element known by its name only. */
const NAMED_SHARE = 0.4
/** The head of a page above its content has no more text and links than this. */
const MAX_HEAD_TEXT = 600
const MAX_HEAD_LINKS = 3

export function wholePage(outline: Outline): Region {
  return { from: 0, to: outline.count }
}

export function findMainRegion(outline: Outline): Region {
  const page = wholePage(outline)
  const total = outline.contentText
  const main = largest(outline, page, IS_MAIN)
  let region = page
  if (main !== undefined && isFair(textOf(outline, main), total, MAIN_SHARE)) region = main
  const within = region === page ? total : textOf(outline, region)
  const article = largest(outline, region, IS_ARTICLE)
  if (
    article !== undefined &&
    textOf(outline, article) >= ARTICLE_SHARE * within &&
    keepsHeading(outline, region, article)
  ) {
    return article
  }
  if (region !== page) return region
  const named = largest(outline, page, IS_NAMED_CONTENT)
  return named !== undefined && textOf(outline, named) >= NAMED_SHARE * total ? named : page
}

/** The text of a region outside furniture, in characters. */
export function textOf(outline: Outline, region: Region): number {
  const before = outline.tape[region.from * STRIDE + CONTENT_TEXT] ?? 0
  const until =
    region.to >= outline.count ? outline.contentText : (outline.tape[region.to * STRIDE + CONTENT_TEXT] as number)
  return until - before
}

/** The first-level heading right before a region that has none of its own, such as a post's title above its body. */
export function headingBefore(outline: Outline, region: Region): Region | undefined {
  const { headings, tape } = outline
  if (headings.length !== 1) return undefined
  const heading = headings[0] as number
  if (heading >= region.from) return undefined
  return { from: heading, to: (tape[heading * STRIDE + PARTNER] as number) + 1 }
}

/**
 * The widest block around that heading that ends before the region, as far as it is a head: a name, a line about the
 * page, who wrote it when. Menus have more links, and sections more text.
 */
export function headBefore(outline: Outline, region: Region, heading: Region): Region {
  const { tape } = outline
  let head = heading
  for (let event = heading.from - 1; event >= 0; event--) {
    const at = event * STRIDE
    const end = tape[at + PARTNER] as number
    if ((tape[at + ELEMENT] as number) <= 0 || end < head.to) continue
    if (end >= region.from || ((tape[at + FLAGS] as number) & IS_FURNITURE) !== 0) break
    const wider = { from: event, to: end + 1 }
    if (textOf(outline, wider) > MAX_HEAD_TEXT || countLinks(outline, wider) > MAX_HEAD_LINKS) break
    head = wider
  }
  return head
}

/** Whether the page itself says that the region is its main content. */
export function isDeclared({ tape }: Outline, region: Region): boolean {
  return ((tape[region.from * STRIDE + FLAGS] as number) & (IS_MAIN | IS_ARTICLE)) !== 0
}

function countLinks(outline: Outline, region: Region): number {
  let links = 0
  for (let event = region.from; event < region.to && links <= MAX_HEAD_LINKS; event++) {
    if (elementBeginning(outline, event).name === 'a') links++
  }
  return links
}

function largest(outline: Outline, within: Region, kind: number): Region | undefined {
  let best: Region | undefined
  let most = -1
  for (const event of outline.candidates) {
    if (event < within.from || event >= within.to) continue
    if (((outline.tape[event * STRIDE + FLAGS] as number) & kind) === 0) continue
    const region = { from: event, to: (outline.tape[event * STRIDE + PARTNER] as number) + 1 }
    const text = textOf(outline, region)
    if (text > most) {
      most = text
      best = region
    }
  }
  return best
}

function isFair(text: number, total: number, share: number): boolean {
  return text >= ENOUGH || text >= share * total
}

/** Whether the narrower region still has the heading that the wider one has. */
function keepsHeading(outline: Outline, wider: Region, narrower: Region): boolean {
  const heads = outline.headings.filter((event) => event >= wider.from && event < wider.to)
  return heads.length !== 1 || heads.some((event) => event >= narrower.from && event < narrower.to)
}
