import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createScreen, type Screen } from '../../test/support/screen.ts'
import type { TiptoeError } from '../model/index.ts'
import {
  createTerminal,
  cutToWidth,
  displayWidth,
  escapeForTerminal,
  paint,
  type Terminal,
  type TerminalOptions,
} from './terminal.ts'

interface Pipes {
  readonly terminal: Terminal
  readonly stdout: PassThrough
  readonly stderr: PassThrough
  out(): string
  err(): string
}

function onPipes(options: Partial<TerminalOptions> = {}): Pipes {
  const stdout = new PassThrough()
  const stderr = new PassThrough()
  const terminal = createTerminal({ stdout, stderr, env: {}, quiet: false, verbose: false, ...options })
  const read = (stream: PassThrough): string => String((stream.read() as Buffer | null) ?? '')
  return { terminal, stdout, stderr, out: () => read(stdout), err: () => read(stderr) }
}

function onScreen(options: Partial<TerminalOptions> = {}, columns = 80): { terminal: Terminal; screen: Screen } {
  const screen = createScreen(columns)
  const streams = { stdout: screen.stream, stderr: screen.stream }
  const terminal = createTerminal({ ...streams, env: { NO_COLOR: '1' }, quiet: false, verbose: false, ...options })
  return { terminal, screen }
}

describe('escaping for the terminal', () => {
  it.each([
    ['\u001b]0;title\u0007', '\\x1b]0;title\\x07'],
    ['a\r\nb\tc\u0000', 'a\\x0d\\x0ab\\x09c\\x00'],
    ['\u007f\u009b2J', '\\x7f\\x9b2J'],
    ['\u202eevil\u202c', '\\u{202e}evil\\u{202c}'],
    ['\u2066\u2067\u2068\u2069', '\\u{2066}\\u{2067}\\u{2068}\\u{2069}'],
    ['\u200e\u200f\u061c', '\\u{200e}\\u{200f}\\u{61c}'],
    ['\u2028\u2029', '\\u{2028}\\u{2029}'],
    ['\u200b\u200c\u200d\u2060\ufeff\u00ad', '\\u{200b}\\u{200c}\\u{200d}\\u{2060}\\u{feff}\\xad'],
    ['\u{e0041}\u{e007f}', '\\u{e0041}\\u{e007f}'],
    ['\ud800x\udc00', '\\u{d800}x\\u{dc00}'],
    ['\ufff9\u3164', '\\u{fff9}\\u{3164}'],
  ])('makes %j visible', (text, escaped) => {
    expect(escapeForTerminal(text)).toBe(escaped)
  })

  it('leaves text of any language alone', () => {
    for (const text of ['https://example.com/a?b=c#d', 'Grüße, Ёлка, 日本語, مرحبا, नमस्ते, é, 🦆', 'a\\x1b']) {
      expect(escapeForTerminal(text)).toBe(text)
    }
  })

  it('leaves nothing behind that controls a terminal, and nothing more to escape', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const escaped = escapeForTerminal(text)
        // oxlint-disable-next-line no-control-regex
        expect(escaped).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\u200b-\u200f\u061c]/)
        expect(escaped.isWellFormed()).toBe(true)
        expect(escapeForTerminal(escaped)).toBe(escaped)
      }),
    )
  })
})

describe('cutting to a width', () => {
  it.each([
    ['plain', 5, 'plain'],
    ['plainer', 5, 'plai…'],
    ['日本語', 6, '日本語'],
    ['日本語', 5, '日本…'],
    ['日本語', 4, '日…'],
    ['e\u0301a\u0300', 2, 'e\u0301a\u0300'],
    ['🦆🦆🦆', 4, '🦆…'],
    ['x', 0, ''],
    ['', 0, ''],
  ])('cuts %j to %i columns', (text, columns, expected) => {
    expect(cutToWidth(text, columns)).toBe(expected)
  })

  it('gives colours no width and ends them where it cuts', () => {
    const painted = paint(true, 'bad', 'abcdef')
    expect(displayWidth(painted)).toBe(6)
    expect(cutToWidth(painted, 6)).toBe(painted)
    expect(cutToWidth(painted, 3)).toBe('\u001b[31mab…\u001b[0m')
  })

  it('bounds the marks that one character carries', () => {
    expect(cutToWidth(`a${'\u0301'.repeat(1000)}b`, 10)).toBe(`a${'\u0301'.repeat(4)}b`)
  })

  it('never exceeds the width, and never cuts what fits', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat({ max: 20 }), (raw, columns) => {
        const text = escapeForTerminal(raw)
        const cut = cutToWidth(text, columns)
        expect(displayWidth(cut)).toBeLessThanOrEqual(columns)
        expect(cut.endsWith('…') || columns === 0 || displayWidth(text) <= columns).toBe(true)
      }),
    )
  })
})

