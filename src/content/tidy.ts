/**
 * The last touch on Markdown: no control characters but newline and tab, no runs of empty lines outside code blocks,
 * one newline at the end, and no more than MAX_MARKDOWN_LENGTH characters.
 */

export const MAX_MARKDOWN_LENGTH = 8 * 1024 * 1024

// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]+/g
/** Blank lines, or the fence of a code block; a quotation or list item may stand before a fence. */
const FENCE = /^[ >\-*\d.]*(`{3,}|~{3,})/

export function tidyMarkdown(markdown: string): string {
  const bounded = markdown.length > MAX_MARKDOWN_LENGTH ? cutAtLine(markdown) : markdown
  const lines = bounded.replace(CONTROL, '').split('\n')
  let out = ''
  let blank = true
  let fence = ''
  for (const line of lines) {
    if (fence === '') {
      if (line.trim() === '') {
        if (!blank) out += '\n'
        blank = true
        continue
      }
      fence = FENCE.exec(line)?.[1] ?? ''
    } else if (line.includes(fence) && line.replace(/^[ >]*/, '').trimEnd() === fence) fence = ''
    blank = false
    out += line + '\n'
  }
  return out === '' ? '' : out.trimEnd() + '\n'
}

function cutAtLine(markdown: string): string {
  const cut = markdown.lastIndexOf('\n', MAX_MARKDOWN_LENGTH)
  return markdown.slice(0, cut > 0 ? cut : MAX_MARKDOWN_LENGTH).toWellFormed()
}
