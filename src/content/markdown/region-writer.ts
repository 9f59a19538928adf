/** Writes a region of a page as Markdown: its events in order, each element by its rule, and the text between them. */
import type { Conversion, ConversionOptions } from './conversion.ts'
import { beginElement } from './element-rules.ts'
import { ELEMENTS, VOID, idsOf, type ElementKind } from './elements.ts'
import { writeImage } from './link-rules.ts'
import type { Region } from './main-region.ts'
import type { MarkdownWriter } from './markdown-writer.ts'
import { ELEMENT, END, PARTNER, START, STRIDE, TEXT, type Outline } from './outline.ts'

const HEADINGS = idsOf('h1', 'h2', 'h3', 'h4', 'h5', 'h6')
/** Characters of text below its first heading without which a page may be an index, and its links its content. */
const MIN_TEXT_BELOW = 200

export function writeRegion(
  outline: Outline,
  region: Region,
  options: ConversionOptions,
  writer: MarkdownWriter,
): void {
  const { tape } = outline
  const [firstHeading, firstSection] = firstHeadings(outline, region)
  const { levels } = writer
  const conversion: Conversion = {
    outline,
    region,
    options,
    writer,
    levels,
    firstHeading,
    firstSection,
    judged: 0,
  }
  let textStart = region.from === 0 ? 0 : (tape[region.from * STRIDE + START] as number)
  let event = region.from
  for (; event < region.to && !writer.isFull; event++) {
    const at = event * STRIDE
    writer.writeText(textStart, tape[at + START] as number)
    textStart = tape[at + END] as number
    const id = tape[at + ELEMENT] as number
    if (id < 0) writer.close()
    else if (id > 0) {
      const element = ELEMENTS[id] as ElementKind
      if ((element.flags & VOID) !== 0) writeVoid(conversion, event, element.name)
      else if (!beginElement(conversion, event, element)) {
        event = tape[at + PARTNER] as number
        textStart = tape[event * STRIDE + END] as number
      }
    }
  }
  if (event >= region.to && region.to === outline.count) writer.writeText(textStart, outline.end)
}

/** The events of the first two headings, the first one only if there is text enough behind it. */
function firstHeadings(outline: Outline, region: Region): readonly [number, number] {
  const { tape } = outline
  const end = tape[Math.min(region.to, outline.count - 1) * STRIDE + TEXT] ?? 0
  let first = -1
  for (let event = region.from; event < region.to; event++) {
    if (!HEADINGS.has(tape[event * STRIDE + ELEMENT] as number)) continue
    if (first >= 0) return [first, event]
    if (end - (tape[event * STRIDE + TEXT] as number) < MIN_TEXT_BELOW) return [-1, -1]
    first = event
  }
  return [first, -1]
}

/** Writes an element without content; those that Markdown cannot say are passed over. */
function writeVoid(conversion: Conversion, event: number, name: string): void {
  if (name === 'br') conversion.writer.writeBreak()
  else if (name === 'img') writeImage(conversion, event)
  else if (name === 'hr') conversion.writer.writeRule()
}
