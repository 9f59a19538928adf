/**
 * Markdown cut into blocks: headings, and what stands between empty lines. A code block is never cut, whatever lines it
 * holds, also inside of a list item or a quotation.
 */

export interface Block {
  /** Its lines, without the empty line behind. */
  readonly lines: readonly string[]
  /** For a heading: 1 to 6. */
  readonly level?: number
  /** Whether each line is part of a code block, fences included. */
  readonly isCode: readonly boolean[]
}

const HEADING = /^(#{1,6})(?:[ \t]+|$)/
/** The fence of a code block; a quotation or list item may stand before it. */
const FENCE = /^[ \t>\-*+\d.]*?(`{3,}|~{3,})([^`]*)$/

export function* blocksOf(markdown: string): Generator<Block> {
  let lines: string[] = []
  let isCode: boolean[] = []
  let fence = ''
  const block = (): Block => {
    const ended = { lines, isCode }
    lines = []
    isCode = []
    return ended
  }
  for (const line of markdown.split('\n')) {
    if (fence !== '') {
      lines.push(line)
      isCode.push(true)
      if (closesFence(line, fence)) fence = ''
      continue
    }
    if (line.trim() === '') {
      if (lines.length > 0) yield block()
      continue
    }
    const level = HEADING.exec(line)?.[1]?.length
    if (level !== undefined) {
      if (lines.length > 0) yield block()
      yield { lines: [line], isCode: [false], level }
      continue
    }
    fence = FENCE.exec(line)?.[1] ?? ''
    lines.push(line)
    isCode.push(fence !== '')
  }
  if (lines.length > 0) yield block()
}

function closesFence(line: string, fence: string): boolean {
  const text = line.replace(/^[ \t>]*/, '').trimEnd()
  return text.length >= fence.length && text === (fence[0] as string).repeat(text.length)
}

/** The text of a heading without its signs. */
export function headingText(block: Block): string {
  return (block.lines[0] ?? '')
    .replace(HEADING, '')
    .replace(/[ \t]+#+[ \t]*$/, '')
    .trim()
}

/** The lines of a block, run by run: those outside of code changed by `prose`, those of code by `code`. */
export function mapRuns(
  block: Block,
  prose: (text: string) => string,
  code: (lines: readonly string[]) => string = (lines) => lines.join('\n'),
): string {
  const { lines, isCode } = block
  const out: string[] = []
  for (let start = 0; start < lines.length;) {
    let end = start + 1
    while (end < lines.length && isCode[end] === isCode[start]) end++
    const run = lines.slice(start, end)
    out.push(isCode[start] === true ? code(run) : prose(run.join('\n')))
    start = end
  }
  return out.join('\n')
}
