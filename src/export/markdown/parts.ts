/**
 * Chapters laid out over files that may hold only so many tokens each. A chapter that fits nowhere whole is divided at
 * its headings, then between its blocks, and only where a block alone is too large between its lines: code is then
 * closed and opened again. A line too large for a file is cut.
 *
 * What is decided depends on costs alone, and a chapter that is divided begins a file of its own, so laying it out
 * again gives the same files. Costs are added up piece by piece; every piece ends with a line, and there the count of a whole is never more than the sum of its parts.
 */
import { countTokens } from '../../content/index.ts'
import type { Block } from './blocks.ts'

/** Something that is put into a file whole, or divided. */
interface Unit {
  readonly cost: number
  readonly text: (part: number) => string
  readonly divide?: () => Unit[]
}

export interface Chapter {
  /** Its line in the contents, and its heading, in the file where it begins and where it goes on. */
  readonly headCost: number
  readonly head: (continued: boolean) => string
  readonly blocks: readonly Block[]
  /** What a block costs at the most, and its text in a given file. */
  cost(block: Block): number
  text(block: Block, part: number): string
}

export interface PartsOptions {
  readonly maxTokens: number
  /** What a file has before its first chapter. */
  readonly baseCost: number
  /** The number of the first file; 1 when absent. */
  readonly firstPart?: number
}

/** Text that goes to the end of this file. */
export interface Placed {
  readonly part: number
  readonly text: string
}

export interface Parts {
  /** The texts of the next chapter, in order. Their files never go back. */
  add(chapter: Chapter): Generator<Placed>
  /** The file that was reached. */
  readonly part: number
}

export function createParts({ maxTokens, baseCost, firstPart = 1 }: PartsOptions): Parts {
  let part = firstPart
  let used = baseCost
  const turn = (): void => {
    part += 1
    used = baseCost
  }

  function* place(unit: Unit, chapter: Chapter): Generator<Placed> {
    if (used + unit.cost > maxTokens) {
      const fitsAnew = baseCost + chapter.headCost + unit.cost <= maxTokens
      if (!fitsAnew && unit.divide !== undefined) {
        for (const piece of unit.divide()) yield* place(piece, chapter)
        return
      }
      turn()
      used += chapter.headCost
      yield { part, text: chapter.head(true) }
    }
    used += unit.cost
    yield { part, text: unit.text(part) }
  }

  return {
    get part() {
      return part
    },
    *add(chapter) {
      const units = chapter.blocks.map((block) => blockUnit(block, chapter, maxTokens - baseCost - chapter.headCost))
      const cost = chapter.headCost + sum(units)
      const isEmpty = used === baseCost
      // A chapter that fits into a file of its own is not divided to fill the one before.
      if (!isEmpty && used + cost > maxTokens) turn()
      used += chapter.headCost
      yield { part, text: chapter.head(false) }
      for (const unit of used - chapter.headCost + cost <= maxTokens ? units : sections(chapter.blocks, units)) {
        yield* place(unit, chapter)
      }
    },
  }
}

/** A heading with all below it, up to the next heading. */
function sections(blocks: readonly Block[], units: readonly Unit[]): Unit[] {
  const groups: Unit[][] = []
  for (const [index, unit] of units.entries()) {
    const last = groups.at(-1)
    if (last === undefined || blocks[index]?.level !== undefined) groups.push([unit])
    else last.push(unit)
  }
  return groups.map((group) => joined(group, () => withHeading(group)))
}

/** A heading stays with the block behind it, if both fit. */
function withHeading([heading, first, ...rest]: readonly Unit[]): Unit[] {
  if (heading === undefined) return []
  return first === undefined ? [heading] : [joined([heading, first], () => [heading, first]), ...rest]
}

function joined(units: readonly Unit[], divide: () => Unit[]): Unit {
  const [only] = units
  if (units.length === 1 && only !== undefined) return only
  return { cost: sum(units), text: (part) => units.map((unit) => unit.text(part)).join(''), divide }
}

function sum(units: readonly Unit[]): number {
  return units.reduce((total, { cost }) => total + cost, 0)
}

function blockUnit(block: Block, chapter: Chapter, room: number): Unit {
  const unit = { cost: chapter.cost(block), text: (part: number) => chapter.text(block, part) }
  return unit.cost <= room ? unit : { ...unit, divide: () => pieces(block, room) }
}

/** A block that no file can hold: as many of its lines as one can, again and again. Links in it stay as they are. */
function pieces(block: Block, room: number): Unit[] {
  const units: Unit[] = []
  let lines: string[] = []
  let cost = 0
  let fence: Fence | undefined
  const end = (): void => {
    if (lines.length === 0) return
    const text = `${[...lines, ...(fence === undefined ? [] : [fence.close])].join('\n')}\n\n`
    units.push({ cost: countTokens(text), text: () => text })
    lines = fence === undefined ? [] : [fence.open]
    cost = fence?.cost ?? 0
  }
  for (const [index, whole] of block.lines.entries()) {
    const isCode = block.isCode[index] === true
    const startsCode = isCode && block.isCode[index - 1] !== true
    const endsCode = isCode && block.isCode[index + 1] !== true
    if (startsCode) fence = fenceOf(whole, room)
    for (const line of cutLine(whole, room - RESERVE - 2 * (fence?.cost ?? 0))) {
      const lineCost = countTokens(`${line}\n`)
      // Behind the fence that closes the code there is none left to close.
      const closing = endsCode ? 0 : (fence?.cost ?? 0)
      if (cost + lineCost + closing + RESERVE > room) end()
      lines.push(line)
      cost += lineCost
    }
    if (endsCode) fence = undefined
  }
  fence = undefined
  end()
  return units
}

/** For the empty line at the end of a piece, and what a cut may add to a count. */
const RESERVE = 4

interface Fence {
  readonly open: string
  readonly close: string
  readonly cost: number
}

/** The lines that open and close the code again; none where they would leave no room. */
function fenceOf(line: string, room: number): Fence | undefined {
  const [, before = '', marks = '```', language = ''] = /^([ \t>\-*+\d.]*?)(`{3,}|~{3,})(.*)$/.exec(line) ?? []
  const margin = before.replaceAll(/[^ \t>]/g, ' ')
  const fence = { open: `${margin}${marks}${language}`, close: `${margin}${marks}` }
  const cost = countTokens(`${fence.open}\n`)
  return 8 * cost > room ? undefined : { ...fence, cost }
}

/** A text never has more tokens than code units. */
function cutLine(line: string, room: number): string[] {
  if (countTokens(`${line}\n`) <= room) return [line]
  const cuts: string[] = []
  for (let start = 0; start < line.length;) {
    let end = Math.min(line.length, start + room - 1)
    if (end < line.length) {
      const space = line.lastIndexOf(' ', end)
      if (space > start) end = space
      else if (isHighSurrogate(line.charCodeAt(end - 1)) && end - 1 > start) end -= 1
    }
    cuts.push(line.slice(start, end))
    start = line[end] === ' ' ? end + 1 : end
  }
  return cuts
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}