describe('what goes where', () => {
  it('prints data to stdout and all else to stderr', () => {
    const { terminal, out, err } = onPipes()
    terminal.data('{"a":1}')
    terminal.data('two\nlines\n')
    terminal.note('a note')
    terminal.warn('a warning', 'do this')
    terminal.error('an error\nwith a second line', 'or this\nor that')
    terminal.report(['a', 'b'])
    expect(out()).toBe('{"a":1}\ntwo\nlines\n')
    expect(err()).toBe(
      'a note\nwarning: a warning\nhint: do this\n' +
        'error: an error\nwith a second line\nhint: or this\nhint: or that\na\nb\n',
    )
  })

  it('prints errors only when quiet, and what must be said even then', () => {
    const { terminal, out, err } = onPipes({ quiet: true, verbose: true })
    terminal.detail('d')
    terminal.note('n')
    terminal.warn('w')
    terminal.report(['r'])
    terminal.error('e')
    terminal.report(['tiptoe -o out'], { evenQuiet: true })
    terminal.data('data')
    expect(err()).toBe('error: e\ntiptoe -o out\n')
    expect(out()).toBe('data\n')
  })

  it('prints details when verbose only', () => {
    const silent = onPipes()
    silent.terminal.detail('d')
    expect(silent.err()).toBe('')
    const verbose = onPipes({ verbose: true })
    verbose.terminal.detail('d')
    expect(verbose.err()).toBe('d\n')
  })

  it('prints a result as words, or as JSON if that was asked for', () => {
    const words = onPipes()
    words.terminal.result({ a: 1 }, () => 'a is 1')
    expect(words.out()).toBe('a is 1\n')
    const json = onPipes({ json: true })
    json.terminal.result({ a: '\u202e\u{e0041}\u009b\n' }, () => 'never')
    const printed = json.out()
    expect(printed).toBe('{\n  "a": "\\u202e\\udb40\\udc41\\u009b\\n"\n}\n')
    expect(JSON.parse(printed)).toEqual({ a: '\u202e\u{e0041}\u009b\n' })
  })

  it('escapes messages everywhere, and data on a terminal only', () => {
    const pipes = onPipes()
    pipes.terminal.data('\u001b[2J\tx')
    pipes.terminal.note('\u001b[2J')
    expect(pipes.out()).toBe('\u001b[2J\tx\n')
    expect(pipes.err()).toBe('\\x1b[2J\n')
    const { terminal, screen } = onScreen()
    terminal.data('\u001b[2J\tx\u009b')
    terminal.error('\u001b[2J', '\u202e')
    expect(screen.raw()).toBe('\\x1b[2J\tx\\x9b\nerror: \\x1b[2J\nhint: \\u{202e}\n')
  })
})

