/**
 * Where the parts of a page that are no tags come to an end: comments, declarations, raw text; and what a tag's name
 * consists of. By the tokenizer's rules (HTML §13.2.5), in time linear in what is passed over.
 */
import { findTagEnd, isSpace } from './attributes.ts'
import type { Page } from './page.ts'

/** Just behind a comment, doctype or other declaration that begins at `at`; the end of the text if it never ends. */
export function endOfDeclaration(html: string, at: number): number {
  if (html.startsWith('<!--', at)) {
    if (html.startsWith('>', at + 4)) return at + 5
    if (html.startsWith('->', at + 4)) return at + 6
    const end = html.indexOf('--', at + 4)
    for (let dashes = end; dashes >= 0; dashes = html.indexOf('--', dashes + 1)) {
      if (html.charCodeAt(dashes + 2) === 62) return dashes + 3
      if (html.startsWith('!>', dashes + 2)) return dashes + 4
    }
    return html.length
  }
  const end = html.indexOf('>', at + 2)
  return end < 0 ? html.length : end + 1
}

/** Just behind the end tag of a raw text element; the end of the text if there is none. */
export function endOfRawText(page: Page, from: number, name: string): number {
  const { html } = page
  for (let at = html.indexOf('</', from); at >= 0; at = html.indexOf('</', at + 2)) {
    const nameEnd = at + 2 + name.length
    if (html.slice(at + 2, nameEnd).toLowerCase() !== name) continue
    if (!endsTagName(html.charCodeAt(nameEnd))) continue
    const end = findTagEnd(page, nameEnd)
    return end < 0 ? html.length : end
  }
  return html.length
}

export function isLetter(code: number): boolean {
  const lower = code | 32
  return lower >= 97 && lower <= 122
}

export function endsTagName(code: number): boolean {
  return code === 62 || code === 47 || isSpace(code)
}
