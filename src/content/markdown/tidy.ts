/**
 * The last touch on Markdown: no control characters but newline and tab, no runs of empty lines outside code blocks,
 * one newline at the end, and no more than MAX_MARKDOWN_LENGTH characters.
 */

export const MAX_MARKDOWN_LENGTH = 8 * 1024 * 1024

// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]+/g
/** The fence of a code block; a quotation or list item may stand before it. */
const FENCE = /^[ >\-*\d.]*(`{3,}|~{3,})/

/** Nearly all lines stay as they are, so runs of them are copied at once. */
export function tidyMarkdown(markdown: string): string {
  const bounded = markdown.length > MAX_MARKDOWN_LENGTH ? cutAtLine(markdown) : markdown
  const text = bounded.replace(CONTROL, '')
  const mayHaveFences = text.includes('```') || text.includes('~~~')
  let out = ''
  let runStart = 0
  let blank = true
  let fence = ''
  for (let start = 0, end = 0; start <= text.length; start = end + 1) {
    end = text.indexOf('\n', start)
    if (end < 0) end = text.length
    if (fence !== '') {
      if (closesFence(text.slice(start, end), fence)) fence = ''
    } else if (isBlank(text, start, end)) {
      // The first of several is kept, without its spaces.
      if (blank || end > start) {
        out += text.slice(runStart, start)
        if (!blank) out += '\n'
        runStart = end + 1
      }
      blank = true
      continue
    } else if (mayHaveFences) fence = FENCE.exec(text.slice(start, end))?.[1] ?? ''
    blank = false
  }
  out += text.slice(runStart)
  out = out.trimEnd()
  return out === '' ? '' : out + '\n'
}

function isBlank(text: string, start: number, end: number): boolean {
  if (start === end) return true
  const first = text.charCodeAt(start)
  return (first <= SPACE || first >= FIRST_BEYOND_ASCII) && text.slice(start, end).trim() === ''
}

const SPACE = 32
const FIRST_BEYOND_ASCII = 128

function closesFence(line: string, fence: string): boolean {
  return line.includes(fence) && line.replace(/^[ >]*/, '').trimEnd() === fence
}

function cutAtLine(markdown: string): string {
  const cut = markdown.lastIndexOf('\n', MAX_MARKDOWN_LENGTH)
  return markdown.slice(0, cut > 0 ? cut : MAX_MARKDOWN_LENGTH).toWellFormed()
}
