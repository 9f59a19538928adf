/**
 * A layer of configuration: what one source says, as it was written, and how to point at it. A layer knows nothing of
 * the others; `resolve.ts` lays one over the other and reads the values.
 */
import { parse } from 'yaml'
import type { Path } from './kinds.ts'
import { flagOf, labelOf, OPTIONS, variableOf, type Option, type OptionName } from './options.ts'

export type RawValues = Readonly<Partial<Record<OptionName, unknown>>>

export interface Layer {
  readonly values: RawValues
  /** What a bare number means as a duration. */
  readonly durationUnit: 's' | 'ms'
  /** Where the value came from, for `tiptoe config --explain`. */
  readonly source: (option: Option) => string
  /** Where something in the value is, for a message. */
  readonly place: (option: Option, at: Path) => string
}

/** Flags, by the name of their option; the parser has recognised them already. */
export function flagLayer(values: RawValues): Layer {
  return {
    values,
    durationUnit: 's',
    source: (option) => (flagOf(option) === undefined ? 'argument' : `flag ${labelOf(option)}`),
    place: labelOf,
  }
}

export type Environment = Readonly<Record<string, string | undefined>>

/** An empty variable counts as unset, as in a shell; variables that name no option are none of our business. */
export function environmentLayer(environment: Environment): Layer {
  const values: Partial<Record<OptionName, unknown>> = {}
  for (const option of OPTIONS) {
    const text = environment[variableOf(option)]
    if (text !== undefined && text !== '') values[option.name] = option.variable === 'yaml' ? structured(text) : text
  }
  return { values, durationUnit: 's', source: (option) => `env ${variableOf(option)}`, place: variableOf }
}

/** Text that is no YAML is left as it is, and refused by whoever reads it. */
function structured(text: string): unknown {
  try {
    return parse(text, { mapAsMap: true })
  } catch {
    return text
  }
}
