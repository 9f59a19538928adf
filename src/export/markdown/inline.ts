/**
 * Markdown within a block, cut into what it is made of: code, targets of links and images, and the rest. Linear in the
 * length of the text, whatever it holds.
 */

export type Span =
  | { readonly kind: 'text'; readonly text: string }
  /** Code with its backticks. */
  | { readonly kind: 'code'; readonly text: string }
  /** Where a link or an image leads: what stands between `](` and `)`, both left to the text around it. */
  | { readonly kind: 'target'; readonly text: string; readonly url: string }

/** Longer runs of backticks are text: nobody writes them, and each length is looked for on its own. */
const MAX_BACKTICKS = 10
/** Brackets that are open at once within a target. */
const MAX_NESTING = 32

export function* inlineSpans(text: string): Generator<Span> {
  const unclosed = new Set<number>()
  let kept = 0
  for (let at = 0; at < text.length;) {
    const unit = text[at]
    if (unit === '\\') at += 2
    else if (unit === '`') {
      const length = runLength(text, at)
      const end = length > MAX_BACKTICKS || unclosed.has(length) ? -1 : closingRun(text, at + length, length)
      if (end === -1) {
        unclosed.add(length)
        at += length
        continue
      }
      if (at > kept) yield { kind: 'text', text: text.slice(kept, at) }
      yield { kind: 'code', text: text.slice(at, end) }
      kept = at = end
    } else if (unit === ']' && text[at + 1] === '(') {
      const target = targetAt(text, at + 2)
      if (target === undefined) {
        at += 2
        continue
      }
      yield { kind: 'text', text: text.slice(kept, at + 2) }
      yield { kind: 'target', text: text.slice(at + 2, target.end), url: target.url }
      kept = at = target.end
    } else at += 1
  }
  if (kept < text.length) yield { kind: 'text', text: text.slice(kept) }
}

/** The text with the targets of links replaced, where there is something to replace them by. */
export function withTargets(text: string, replace: (url: string) => string | undefined): string {
  if (!text.includes('](')) return text
  let out = ''
  for (const span of inlineSpans(text)) {
    const target = span.kind === 'target' ? replace(span.url) : undefined
    out += target ?? span.text
  }
  return out
}

function runLength(text: string, at: number): number {
  let end = at
  while (text[end] === '`') end++
  return end - at
}

/** Behind the next run of exactly so many backticks; -1 for none. */
function closingRun(text: string, from: number, length: number): number {
  for (let at = text.indexOf('`', from); at !== -1;) {
    const found = runLength(text, at)
    if (found === length) return at + length
    at = text.indexOf('`', at + found)
  }
  return -1
}

/** A target in angle brackets, or one without spaces and with its brackets in pairs; a title may follow it. */
function targetAt(text: string, from: number): { url: string; end: number } | undefined {
  const end = text[from] === '<' ? angleEnd(text, from + 1) : plainEnd(text, from)
  if (end === undefined) return undefined
  const url = text[from] === '<' ? text.slice(from + 1, end - 1) : text.slice(from, end)
  return { url: url.replaceAll(/\\([!-/:-@[-`{-~])/g, '$1'), end }
}

/** Longer targets are none: no URL is. */
const MAX_TARGET = 10_000

function angleEnd(text: string, from: number): number | undefined {
  for (let at = from; at < text.length && at < from + MAX_TARGET; at++) {
    const unit = text[at]
    if (unit === '>') return at + 1
    if (unit === '<' || unit === '\n') return undefined
    if (unit === '\\') at++
  }
  return undefined
}

function plainEnd(text: string, from: number): number | undefined {
  let open = 0
  for (let at = from; at < text.length && at < from + MAX_TARGET; at++) {
    const unit = text[at]
    if (unit === '\\') at++
    else if (unit === '(') {
      if (++open > MAX_NESTING) return undefined
    } else if (unit === ')') {
      if (open === 0) return at
      open--
    } else if (unit === ' ' || unit === '\t' || unit === '\n') return open === 0 && at > from ? at : undefined
  }
  return undefined
}
