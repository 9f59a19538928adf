/** The URL in `<meta http-equiv=refresh content="…">`, by the HTML Standard's "shared declarative refresh steps". */
import { isAsciiWhitespace } from '../charset/encoding-label.ts'

/** The reference as written, to be resolved against the page; null when the content is invalid or names no URL. */
export function refreshReference(content: string): string | null {
  let at = skip(content, 0, isAsciiWhitespace)
  const digits = skip(content, at, isDigit)
  if (digits === at && content[at] !== '.') return null
  at = skip(content, digits, isDigitOrDot)
  if (at >= content.length) return null
  const separator = content.charCodeAt(at)
  if (content[at] !== ';' && content[at] !== ',' && !isAsciiWhitespace(separator)) return null
  at = skip(content, at, isAsciiWhitespace)
  if (content[at] === ';' || content[at] === ',') at++
  at = skip(content, at, isAsciiWhitespace)
  if (at >= content.length) return null
  const whole = content.slice(at)
  if (/^u/i.test(whole)) {
    const label = /^url[\t\n\f\r ]*=[\t\n\f\r ]*/i.exec(whole)
    // A reference may itself begin with a u: then there is no label, and nothing is cut off.
    if (label === null) return whole
    at += label[0].length
  }
  const quote = content[at]
  if (quote !== '"' && quote !== "'") return content.slice(at)
  const end = content.indexOf(quote, at + 1)
  return end === -1 ? content.slice(at + 1) : content.slice(at + 1, end)
}

function skip(text: string, start: number, belongs: (code: number) => boolean): number {
  let at = start
  while (at < text.length && belongs(text.charCodeAt(at))) at++
  return at
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

function isDigitOrDot(code: number): boolean {
  return isDigit(code) || code === 0x2e
}
