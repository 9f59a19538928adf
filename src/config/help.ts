/** Help for the terminal, made from the tables: plain text, within 100 columns. */
import { COMMANDS, COMMAND_NAMES, SWITCHES, usageOf, type Command, type CommandName, type Switch } from './commands.ts'
import { defaultOf, flagOf, GROUPS, type Option } from './options.ts'

const COLUMNS = 100
const FLAG_COLUMNS = 34
const COMMAND_COLUMNS = 15

/** The help of one command, or of all in short. */
export function helpText(command?: CommandName): string {
  return command === undefined ? overview() : commandHelp(command)
}

/** Exit codes, as every command has them. */
export const EXIT_CODES: readonly (readonly [code: string, meaning: string])[] = [
  ['0', 'done'],
  ['1', 'done, with failures above --fail-on, or an audit found a violation'],
  ['2', 'wrong usage or configuration; nothing was started'],
  ['3', 'broken environment: store, disk or network'],
  ['4', 'stopped by a limit, or ended for all workers'],
  ['130, 143', 'interrupted; the state is saved, and the last line on stderr resumes the crawl'],
]

function overview(): string {
  const commands = COMMAND_NAMES.map((name) => row(name, COMMANDS[name].summary, COMMAND_COLUMNS))
  return lines(
    'Tiptoe crawls the web politely: as fast as the machine allows, never faster than a host permits.',
    '',
    `Usage: ${usageOf('crawl')}`,
    '',
    'Commands:',
    ...commands,
    '',
    'Examples:',
    ...COMMANDS.crawl.examples.map((example) => `  ${example}`),
    '  tiptoe demo',
    '',
    'Exit codes:',
    ...EXIT_CODES.map(([code, meaning]) => row(code, meaning, COMMAND_COLUMNS)),
    '',
    'tiptoe help COMMAND lists the flags of a command; docs/reference/options.md describes every option.',
  )
}

function commandHelp(name: CommandName): string {
  const command: Command = COMMANDS[name]
  const parts = [`Usage: ${usageOf(name)}`, '', ...wrap(sentence(command.summary), COLUMNS)]
  if (command.about !== undefined) parts.push('', ...command.about)
  for (const group of GROUPS) {
    const options = command.options.filter((option) => option.group === group)
    if (options.length > 0) parts.push('', `${group}:`, ...options.map(optionRow))
  }
  parts.push('', 'Other flags:', ...command.switches.map((name) => switchRow(name, SWITCHES[name])))
  parts.push('', 'Examples:', ...command.examples.map((example) => `  ${example}`))
  return lines(...parts)
}

function optionRow(option: Option): string {
  const value = option.kind.placeholder
  const usage = flagUsage(flagOf(option) ?? '', option.short, value)
  const notes = [option.kind.repeats && value !== 'LIST' ? 'repeatable' : '', defaultNote(option)].filter(Boolean)
  return row(usage, `${flagHelp(option)}${notes.length === 0 ? '' : ` (${notes.join('; ')})`}`)
}

/** What the flag does: for a switch that is on by default, the opposite of what the option says. */
function flagHelp(option: Option): string {
  return option.default === true ? `do not ${option.help}` : option.help
}

function defaultNote(option: Option): string {
  const isSwitch = option.kind.placeholder === undefined
  const text = isSwitch ? '' : defaultText(option)
  return text === '' ? '' : `default ${text}`
}

/** The default as a person would write it; empty for none. */
export function defaultText(option: Option): string {
  const standard = defaultOf(option, 'VERSION')
  if (standard === undefined) return ''
  const written = option.kind.write(standard)
  if (written instanceof Map) return [...written.keys()].join(',')
  return Array.isArray(written) ? written.join(',') : String(written)
}

function switchRow(name: string, { short, placeholder, help }: Switch): string {
  return row(flagUsage(name, short, placeholder), help)
}

export function flagUsage(flag: string, short?: string, placeholder?: string): string {
  return `${short === undefined ? '' : `-${short}, `}--${flag}${placeholder === undefined ? '' : ` ${placeholder}`}`
}

/** Two columns; a left side that is too long has the right side below it. */
function row(left: string, right: string, leftColumns = FLAG_COLUMNS): string {
  const [first = '', ...rest] = wrap(right, COLUMNS - leftColumns)
  const margin = ' '.repeat(leftColumns)
  const head = `  ${left}`
  const top = head.length < leftColumns ? [`${head.padEnd(leftColumns)}${first}`] : [head, `${margin}${first}`]
  return [...top, ...rest.map((line) => `${margin}${line}`)].join('\n')
}

function wrap(text: string, columns: number): string[] {
  const wrapped: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > columns) {
      wrapped.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...wrapped, line]
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}

function lines(...parts: string[]): string {
  return `${parts.join('\n')}\n`
}
