import { describe, expect, test } from 'vitest'
import { TiptoeError } from '../model/index.ts'
import { COMMAND_NAMES, configPathOf, helpText, OPTIONS, parseArguments, resolveSettings } from './index.ts'

const parse = (line: string) => parseArguments(line.split(' ').filter(Boolean))

function refusal(words: string[]): string {
  try {
    parseArguments(words)
  } catch (error) {
    if (error instanceof TiptoeError && error.code === 'usage') return `${error.message} | ${error.hint ?? ''}`
    throw error
  }
  throw new Error('nothing was refused')
}

describe('the command', () => {
  test('is crawl unless the first operand names another', () => {
    expect(parse('https://example.com/')).toMatchObject({ command: 'crawl', operands: ['https://example.com/'] })
    expect(parse('crawl example.com/docs')).toMatchObject({ command: 'crawl', flags: { seeds: ['example.com/docs'] } })
    expect(parse('example.com status')).toMatchObject({ command: 'crawl', operands: ['example.com', 'status'] })
    expect(parse('--json status dir')).toMatchObject({ command: 'status', operands: ['dir'], switches: { json: true } })
    expect(parse('-o status example.com')).toMatchObject({ command: 'crawl', flags: { out: 'status' } })
    expect(parse('localhost')).toMatchObject({ command: 'crawl', operands: ['localhost'] })
    expect(parse('-- status')).toMatchObject({ command: 'crawl', operands: ['status'] })
    expect(parse('')).toEqual({ command: 'crawl', operands: [], flags: {}, switches: {} })
  })

  test('that is mistyped is not crawled', () => {
    expect(refusal(['satus', 'dir'])).toMatch(/^unknown command satus \| did you mean status\?/)
    expect(refusal(['intranet'])).toContain('to crawl the host intranet, write https://intranet/')
    expect(refusal(['help', 'craw'])).toBe('unknown command craw | did you mean crawl?')
    expect(refusal(['constructor'])).toContain('unknown command constructor')
  })

  test('takes its own operands and no others', () => {
    expect(parse('why https://a.example/ dir')).toMatchObject({
      command: 'why',
      operands: ['https://a.example/', 'dir'],
    })
    expect(parse('robots a.example b.example --agent MyBot').switches).toEqual({ agent: 'MyBot' })
    expect(refusal(['fetch'])).toBe('tiptoe fetch needs URL | usage: tiptoe fetch URL [flags]')
    expect(refusal(['migrate', 'folder'])).toContain('tiptoe migrate needs STORE|DIR')
    expect(refusal(['status', 'a', 'b'])).toContain('tiptoe status does not take "b"')
    expect(refusal(['status', 'a', '--max-pages', '3'])).toContain('tiptoe status has no flag --max-pages')
    expect(parse('status --help')).toMatchObject({ command: 'status', switches: { help: true } })
    expect(parse('--version').switches).toEqual({ version: true })
  })
})

