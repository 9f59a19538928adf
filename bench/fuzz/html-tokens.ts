/** Our scanner beside the tokenizer of parse5: tags, the attributes that we keep, and text must be the same. */
import { Tokenizer, TokenizerMode, type Token, type TokenHandler } from 'parse5'
import { CLOSE_TAG, END, HtmlScanner, TEXT } from '../../src/parse/html/html-scanner.ts'
import { HREF, HTML_VOCABULARY } from '../../src/parse/html/html-vocabulary.ts'
import { sourceOfText } from '../../src/parse/html/page-source.ts'

/** How parse5 goes on after a start tag, where what follows is text. */
const MODES: Readonly<Record<string, (typeof TokenizerMode)[keyof typeof TokenizerMode]>> = {
  title: TokenizerMode.RCDATA,
  textarea: TokenizerMode.RCDATA,
  iframe: TokenizerMode.RAWTEXT,
  noembed: TokenizerMode.RAWTEXT,
  noframes: TokenizerMode.RAWTEXT,
  style: TokenizerMode.RAWTEXT,
  xmp: TokenizerMode.RAWTEXT,
  script: TokenizerMode.SCRIPT_DATA,
  plaintext: TokenizerMode.PLAINTEXT,
}
/** Differences are shown up to here. */
const SHOWN_CHARS = 200

/** Throws where the two differ. */
export function compareTokens(bytes: Uint8Array): void {
  const page = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    .toString('utf8')
    .replaceAll(/\r\n?/g, '\n')
    .replace(/^\ufeff/, '')
  const [ours, theirs] = [ourTokens(page), theirTokens(page)]
  const at = ours.findIndex((token, index) => token !== theirs[index])
  if (at === -1 && ours.length === theirs.length) return
  const place = at === -1 ? ours.length : at
  const shown = (tokens: readonly string[]): string => JSON.stringify(tokens[place] ?? null).slice(0, SHOWN_CHARS)
  throw new Error(`token ${place} is ${shown(ours)}, and to parse5 ${shown(theirs)}`)
}

function ourTokens(page: string): string[] {
  const tokens = new TokenList()
  const scanner = new HtmlScanner(sourceOfText(page), HTML_VOCABULARY)
  for (let token = scanner.next(true, false); token !== END; token = scanner.next(true, false)) {
    if (token === TEXT) {
      tokens.addText(scanner.text())
      continue
    }
    const name = Buffer.from(scanner.spelledName(), 'latin1').toString('utf8').replaceAll('\0', '\ufffd')
    if (token === CLOSE_TAG) tokens.addTag(`</${name}>`)
    else {
      tokens.addTag(`<${name}${name === 'a' ? hrefWords(scanner.get(HREF)) : ''}>`)
      scanner.readAsText()
    }
  }
  return tokens.list
}

function theirTokens(page: string): string[] {
  const tokens = new TokenList()
  const addText = ({ chars }: Token.CharacterToken): void => tokens.addText(chars)
  const handler: TokenHandler = {
    onComment() {},
    onDoctype() {},
    onEof() {},
    onCharacter: addText,
    onNullCharacter: addText,
    onWhitespaceCharacter: addText,
    onEndTag: ({ tagName }) => tokens.addTag(`</${tagName}>`),
    onStartTag({ tagName, attrs }) {
      tokens.addTag(`<${tagName}${tagName === 'a' ? hrefWords(attrs.find(({ name }) => name === 'href')?.value) : ''}>`)
      if (Object.hasOwn(MODES, tagName)) tokenizer.state = MODES[tagName] ?? TokenizerMode.DATA
    },
  }
  const tokenizer = new Tokenizer({}, handler)
  tokenizer.write(page, true)
  return tokens.list
}

const hrefWords = (value: string | undefined): string => (value === undefined ? '' : ` href=${JSON.stringify(value)}`)

/** Tags, with all text between two of them as one. */
class TokenList {
  readonly list: string[] = []
  #isText = false

  addText(text: string): void {
    if (text === '') return
    if (this.#isText) this.list[this.list.length - 1] += text
    else this.list.push(text)
    this.#isText = true
  }

  addTag(tag: string): void {
    this.list.push(tag)
    this.#isText = false
  }
}
