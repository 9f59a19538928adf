/**
 * How many columns text takes, and cutting it so that a line never wraps. The text has passed `escapeForTerminal`,
 * save for colours (SGR sequences), which take no room. Where terminals differ, the wider reading is taken: a line
 * cut a little early does no harm, a wrapped one would break the live region.
 */

/** Marks on one character beyond this many are left out, or a line of no width could be of any length. */
const MARKS_PER_CHARACTER = 4

const ESCAPE = 0x1b
/** What follows the escape character in a colour. */
const COLOUR = /\[[0-9;]*m/y
const COLOUR_OFF = '\u001b[0m'
const MARK = /^[\p{Mn}\p{Me}]$/u
const EMOJI = /^\p{Emoji_Presentation}$/u

/** East Asian wide and fullwidth blocks (UAX #11), first and last code point; unassigned gaps are counted as wide. */
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2329, 0x232a],
  [0x2e80, 0x303e],
  [0x3041, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18dff],
  [0x1aff0, 0x1b2ff],
  [0x1f200, 0x1f64f],
  [0x1f680, 0x1f6ff],
  [0x1f900, 0x1faff],
  [0x20000, 0x3fffd],
]

function widthOf(character: string): 0 | 1 | 2 {
  const code = character.codePointAt(0) as number
  if (code < 0x300) return 1
  if (MARK.test(character)) return 0
  return WIDE.some(([first, last]) => code >= first && code <= last) || EMOJI.test(character) ? 2 : 1
}

export function displayWidth(text: string): number {
  return measure(text, Infinity).width
}

/** The text in at most `columns` columns; what is cut away is marked with an ellipsis, and colours end with it. */
export function cutToWidth(text: string, columns: number): string {
  const whole = measure(text, columns)
  if (!whole.cut) return whole.text
  if (columns <= 0) return ''
  const part = measure(text, columns - 1)
  return `${part.text}…${part.coloured ? COLOUR_OFF : ''}`
}

/** Fills up with spaces on the right, or on the left for numbers. */
export function padToWidth(text: string, columns: number, side: 'left' | 'right' = 'right'): string {
  const spaces = ' '.repeat(Math.max(0, columns - displayWidth(text)))
  return side === 'right' ? text + spaces : spaces + text
}

interface Measured {
  /** What fits. */
  readonly text: string
  readonly width: number
  readonly cut: boolean
  readonly coloured: boolean
}

function measure(text: string, columns: number): Measured {
  let kept = ''
  let width = 0
  let marks = 0
  let coloured = false
  for (let at = 0; at < text.length;) {
    COLOUR.lastIndex = at + 1
    if (text.charCodeAt(at) === ESCAPE && COLOUR.test(text)) {
      kept += text.slice(at, COLOUR.lastIndex)
      coloured = true
      at = COLOUR.lastIndex
      continue
    }
    const character = String.fromCodePoint(text.codePointAt(at) as number)
    at += character.length
    const columnsOfIt = widthOf(character)
    marks = columnsOfIt === 0 ? marks + 1 : 0
    if (marks > MARKS_PER_CHARACTER) continue
    if (width + columnsOfIt > columns) return { text: kept, width, cut: true, coloured }
    kept += character
    width += columnsOfIt
  }
  return { text: kept, width, cut: false, coloured }
}