describe('colour and the live region', () => {
  it.each<[string, Partial<TerminalOptions>, boolean, boolean]>([
    ['a terminal', { env: {} }, true, true],
    ['NO_COLOR', { env: { NO_COLOR: '1' } }, false, true],
    ['an empty NO_COLOR', { env: { NO_COLOR: '' } }, true, true],
    ['CI', { env: { CI: 'true' } }, true, false],
    ['CI=false', { env: { CI: 'false' } }, true, true],
    ['a dumb terminal', { env: { TERM: 'dumb' } }, false, false],
    ['-q', { env: {}, quiet: true }, true, false],
  ])('on %s', (_name, options, color, isLive) => {
    const { terminal, screen } = onScreen(options)
    expect({ color: terminal.color, isLive: terminal.isLive }).toEqual({ color, isLive })
    terminal.live(['progress'])
    expect(screen.rows()).toEqual(isLive ? ['progress'] : [])
  })

  it('is absent where stderr is no terminal', () => {
    const { terminal, err } = onPipes()
    terminal.live(['progress'])
    terminal.error('e')
    terminal.done()
    expect({ color: terminal.color, isLive: terminal.isLive }).toEqual({ color: false, isLive: false })
    expect(err()).toBe('error: e\n')
  })

  it('is redrawn in place, longer or shorter', () => {
    const { terminal, screen } = onScreen()
    terminal.live(['one', 'two, which is long'])
    terminal.live(['uno', 'due', 'tre'])
    expect(screen.rows()).toEqual(['uno', 'due', 'tre'])
    terminal.live(['only'])
    expect(screen.rows()).toEqual(['only'])
    terminal.done()
    expect(screen.rows()).toEqual([])
  })

  it('is not written again when nothing has changed', () => {
    const { terminal, screen } = onScreen()
    terminal.live(['one', 'two'])
    const before = screen.raw()
    terminal.live(['one', 'two'])
    expect(screen.raw()).toBe(before)
  })

  it('stays below the notes and the data printed meanwhile', () => {
    const { terminal, screen } = onScreen()
    terminal.live(['one', 'two'])
    terminal.note('first')
    terminal.data('data')
    terminal.live(['one', 'three'])
    terminal.warn('second', 'third')
    expect(screen.rows()).toEqual(['first', 'data', 'warning: second', 'hint: third', 'one', 'three'])
  })

  it('ends for good: the last word stays the last', () => {
    const { terminal, screen } = onScreen()
    terminal.live(['one'])
    terminal.done()
    terminal.report(['tiptoe -o out'])
    terminal.live(['late'])
    terminal.done()
    expect(screen.rows()).toEqual(['tiptoe -o out'])
  })

  it('never wraps nor fills the screen', () => {
    const { terminal, screen } = onScreen({}, 10)
    screen.stream.rows = 3
    terminal.live(['0123456789', '日本語日本語', 'gone'])
    expect(screen.rows()).toEqual(['01234567…', '日本語日…'])
  })

  it('follows the terminal to another width', () => {
    const { terminal, screen } = onScreen({}, 20)
    terminal.note('above')
    terminal.live(['0123456789abcdef', 'second'])
    screen.stream.columns = 40
    terminal.live(['0123456789abcdef, and more of it', 'second'])
    expect(screen.rows()).toEqual(['above', '0123456789abcdef, and more of it', 'second'])
    expect(terminal.columns).toBe(40)
  })

  it('moves up over the rows into which a narrower terminal has wrapped it', () => {
    const { terminal, screen } = onScreen({}, 20)
    terminal.live(['0123456789abcdef', 'second'])
    const before = screen.raw().length
    screen.stream.columns = 10
    terminal.live(['x'])
    expect(screen.raw().slice(before)).toBe('\u001b[3A\r\u001b[Jx\u001b[K\n')
  })

  it('keeps every note, in order, above the latest region, whatever is printed when', () => {
    const line = fc.string({ maxLength: 30 })
    const step = fc.oneof(
      fc.record({ live: fc.array(line, { minLength: 1, maxLength: 6 }) }),
      fc.record({ note: line }),
      fc.record({ data: line }),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const { terminal, screen } = onScreen({}, 40)
        const printed: string[] = []
        let region: string[] = []
        for (const each of steps) {
          if ('live' in each) terminal.live((region = each.live))
          else if ('note' in each) terminal.note(each.note)
          else terminal.data(each.data)
          if ('note' in each) printed.push(each.note)
          if ('data' in each) printed.push(each.data)
        }
        const expected = [...printed, ...region].map((text) => text.trimEnd())
        while (expected.at(-1) === '') expected.pop()
        expect(screen.rows()).toEqual(expected)
        terminal.done()
        const left = printed.map((text) => text.trimEnd())
        while (left.at(-1) === '') left.pop()
        expect(screen.rows()).toEqual(left)
      }),
    )
  })
})

describe('a reader that goes away', () => {
  const broken = (code: string): Error => Object.assign(new Error(`write ${code}`), { code })

  it('is told once, without an error, when stdout is a closed pipe', async () => {
    const closed: (TiptoeError | undefined)[] = []
    const { terminal, stdout, out } = onPipes({ onClosed: (error) => closed.push(error) })
    stdout.emit('error', broken('EPIPE'))
    stdout.emit('error', broken('ERR_STREAM_DESTROYED'))
    terminal.data('lost')
    await terminal.drained()
    expect(closed).toEqual([undefined])
    expect(out()).toBe('')
  })

  it('is told with an error when stdout breaks otherwise', () => {
    const closed: (TiptoeError | undefined)[] = []
    const { stdout } = onPipes({ onClosed: (error) => closed.push(error) })
    stdout.emit('error', broken('ENOSPC'))
    expect(closed).toMatchObject([{ code: 'output', message: 'standard output: write ENOSPC' }])
  })

  it('is no reason to stop when it read stderr', () => {
    const { terminal, stderr, out, err } = onPipes()
    stderr.emit('error', broken('EPIPE'))
    terminal.error('unheard')
    terminal.data('data')
    expect(err()).toBe('')
    expect(out()).toBe('data\n')
  })

  it('lets a real process end quietly', async () => {
    const program =
      `import { createTerminal } from ${JSON.stringify(new URL('terminal.ts', import.meta.url).href)}\n` +
      'const { stdout, stderr, env } = process\n' +
      'let open = true\n' +
      'const onClosed = (error) => { open = false; process.exitCode = error === undefined ? 0 : 9 }\n' +
      'const terminal = createTerminal({ stdout, stderr, env, quiet: false, verbose: false, onClosed })\n' +
      "while (open) { terminal.data('x'.repeat(65536)); await terminal.drained() }\n"
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 'pipe'] })
    const complaints: Buffer[] = []
    child.stderr.on('data', (chunk: Buffer) => complaints.push(chunk))
    child.stdout.once('data', () => child.stdout.destroy())
    const [code] = (await once(child, 'close')) as [number | null]
    expect({ code, complaints: Buffer.concat(complaints).toString() }).toEqual({ code: 0, complaints: '' })
  })
})
