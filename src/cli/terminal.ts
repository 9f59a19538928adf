/**
 * The printer: the one place that decides what is printed, and where. Data goes to stdout, everything else to
 * stderr; progress is drawn in place, and only on a terminal.
 *
 * It keeps true: nothing printed by `data`, `result`, `note`, `warn` or `error` can control the terminal, whoever
 * wrote it; a note never tears the live region; a reader that went away ends the program quietly. It leaves the
 * words to its callers, and the escaping of lines for `report` and `live`, which may be coloured, to their renderers.
 */
import type { Writable } from 'node:stream'
import { TiptoeError } from '../model/index.ts'
import { escapeForTerminal, escapeJson, escapeLines } from './terminal-escape.ts'
import { paint, type Style } from './terminal-style.ts'
import { cutToWidth, displayWidth } from './terminal-width.ts'

export { escapeForTerminal } from './terminal-escape.ts'
export { paint, type Style } from './terminal-style.ts'
export { cutToWidth, displayWidth, padToWidth } from './terminal-width.ts'

/** For a terminal that does not tell its size. */
const COLUMNS = 80
const ROWS = 24

/** `process.stdout` and `process.stderr` are such streams, whatever they are connected to. */
export type TerminalStream = Writable & {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
}

export interface TerminalOptions {
  readonly stdout: TerminalStream
  readonly stderr: TerminalStream
  /** `NO_COLOR`, `CI` and `TERM` are read. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Errors only. */
  readonly quiet: boolean
  /** Details too. */
  readonly verbose: boolean
  /** Results are printed as JSON. */
  readonly json?: boolean
  /**
   * Called once when stdout takes no more: without an error when its reader went away (as in `| head`), which is a
   * quiet end, and with one when it broke (a full disk).
   */
  readonly onClosed?: (error?: TiptoeError) => void
}

export interface Terminal {
  /** Whether lines for stderr may be coloured. */
  readonly color: boolean
  /** Whether `live` shows anything; where it does not, nothing need be rendered. */
  readonly isLive: boolean
  /** The width of the live region as it stands. */
  readonly columns: number
  /** To stdout, with a line end if there is none. A file or pipe gets the text as it is, a terminal gets it escaped. */
  data(text: string): void
  /** To stdout: the value as JSON if that was asked for, else its words. */
  result(value: unknown, words: () => string): void
  /** Resolves when stdout has taken all that was written, or is closed. To be awaited between large amounts of data. */
  drained(): Promise<void>
  /** Printed with `-v` only. */
  detail(text: string): void
  note(text: string): void
  warn(text: string, hint?: string): void
  error(text: string, hint?: string): void
  /** Lines of a renderer, to stderr as they are. `evenQuiet`: printed although only errors are wanted. */
  report(lines: readonly string[], options?: { readonly evenQuiet?: boolean }): void
  /** Draws the lines in place of those drawn before, each cut to one row. */
  live(lines: readonly string[]): void
  /** Takes the live region away, for good: what is printed from now on is the last word. */
  done(): void
}

export function createTerminal(options: TerminalOptions): Terminal {
  const { stdout, stderr, env, quiet, verbose } = options
  const isTerminal = stderr.isTTY === true && env['TERM'] !== 'dumb'
  const color = isTerminal && !isSet(env['NO_COLOR'])
  const isLive = isTerminal && !quiet && !isTrue(env['CI'])
  const columns = (): number => stderr.columns || COLUMNS

  let stdoutClosed = false
  let stderrClosed = false
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (stdoutClosed) return
    stdoutClosed = true
    if (isClosedPipe(error)) return options.onClosed?.()
    options.onClosed?.(new TiptoeError('output', `standard output: ${error.message}`, { cause: error }))
  })
  // Without a reader there is nobody to tell, and no reason to stop the crawl.
  stderr.on('error', () => {
    stderrClosed = true
  })
  const say = (text: string): void => {
    if (!stderrClosed && text.length > 0) stderr.write(text)
  }

  let drawn: readonly string[] = []
  let drawnColumns = 0
  let over = false

  /** From below the region to its first row, and nothing left from there on. A narrowed terminal has wrapped it. */
  const erase = (): string => {
    if (drawn.length === 0) return ''
    let rows = 0
    for (const line of drawn) rows += Math.max(1, Math.ceil(displayWidth(line) / columns()))
    return `\u001b[${rows}A\r\u001b[J`
  }
  const draw = (): string => drawn.map((line) => `${line}\u001b[K\n`).join('')

  const print = (lines: readonly string[]): void => {
    say(`${erase()}${lines.map((line) => `${line}\n`).join('')}${draw()}`)
  }
  const message = (label: string, style: Style, text: string, hint: string | undefined): void => {
    const [first = '', ...rest] = text.split('\n').map(escapeForTerminal)
    const hints = hint === undefined ? [] : hint.split('\n').map((line) => `hint: ${escapeForTerminal(line)}`)
    print([`${paint(color, style, `${label}:`)} ${first}`, ...rest, ...hints])
  }
  const plain = (text: string): void => print(text.split('\n').map(escapeForTerminal))

  const data = (text: string): void => {
    if (stdoutClosed) return
    const shown = stdout.isTTY === true ? escapeLines(text) : text
    const ended = shown.endsWith('\n') ? shown : `${shown}\n`
    if (stdout.isTTY !== true || drawn.length === 0) {
      stdout.write(ended)
      return
    }
    say(erase())
    stdout.write(ended)
    say(draw())
  }

  return {
    color,
    isLive,
    get columns() {
      return columns()
    },
    data,
    result: (value, words) => data(options.json === true ? escapeJson(JSON.stringify(value, null, 2)) : words()),
    async drained() {
      if (stdoutClosed || stdout.writableLength === 0) return
      await new Promise<void>((resolve) => stdout.write('', () => resolve()))
    },
    detail(text) {
      if (verbose && !quiet) plain(text)
    },
    note(text) {
      if (!quiet) plain(text)
    },
    warn(text, hint) {
      if (!quiet) message('warning', 'warning', text, hint)
    },
    error: (text, hint) => message('error', 'bad', text, hint),
    report(lines, { evenQuiet = false } = {}) {
      if (!quiet || evenQuiet) print(lines)
    },
    live(lines) {
      if (!isLive || over) return
      // One column stays free: after the last one, terminals disagree on where the cursor is.
      const width = columns() - 1
      const room = Math.max(1, (stderr.rows || ROWS) - 1)
      const next = lines.slice(0, room).map((line) => cutToWidth(line, width))
      if (width === drawnColumns && isSame(next, drawn)) return
      // Lines are drawn over the old ones where possible: erasing them first would flicker.
      const inPlace = width === drawnColumns && drawn.length > 0
      const start = inPlace ? `\u001b[${drawn.length}A\r` : erase()
      const end = inPlace && next.length < drawn.length ? '\u001b[J' : ''
      drawn = next
      drawnColumns = width
      say(`${start}${draw()}${end}`)
    },
    done() {
      if (over) return
      over = true
      const last = erase()
      drawn = []
      say(last)
    },
  }
}

function isClosedPipe(error: NodeJS.ErrnoException): boolean {
  return error.code === 'EPIPE' || error.code === 'ECONNRESET' || error.code === 'ERR_STREAM_DESTROYED'
}

/** Any value but the empty one, as NO_COLOR has it. */
function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== ''
}

function isTrue(value: string | undefined): boolean {
  return isSet(value) && value !== '0' && value !== 'false'
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((line, index) => line === b[index])
}
