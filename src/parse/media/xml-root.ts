/**
 * The first element of an XML text: a feed, a sitemap and an XHTML page are all served under types that say XML alone.
 * Comments, instructions and the DOCTYPE before it are read past; no entity is read at all.
 */
import { TextDecoder } from 'node:util'
import { encodingOfBom, encodingOfUtf16Declaration, encodingOfUtf16Markup } from '../charset/encoding-sniff.ts'

/** Licences and style sheets may come first; what begins later than this is not looked for. */
const MAX_HEAD_BYTES = 16_384

/** The beginning of an XML text, decoded as far as markup needs it: names of elements are ASCII. */
export function xmlHead(bytes: Uint8Array): string {
  const head = bytes.subarray(0, MAX_HEAD_BYTES)
  const encoding = encodingOfBom(head) ?? encodingOfUtf16Declaration(head) ?? encodingOfUtf16Markup(head)
  return new TextDecoder(encoding ?? 'latin1').decode(head)
}

/** The name of the first element as written, with its prefix; undefined if none begins in this text. */
export function xmlRootOf(head: string): string | undefined {
  let at = 0
  for (;;) {
    at = skipBlank(head, at)
    if (head[at] !== '<') return undefined
    if (head.startsWith('<!--', at)) at = after(head, '-->', at + 4)
    else if (head.startsWith('<?', at)) at = after(head, '?>', at + 2)
    else if (head[at + 1] === '!') at = afterDoctype(head, at)
    else return /^[^\s/>]+/.exec(head.slice(at + 1, at + 65))?.[0]
    if (at === -1) return undefined
  }
}

function skipBlank(text: string, start: number): number {
  let at = start
  while (at < text.length && text.charCodeAt(at) <= 0x20) at++
  return at
}

function after(text: string, terminator: string, start: number): number {
  const end = text.indexOf(terminator, start)
  return end === -1 ? -1 : end + terminator.length
}

/** A DOCTYPE may hold declarations between brackets, each with a `>` of its own. */
function afterDoctype(text: string, start: number): number {
  const end = text.indexOf('>', start)
  const bracket = text.indexOf('[', start)
  if (bracket === -1 || end < bracket) return end === -1 ? -1 : end + 1
  const close = /\]\s*>/g
  close.lastIndex = bracket
  const match = close.exec(text)
  return match === null ? -1 : match.index + match[0].length
}
