/**
 * Writes a region of a page again as plain, well-formed HTML that holds content alone: known elements, absolute
 * links, no furniture, no attributes but those that Markdown can say. What it writes is bounded in length and in the
 * depth of what Markdown indents, so the converter's output is bounded as well. How it looks is the converter's part.
 */
import { CleanWriter } from './clean-writer.ts'
import type { CleanOptions, Cleaning } from './cleaning.ts'
import { beginElement } from './element-rules.ts'
import { ELEMENTS, VOID, type ElementKind } from './elements.ts'
import { writeImage } from './link-rules.ts'
import type { Region } from './main-region.ts'
import { HEADING, PRE } from './open-levels.ts'
import { ELEMENT, END, PARTNER, START, STRIDE, type Outline } from './outline.ts'

export function cleanHtml(outline: Outline, region: Region, options: CleanOptions): string {
  const { tape } = outline
  const writer = new CleanWriter(outline.html)
  const cleaning: Cleaning = { outline, region, options, writer, levels: writer.levels }
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
      if ((element.flags & VOID) !== 0) writeVoid(cleaning, event, element.name)
      else if (!beginElement(cleaning, event, element)) {
        event = tape[at + PARTNER] as number
        textStart = tape[event * STRIDE + END] as number
      }
    }
  }
  if (event >= region.to && region.to === outline.count) writer.writeText(textStart, outline.end)
  return writer.finish()
}

/** Writes an element without content; those that Markdown cannot say are passed over. */
function writeVoid(cleaning: Cleaning, event: number, name: string): void {
  const { writer, levels } = cleaning
  if (name === 'br') writer.writeTag(levels.has(PRE) ? '\n' : levels.has(HEADING) ? ' ' : '<br>')
  else if (name === 'img') writeImage(cleaning, event)
  else if (name === 'hr' && !levels.has(PRE)) {
    writer.suspendMarks()
    writer.writeTag('<hr>')
  }
}
