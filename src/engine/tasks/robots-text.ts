/**
 * The text of a robots.txt as it is kept: what was received, cut at the end of a line if it went on beyond what is
 * parsed, and without loss. RFC 9309 compares octets, so those that are no UTF-8 are written as the percent-encoding that
 * they are equal to; text that has lost them would forbid less than the file does.
 */
import { isUtf8 } from 'node:buffer'
import { ROBOTS_MAX_BYTES } from '../../robots/index.ts'

/** What is looked at to tell a page from a robots.txt. */
const HEAD_CHARACTERS = 1_024

/** `truncated`: there was more than the bytes given. */
export function robotsText(bytes: Uint8Array, truncated: boolean): string {
  const isCut = truncated || bytes.length > ROBOTS_MAX_BYTES
  const part = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, ROBOTS_MAX_BYTES))
  const utf16 = utf16Label(part)
  if (utf16 !== undefined) return wholeLines(new TextDecoder(utf16).decode(part), isCut)
  const octets = wholeLines(part.toString('latin1'), isCut).replace(
    /^(?:\u00ef\u00bb\u00bf|\u00ff\u00fe|\u00fe\u00ff)/,
    '',
  )
  const whole = Buffer.from(octets, 'latin1')
  if (isUtf8(whole)) return whole.toString('utf8')
  return octets.replace(/[\u0080-\u00ff]/g, (octet) => `%${octet.charCodeAt(0).toString(16).toUpperCase()}`)
}

/**
 * An HTML page in the place of a robots.txt, as servers send it that know no 404. Rules can only follow a user-agent
 * line; a page that has one is read like any other text (RFC 9309 §2.3.1.1).
 */
export function isHtmlPage(text: string): boolean {
  const head = text.slice(0, HEAD_CHARACTERS).trimStart()
  if (!/^<(?:!doctype\s|!--|html|head|body|title|meta|script|div|\?xml)/i.test(head)) return false
  return !/^[ \t]*[a-z]{3,5}[-_ ]?ag(?:en|ne)t/im.test(text)
}

/** Half a line may say the opposite of the whole one. */
function wholeLines(text: string, isCut: boolean): string {
  return isCut ? text.slice(0, Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1) : text
}

/** RFC 9309 §2.3 wants UTF-8. A byte order mark with a zero octet after it leaves no doubt about what was meant. */
function utf16Label(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe && bytes[3] === 0) return 'utf-16le'
  if (bytes[0] === 0xfe && bytes[1] === 0xff && bytes[2] === 0) return 'utf-16be'
  return undefined
}
