/** One call of the program: what was typed, where to print, and how to hear of signals. Passed to every command. */
import type { ParsedArguments } from '../config/index.ts'
import type { Terminal } from './terminal.ts'

export interface Invocation {
  readonly words: readonly string[]
  readonly parsed: ParsedArguments
  readonly terminal: Terminal
  readonly env: Readonly<Record<string, string | undefined>>
  readonly version: string
}
