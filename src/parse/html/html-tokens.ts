/**
 * Start tags, end tags and text out of HTML, by htmlparser2's tokenizer: the one file that knows it. Its parser is not
 * used: it guesses at a tree, and its stack of open elements makes deep nesting quadratic. Time and memory here are
 * linear in the page, whatever its nesting.
 *
 * The tokenizer departs from the HTML Standard in four ways. One is mended here: outside svg and math,
 * `<![CDATA[` is a comment that ends at the first `>`. Three are left, as they cost at most a link in broken markup:
 * quotes in an end tag's attributes, `<script>` nested inside `<!--` inside a script, and `/ >` read as `/>`.
 */
import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2'

export interface TokenReader {
  /** Whether this element's attributes are wanted; reading only these keeps the others free of charge. */
  wantsAttributes(name: string): boolean
  /** Whether markup here belongs to svg or math, where `<title>` or `<script>` is an element like any other. */
  isForeign(): boolean
  /** A start tag, with its name in lower case. False ends the reading. */
  openTag(name: string, attributes: Attributes, isSelfClosing: boolean): boolean
  closeTag(name: string): void
  /** Text, in pieces, with character references decoded. */
  text(piece: string): void
}

/** Attributes by lower-case name, character references decoded. Of two with one name, the first counts. */
export type Attributes = ReadonlyMap<string, string>

const NO_ATTRIBUTES: Attributes = new Map()
const CDATA = '[CDATA['

/**
 * How often the reading starts again after CDATA that is a comment; each time costs another look at that section.
 * After this many, no marker on the page is taken for CDATA any more, not even in svg.
 */
const MAX_RESTARTS = 16

export function readTokens(html: string, reader: TokenReader): void {
  let rest = html
  for (let restarts = 1; ; restarts++) {
    const comment = readUntilCdataComment(rest, reader)
    const end = comment === -1 ? -1 : rest.indexOf('>', comment)
    if (end === -1) return
    rest = rest.slice(end + 1)
    if (restarts === MAX_RESTARTS) rest = rest.replaceAll('<!' + CDATA, '<!.CDATA[')
  }
}

/** Returns where the text of a CDATA section outside of svg and math begins, at which it has stopped; -1 at the end. */
function readUntilCdataComment(html: string, reader: TokenReader): number {
  let name = ''
  let isWanted = false
  let attributes: Map<string, string> | undefined
  let attributeName = ''
  let attributeValue = ''
  let comment = -1

  const endTag = (isSelfClosing: boolean): void => {
    const given = attributes ?? NO_ATTRIBUTES
    attributes = undefined
    if (!reader.openTag(name, given, isSelfClosing)) tokenizer.pause()
  }
  const stopAtComment = (start: number): void => {
    comment = start
    tokenizer.pause()
  }
  const callbacks: TokenizerCallbacks = {
    onopentagname(start, end) {
      name = lowerCase(html.slice(start, end))
      isWanted = reader.wantsAttributes(name)
    },
    onattribname(start, end) {
      if (isWanted) attributeName = lowerCase(html.slice(start, end))
    },
    onattribdata(start, end) {
      if (isWanted) attributeValue += html.slice(start, end)
    },
    onattribentity(code) {
      if (isWanted) attributeValue += String.fromCodePoint(code)
    },
    onattribend() {
      if (!isWanted) return
      attributes ??= new Map()
      if (!attributes.has(attributeName)) attributes.set(attributeName, attributeValue.replaceAll('\0', '\ufffd'))
      attributeValue = ''
    },
    onopentagend: () => endTag(false),
    onselfclosingtag: () => endTag(true),
    onclosetag: (start, end) => reader.closeTag(lowerCase(html.slice(start, end))),
    ontext: (start, end) => reader.text(html.slice(start, end)),
    ontextentity: (code) => reader.text(String.fromCodePoint(code)),
    oncdata(start, end, endOffset) {
      if (reader.isForeign()) reader.text(html.slice(start, end - endOffset))
      else stopAtComment(start)
    },
    oncomment(start) {
      // A CDATA section that never ends arrives as a comment that reaches the end of the page.
      if (html.startsWith(CDATA, start) && !reader.isForeign()) stopAtComment(start)
    },
    ondeclaration() {},
    onprocessinginstruction() {},
    onend() {},
    isInForeignContext: () => reader.isForeign(),
  }
  const tokenizer = new Tokenizer({}, callbacks)
  tokenizer.write(html)
  tokenizer.end()
  return comment
}

/** Lower case for ASCII alone: U+212A KELVIN SIGN must not become the k of `link`. */
function lowerCase(name: string): string {
  return /[A-Z]/.test(name) ? name.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase()) : name
}
