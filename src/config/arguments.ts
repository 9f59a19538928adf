/**
 * The command line as typed: which command, which operands, which flags. Words are recognised here and nothing is read
 * yet, so that a value from a flag and one from a file are judged by the same code later. Node's own `parseArgs`
 * splits the words; the tables say which exist.
 */
import { parseArgs } from 'node:util'
import { TiptoeError } from '../model/index.ts'
import {
  COMMANDS,
  COMMAND_NAMES,
  isCommandName,
  SWITCHES,
  usageOf,
  type Command,
  type CommandName,
  type SwitchName,
  type Switches,
} from './commands.ts'
import type { Environment, RawValues } from './layer.ts'
import { kebabCase, nearest } from './names.ts'
import { flagOf, OPTIONS, type Option, type OptionName } from './options.ts'

export interface ParsedArguments {
  readonly command: CommandName
  /** In the order typed. The URLs of `crawl`, `seed` and `config` are in `flags.seeds` too. */
  readonly operands: readonly string[]
  /** As typed, by the name of the option: input for `resolveSettings`. */
  readonly flags: RawValues
  readonly switches: Switches
}

/** What a word that begins with dashes stands for. */
type Flag =
  | { readonly is: 'switch'; readonly name: SwitchName; readonly takesValue: boolean; readonly short?: string }
  /** `sets` is what the flag says when no value follows. */
  | {
      readonly is: 'option'
      readonly option: Option
      readonly takesValue: boolean
      readonly sets: boolean
      readonly short?: string
    }

/** Every flag of every command, without its dashes. */
const FLAGS: ReadonlyMap<string, Flag> = allFlags()

function allFlags(): Map<string, Flag> {
  const flags = new Map<string, Flag>()
  for (const [name, { short, placeholder }] of Object.entries(SWITCHES)) {
    flags.set(name, {
      is: 'switch',
      name: name as SwitchName,
      takesValue: placeholder !== undefined,
      ...(short === undefined ? {} : { short }),
    })
  }
  for (const option of OPTIONS) {
    const flag = flagOf(option)
    if (flag === undefined) continue
    const takesValue = option.kind.placeholder !== undefined
    const short = option.short === undefined ? {} : { short: option.short }
    if (takesValue) flags.set(flag, { is: 'option', option, takesValue, sets: true, ...short })
    else {
      // A switch of a crawl has both forms, so that a flag can undo what a file says.
      flags.set(kebabCase(option.name), { is: 'option', option, takesValue, sets: true, ...short })
      flags.set(`no-${kebabCase(option.name)}`, { is: 'option', option, takesValue, sets: false })
    }
  }
  return flags
}

/** Reads everything after `tiptoe`. A word that is not understood is a usage error with the nearest known word. */
export function parseArguments(words: readonly string[]): ParsedArguments {
  const { tokens } = parseArgs({
    args: [...words],
    strict: false,
    tokens: true,
    allowPositionals: true,
    options: Object.fromEntries(
      [...FLAGS].map(([name, { takesValue, short }]) => [
        name,
        { type: takesValue ? ('string' as const) : ('boolean' as const), ...(short === undefined ? {} : { short }) },
      ]),
    ),
  })

  const operands: string[] = []
  const flags: Partial<Record<OptionName, unknown>> = {}
  const switches: Record<string, string | true> = {}
  const given: { flag: Flag; rawName: string }[] = []
  let command: CommandName | undefined
  let literal = false

  for (const token of tokens) {
    if (token.kind === 'option-terminator') literal = true
    else if (token.kind === 'positional') {
      if (command === undefined && operands.length === 0 && !literal) {
        command = commandIn(token.value)
        if (command !== undefined) continue
      }
      operands.push(token.value)
    } else {
      const flag = FLAGS.get(token.name)
      if (flag === undefined) throw unknownFlag(token.rawName)
      given.push({ flag, rawName: token.rawName })
      const value = valueOf(flag, token)
      if (flag.is === 'switch') {
        const before = SWITCHES[flag.name].repeats === true ? switches[flag.name] : undefined
        switches[flag.name] = value === undefined ? true : before === undefined ? value : `${before}\n${value}`
      } else if (flag.option.kind.repeats) flags[flag.option.name] = [...listed(flags[flag.option.name]), value]
      else flags[flag.option.name] = value ?? flag.sets
    }
  }

  command ??= 'crawl'
  const parsed = { command, operands, flags, switches: switches as Switches }
  if (parsed.switches.help || parsed.switches.version) return parsed
  checkFlags(command, given)
  checkOperands(command, operands)
  const seeded = command === 'crawl' || command === 'config' || command === 'seed'
  return seeded && operands.length > 0 ? { ...parsed, flags: { ...flags, seeds: operands } } : parsed
}

