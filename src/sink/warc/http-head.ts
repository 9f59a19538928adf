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

/** Nearly every head is whole, plain, and true of the body that is kept. */
const WHOLE_ANSWER = /^HTTP\/\d(?:\.\d)? \d{3}(?: [\t -~]*)?\r\n(?:[!-~][\t -~]*\r\n)*\r\n$/
const CHUNKS = /\ntransfer-encoding[\t ]*:/i
const LENGTHS = /\ncontent-length[\t ]*:[\t ]*([^\r\n]*)/gi
const CODING = /\ncontent-encoding[\t ]*:(?![\t ]*identity[\t ]*\r)/i
const MEDIA_TYPE = /\ncontent-type[\t ]*:[\t ]*([\w!#$&^.+-]{1,64}\/[\w!#$&^.+-]{1,64})[\t ]*[;\r]/i

export function archivedResponseHead(head: string, status: number, bodyBytes: number): ResponseHead {
  const isTrue = WHOLE_ANSWER.test(head) && !CHUNKS.test(head) && isLengthTrue(head, status, bodyBytes)
  const text = isTrue ? head : amendedHead(head, status, bodyBytes)
  return { text, mime: mediaTypeOf(text), isEncoded: CODING.test(text) }
}

function isLengthTrue(head: string, status: number, bodyBytes: number): boolean {
  if (BODILESS.has(status)) return true
  LENGTHS.lastIndex = 0
  for (let found = LENGTHS.exec(head); found !== null; found = LENGTHS.exec(head)) {
    if (found[1]?.trim() !== String(bodyBytes)) return false
  }
  return true
}

function amendedHead(head: string, status: number, bodyBytes: number): string {
  const [first = '', ...lines] = linesOf(head)
  const names = lines.map(nameOf)
  const isStatusLine = /^HTTP\/\d(?:\.\d)? \d{3}(?: |$)/.test(first)
  const kept = isStatusLine
    ? [first]
    : [`HTTP/1.1 ${status} `, ...(first === '' ? [] : [`X-Crawler-Status-Line: ${first}`])]
  const isWrong = (line: string): boolean => line.slice(line.indexOf(':') + 1).trim() !== String(bodyBytes)
  const isLengthWrong =
    !BODILESS.has(status) && lines.some((line, index) => names[index] === 'content-length' && isWrong(line))
  for (const [index, line] of lines.entries()) {
    const name = names[index]
    const isMisleading = name === 'transfer-encoding' || (name === 'content-length' && isLengthWrong)
    kept.push(isMisleading ? `X-Crawler-${line}` : line)
  }
  if (isLengthWrong) kept.push(`Content-Length: ${bodyBytes}`)
  return headOf(kept)
}

/** As `archivedResponseHead` says it, from a head that it made; the head ends at the first empty line. */
export function mediaTypeOf(archivedHead: string): string {
  const end = archivedHead.indexOf('\r\n\r\n')
  const head = end === -1 ? `${archivedHead}\r` : archivedHead.slice(0, end + 1)
  return MEDIA_TYPE.exec(head)?.[1]?.toLowerCase() ?? 'unk'
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
