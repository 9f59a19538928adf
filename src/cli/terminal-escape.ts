/**
 * What comes from the network must not run in the terminal, nor make it lie. Control characters move the cursor and
 * set titles; bidirectional marks reorder what is read; invisible characters hide what is there. All of them become
 * visible escapes; nothing else is changed.
 */

/**
 * Cc: C0, DEL and C1. Zl, Zp: line and paragraph separators. Cs: lone surrogates. Default ignorable: bidirectional
 * marks, overrides and isolates, zero-width characters, fillers, variation selectors and tags. U+FFF9 to U+FFFB
 * annotate other text and are shown by no terminal.
 */
const DANGEROUS = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\u{fff9}-\u{fffb}]/gu

/** For text inside one line: line ends and tabs are escaped too. */
export function escapeForTerminal(text: string): string {
  return text.replace(DANGEROUS, visible)
}

/** For text of many lines: line ends and tabs stay. */
export function escapeLines(text: string): string {
  return text.replace(DANGEROUS, (character) => (isLayout(character) ? character : visible(character)))
}

/** For JSON, which stays the same JSON: inside its strings, and only there, an escape means the character. */
export function escapeJson(json: string): string {
  return json.replace(DANGEROUS, (character) => (isLayout(character) ? character : jsonEscape(character)))
}

function isLayout(character: string): boolean {
  return character === '\n' || character === '\t'
}

function visible(character: string): string {
  const code = character.codePointAt(0) as number
  return code <= 0xff ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`
}

function jsonEscape(character: string): string {
  let escaped = ''
  for (let i = 0; i < character.length; i++) {
    escaped += `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`
  }
  return escaped
}
