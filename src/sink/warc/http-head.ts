/**
 * The head of an HTTP message as an archive keeps it: the lines that were sent, in their order and case. It is changed
 * only where a reader would be led astray: a body that was cut or came in chunks is not what its head announces, so
 * those header fields are kept under another name, as other crawlers do, and the true length takes their place.
 *
 * Kept true, whatever a server sends: the status line is one, the head ends at its first empty line, and that is the
 * last one.
 */

export interface ResponseHead {
  /** Latin-1. */
  readonly text: string
  /** The media type that the head names, without parameters; `unk` where it names none. */
  readonly mime: string
  /** The body is compressed already. */
  readonly isEncoded: boolean
}

/** Answers without a body, whose Content-Length is about another one (RFC 9110 §8.6). */
const BODILESS = new Set([204, 304])
/** They are never part of an archive, whoever hands them over. */
const CREDENTIALS = new Set(['authorization', 'cookie', 'proxy-authorization'])

export function archivedResponseHead(head: string, status: number, bodyBytes: number): ResponseHead {
  const [first = '', ...lines] = linesOf(head)
  const names = lines.map(nameOf)
  const isStatusLine = /^HTTP\/\d(?:\.\d)? \d{3}(?: |$)/.test(first)
  const kept = isStatusLine
    ? [first]
    : [`HTTP/1.1 ${status} `, ...(first === '' ? [] : [`X-Crawler-Status-Line: ${first}`])]
  const isWrong = (line: string): boolean => valueOf(line) !== String(bodyBytes)
  const isLengthWrong =
    !BODILESS.has(status) && lines.some((line, index) => names[index] === 'content-length' && isWrong(line))
  let isEncoded = false
  for (const [index, line] of lines.entries()) {
    const name = names[index]
    if (name === 'content-encoding' && valueOf(line).toLowerCase() !== 'identity') isEncoded = true
    const isMisleading = name === 'transfer-encoding' || (name === 'content-length' && isLengthWrong)
    kept.push(isMisleading ? `X-Crawler-${line}` : line)
  }
  if (isLengthWrong) kept.push(`Content-Length: ${bodyBytes}`)
  return { text: headOf(kept), mime: firstMediaType(lines, names), isEncoded }
}

/** Nearly every head of a request is whole, with nothing in it to change. */
const WHOLE = /^(?:[!-~][\t -~]*\r\n)+\r\n$/
const CREDENTIAL_FIELD = new RegExp(`\\n(?:${[...CREDENTIALS].join('|')})[\\t ]*:`, 'i')

/** Latin-1. */
export function archivedRequestHead(head: string): string {
  if (WHOLE.test(head) && !CREDENTIAL_FIELD.test(head)) return head
  let isSecret = false
  return headOf(
    linesOf(head).filter((line, index) => {
      // A line that begins with a space goes on with the one before it.
      if (!/^[ \t]/.test(line)) isSecret = index > 0 && CREDENTIALS.has(nameOf(line))
      return !isSecret
    }),
  )
}

/** Line ends inside of a line, and whatever is no octet, are no longer there. */
function linesOf(head: string): string[] {
  // Nearly every head is plain, with nothing in it to change.
  if (/^(?:[!-~][\t -~]*\r\n)*(?:\r\n)?$/.test(head)) return head.split('\r\n').filter((line) => line !== '')
  const octets = head.replaceAll('\0', ' ').replaceAll(/[^\p{ASCII}\u0080-\u00ff]/gu, '?')
  const lines = octets.split('\r\n').map((line) => line.replaceAll(/[\r\n]/g, ' '))
  return lines.filter((line) => line.trim() !== '')
}

const headOf = (lines: readonly string[]): string => `${lines.join('\r\n')}\r\n\r\n`

const nameOf = (line: string): string =>
  line
    .slice(0, Math.max(0, line.indexOf(':')))
    .trim()
    .toLowerCase()
const valueOf = (line: string): string => line.slice(line.indexOf(':') + 1).trim()

/** As `archivedResponseHead` says it, from a head that it made; the head ends at the first empty line. */
export function mediaTypeOf(archivedHead: string): string {
  const lines = linesOf(archivedHead.split('\r\n\r\n', 1)[0] ?? '').slice(1)
  return firstMediaType(lines, lines.map(nameOf))
}

function firstMediaType(lines: readonly string[], names: readonly string[]): string {
  const named = lines.filter((_, index) => names[index] === 'content-type').map((line) => mediaType(valueOf(line)))
  return named.find((type) => type !== undefined) ?? 'unk'
}

function mediaType(value: string): string | undefined {
  return /^[\w!#$&^.+-]{1,64}\/[\w!#$&^.+-]{1,64}(?=\s*(?:;|$))/.exec(value)?.[0].toLowerCase()
}