describe('flags', () => {
  test('are written in every usual way', () => {
    const words = [
      '-qv',
      '-odir',
      '--max-pages=7',
      '--delay',
      '2s',
      '-i',
      '-',
      '--exclude',
      'a',
      '--exclude=b',
      'x.example',
      '--',
      '-y',
    ]
    expect(parseArguments(words)).toEqual({
      command: 'crawl',
      operands: ['x.example', '-y'],
      flags: { out: 'dir', maxPages: '7', delay: '2s', input: '-', exclude: ['a', 'b'], seeds: ['x.example', '-y'] },
      switches: { quiet: true, verbose: true },
    })
  })

  test('of a switch have a form for yes and one for no', () => {
    expect(parse('--no-sitemaps --record-links').flags).toEqual({ sitemaps: false, recordLinks: true })
    expect(parse('--sitemaps --no-record-links').flags).toEqual({ sitemaps: true, recordLinks: false })
  })

  test('say how a crawl is kept fresh, what it leaves out and what it tells URLs by', () => {
    expect(parse('--recrawl --no-traps --max-pages-per-host 5').flags).toEqual({
      recrawl: true,
      traps: false,
      maxPagesPerHost: '5',
    })
    expect(parse('--no-recrawl --traps').flags).toEqual({ recrawl: false, traps: true })
    expect(parse('--once -o dir')).toMatchObject({ switches: { once: true }, flags: { out: 'dir' } })
    expect(refusal(['status', 'dir', '--once'])).toContain('tiptoe status has no flag --once')
    const { flags } = parse('--strip-parameters tracking,sid --strip-parameters pk_*')
    expect(resolveSettings({ version: '1', flags }).settings.stripParameters).toEqual(['tracking', 'sid', 'pk_*'])
  })

  test('given twice: the last one counts', () => {
    expect(parse('--delay 1s --delay 2s').flags).toEqual({ delay: '2s' })
  })

  test('without robots.txt need a reason', () => {
    expect(parseArguments(['--no-robots', 'my own site', 'a.example']).flags).toMatchObject({
      ignoreRobotsBecause: 'my own site',
    })
    expect(refusal(['--no-robots'])).toContain('--no-robots needs a value: --no-robots REASON')
    expect(refusal(['--no-robots='])).toContain('--no-robots needs a value')
  })

  test('that are unknown are answered with the nearest', () => {
    expect(refusal(['--maxpages', '5'])).toBe('unknown flag --maxpages | did you mean --max-pages?')
    expect(refusal(['--exlude=5'])).toBe('unknown flag --exlude | did you mean --exclude?')
    expect(refusal(['-qx'])).toBe('unknown flag -x | tiptoe help crawl lists the flags')
    expect(refusal(['--frobnicate'])).toContain('tiptoe help crawl lists the flags')
    expect(refusal(['--__proto__'])).toContain('unknown flag --__proto__')
  })

  test('are not taken for the value of the flag before them', () => {
    expect(refusal(['--out', '--fresh'])).toBe('--out needs a value: --out DIR | ')
    expect(refusal(['-o', '-q'])).toContain('-o needs a value')
    expect(refusal(['a.example', '--out'])).toContain('--out needs a value')
    expect(refusal(['--fresh=yes'])).toContain('--fresh takes no value')
  })

  test('with bad values are refused by name', () => {
    const read = (line: string) => () => resolveSettings({ version: '1', flags: parse(line).flags })
    expect(read('--max-pages -5')).toThrow('--max-pages: expected a whole number of at least 1; found "-5"')
    expect(read('--format jsonl,mhtml')).toThrow('--format: mhtml is not available yet')
    expect(read('--resolve example.com')).toThrow('--resolve: expected HOST:PORT:ADDRESS')
  })

  test('name the configuration file before the environment does', () => {
    expect(configPathOf(parse('-c a.yaml').switches, { TIPTOE_CONFIG: 'b.yaml' })).toBe('a.yaml')
    expect(configPathOf({}, { TIPTOE_CONFIG: 'b.yaml' })).toBe('b.yaml')
    expect(configPathOf({}, { TIPTOE_CONFIG: '' })).toBeUndefined()
  })
})

describe('help', () => {
  test('lists every command in short, and every flag of a command, within 100 columns', () => {
    for (const name of COMMAND_NAMES) expect(helpText()).toContain(`\n  ${name} `)
    const flags = OPTIONS.filter(({ flag }) => flag !== undefined)
    for (const { help } of flags) expect(helpText('crawl').replace(/\s+/g, ' ')).toContain(help)
    for (const text of [helpText(), ...COMMAND_NAMES.map((name) => helpText(name))]) {
      expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100)
    }
  })

  test('shows a switch in the form that changes the default', () => {
    expect(helpText('crawl')).toMatch(/--no-sitemaps +do not read the sitemaps/)
    expect(helpText('crawl')).toMatch(/--record-links +list the links/)
    expect(helpText('crawl')).toMatch(/--no-traps +do not set URLs aside/)
    expect(helpText('crawl')).toMatch(/-o, --out DIR +folder/)
    expect(helpText('fetch')).not.toContain('--max-pages')
  })
})