/** The configuration file that was asked for, on the command line or in the environment. */
export function configPathOf(switches: Switches, environment: Environment): string | undefined {
  return switches.config ?? (environment['TIPTOE_CONFIG'] || undefined)
}

function listed(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

/**
 * The command that the first word names; undefined when it is a URL to crawl. A word with no dot, colon or slash is
 * a mistyped command far more often than a host, so it must say more to be taken for a host.
 */
function commandIn(word: string): CommandName | undefined {
  if (isCommandName(word)) return word
  if (/[.:/]/.test(word) || word === 'localhost' || word === '-' || word === '') return undefined
  throw unknownCommand(word, `; to crawl the host ${word}, write https://${word}/`)
}

function unknownCommand(word: string, alternative = ''): TiptoeError {
  const guess = nearest(word, COMMAND_NAMES)
  const hint = guess === undefined ? 'tiptoe help lists the commands' : `did you mean ${guess}?`
  return new TiptoeError('usage', `unknown command ${word}`, { hint: hint + alternative })
}

interface OptionToken {
  readonly rawName: string
  readonly value?: string | undefined
  readonly inlineValue?: boolean | undefined
}

function valueOf(flag: Flag, token: OptionToken): string | undefined {
  if (!flag.takesValue) {
    if (token.value === undefined) return undefined
    throw new TiptoeError('usage', `${token.rawName} takes no value`, { hint: `write ${token.rawName} alone` })
  }
  const swallowed = token.inlineValue === false && token.value !== undefined && isFlag(token.value)
  if (token.value === undefined || token.value === '' || swallowed) {
    const placeholder = flag.is === 'switch' ? SWITCHES[flag.name].placeholder : flag.option.kind.placeholder
    throw new TiptoeError('usage', `${token.rawName} needs a value: ${token.rawName} ${placeholder}`)
  }
  return token.value
}

/** Whether the word is one of our flags, and so hardly the value of the flag before it. */
function isFlag(word: string): boolean {
  if (word.startsWith('--')) return word === '--' || FLAGS.has(word.slice(2).split('=')[0] ?? '')
  return /^-[A-Za-z]$/.test(word) && [...FLAGS.values()].some(({ short }) => short === word[1])
}

function unknownFlag(rawName: string): TiptoeError {
  const guess = rawName.startsWith('--') ? nearest(rawName.slice(2), FLAGS.keys()) : undefined
  return new TiptoeError('usage', `unknown flag ${rawName}`, {
    hint: guess === undefined ? 'tiptoe help crawl lists the flags' : `did you mean --${guess}?`,
  })
}

function checkFlags(command: CommandName, given: readonly { flag: Flag; rawName: string }[]): void {
  const { options, switches }: Command = COMMANDS[command]
  for (const { flag, rawName } of given) {
    const known =
      flag.is === 'switch' ? switches.includes(flag.name) : options.some(({ name }) => name === flag.option.name)
    if (!known) {
      throw new TiptoeError('usage', `tiptoe ${command} has no flag ${rawName}`, {
        hint: `tiptoe help ${command} lists its flags`,
      })
    }
  }
}

function checkOperands(command: CommandName, operands: readonly string[]): void {
  const expected: readonly Command['operands'][number][] = COMMANDS[command].operands
  const missing = expected.slice(operands.length).find(({ optional }) => !optional)
  const hint = `usage: ${usageOf(command)}`
  if (missing !== undefined) throw new TiptoeError('usage', `tiptoe ${command} needs ${missing.name}`, { hint })
  const topic = command === 'help' ? operands[0] : undefined
  if (topic !== undefined && !isCommandName(topic)) throw unknownCommand(topic)
  const surplus = operands[expected.length]
  if (surplus !== undefined && !expected.at(-1)?.many) {
    throw new TiptoeError('usage', `tiptoe ${command} does not take ${JSON.stringify(surplus)}`, { hint })
  }
}
