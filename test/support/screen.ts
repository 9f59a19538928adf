/**
 * A terminal as far as the live region needs one: text, line ends, cursor up, and clearing to the end of the line or
 * screen. Its rows never scroll away, so a test sees all that was ever printed. What it does not know, it refuses.
 */
import { Writable } from 'node:stream'

export interface Screen {
  /** What `process.stderr` would be on this terminal. */
  readonly stream: Writable & { isTTY: boolean; columns: number; rows: number }
  /** The rows as they stand, without trailing blanks. */
  rows(): string[]
  /** Everything written, as it was written. */
  raw(): string
}

export function createScreen(columns = 80): Screen {
  const rows: string[][] = [[]]
  let row = 0
  let column = 0
  let raw = ''

  const put = (character: string): void => {
    if (column >= stream.columns) {
      row++
      column = 0
    }
    while (rows.length <= row) rows.push([])
    const line = rows[row] as string[]
    while (line.length < column) line.push(' ')
    line[column] = character
    column++
  }
  const control = (sequence: string, count: number, command: string): void => {
    if (command === 'A') row = Math.max(0, row - count)
    else if (command === 'K') rows[row]?.splice(column)
    else if (command === 'J') {
      rows[row]?.splice(column)
      rows.splice(row + 1)
    } else if (command !== 'm') throw new Error(`the screen does not know ${JSON.stringify(sequence)}`)
  }

  const stream = Object.assign(
    new Writable({
      decodeStrings: false,
      write(chunk: string, _encoding, done) {
        raw += chunk
        // oxlint-disable-next-line no-control-regex
        for (const token of chunk.split(/(\u{1b}\[[0-9;]*[a-zA-Z]|\n|\r)/u)) {
          const sequence = token.startsWith('\u001b') ? /^.\[([0-9;]*)(.)$/.exec(token) : null
          if (sequence !== null) control(token, Number(sequence[1] || 1), sequence[2] ?? '')
          else if (token === '\n') {
            row++
            column = 0
            if (rows.length <= row) rows.push([])
          } else if (token === '\r') column = 0
          else for (const character of token) put(character)
        }
        done()
      },
    }),
    { isTTY: true, columns, rows: 24 },
  )
  return {
    stream,
    raw: () => raw,
    rows: () => {
      const shown = rows.map((line) => line.join('').trimEnd())
      while (shown.at(-1) === '') shown.pop()
      return shown
    },
  }
}
