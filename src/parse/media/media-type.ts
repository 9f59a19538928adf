/**
 * What a Content-Type header says: the media type and the label of its charset. By "extract a MIME type" of the Fetch
 * Standard §2.2.2, which also reads several headers joined by commas, and "parse a MIME type" of the MIME Sniffing
 * Standard §4.4. What a label means is left to `encoding-label.ts`.
 */

export interface MediaType {
  /** Type and subtype in lower case, without parameters. */
  readonly essence: string
  /** The first `charset` parameter, as written. */
  readonly charset: string | null
}

/** A longer header is no header that a server sends; its rest is not read. */
export const MAX_HEADER_CHARS = 8_192

/** What was read last: most answers of a host, and so of a moment, say the same. */
let lastHeader: string | null = null
let lastAnswer: MediaType | null = null

/** Null where the header is missing or says nothing that could be read. */
export function mediaTypeOf(contentType: string | null): MediaType | null {
  if (contentType === lastHeader) return lastAnswer
  lastAnswer = contentType === null ? null : readMediaType(contentType)
  lastHeader = contentType
  return lastAnswer
}

function readMediaType(contentType: string): MediaType | null {
  let last: MediaType | null = null
  for (const value of splitAtCommas(contentType.slice(0, MAX_HEADER_CHARS))) {
    const next = parseMediaType(value)
    if (next === null || next.essence === '*/*') continue
    // The last one counts; a charset holds on for as long as the type stays the same.
    const inherited: string | null = last !== null && last.essence === next.essence ? last.charset : null
    last = { essence: next.essence, charset: next.charset ?? inherited }
  }
  return last
}

function parseMediaType(value: string): MediaType | null {
  const semicolon = value.indexOf(';')
  const essence = trimHttpWhitespace(semicolon === -1 ? value : value.slice(0, semicolon)).toLowerCase()
  const slash = essence.indexOf('/')
  if (slash === -1 || !isToken(essence.slice(0, slash)) || !isToken(essence.slice(slash + 1))) return null
  let at = semicolon
  while (at !== -1 && at < value.length) {
    const nameStart = skipHttpWhitespace(value, at + 1)
    let nameEnd = nameStart
    while (nameEnd < value.length && value[nameEnd] !== ';' && value[nameEnd] !== '=') nameEnd++
    at = nameEnd
    if (value[nameEnd] !== '=') continue
    const isQuoted = value[nameEnd + 1] === '"'
    const quoted = isQuoted ? readQuotedString(value, nameEnd + 2) : undefined
    const semicolonAfter = value.indexOf(';', quoted?.end ?? nameEnd)
    at = semicolonAfter === -1 ? value.length : semicolonAfter
    if (value.slice(nameStart, nameEnd).toLowerCase() !== 'charset') continue
    const charset = quoted?.text ?? trimEndHttpWhitespace(value.slice(nameEnd + 1, at))
    // An empty value counts only in quotes; one that no header may hold does not count at all.
    if ((isQuoted || charset !== '') && isHeaderText(charset)) return { essence, charset }
  }
  return { essence, charset: null }
}

/** What stands between quotes, from `start` after the opening one, with `\` before a character taken away. */
function readQuotedString(value: string, start: number): { text: string; end: number } {
  let text = ''
  let at = start
  while (at < value.length && value[at] !== '"') {
    if (value[at] === '\\' && at + 1 < value.length) at++
    text += value[at++]
  }
  return { text, end: at }
}

/** A comma inside a quoted string separates nothing ("get, decode, and split"). */
export function splitAtCommas(header: string): string[] {
  if (!header.includes(',')) return [header]
  const values: string[] = []
  let start = 0
  for (let at = 0; at < header.length; at++) {
    if (header[at] === '"') at = readQuotedString(header, at + 1).end
    else if (header[at] === ',') {
      values.push(header.slice(start, at))
      start = at + 1
    }
  }
  values.push(header.slice(start))
  return values
}

function isToken(text: string): boolean {
  return /^[-!#$%&'*+.^_`|~\w]+$/.test(text)
}

/** HTTP quoted-string token code points: tab, and everything printable up to U+00FF. */
function isHeaderText(text: string): boolean {
  return /^[\t -~\u0080-\u00ff]*$/.test(text)
}

function isHttpWhitespace(char: string | undefined): boolean {
  return char === ' ' || char === '\t' || char === '\n' || char === '\r'
}

function skipHttpWhitespace(text: string, start: number): number {
  let at = start
  while (isHttpWhitespace(text[at])) at++
  return at
}

function trimEndHttpWhitespace(text: string): string {
  let end = text.length
  while (end > 0 && isHttpWhitespace(text[end - 1])) end--
  return text.slice(0, end)
}

function trimHttpWhitespace(text: string): string {
  return trimEndHttpWhitespace(text.slice(skipHttpWhitespace(text, 0)))
}
