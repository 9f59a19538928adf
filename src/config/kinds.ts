/**
 * The kinds of values that options have: how each is read from what a person wrote, written back, and described to
 * people and editors. `write` then `read` gives the same value. Reading never throws: it reports what is wrong.
 * Kinds that know of crawling are in `crawl-kinds.ts`.
 */
import { parseDurationMs, parsePercent, parseSizeBytes } from '../base/index.ts'
import { nearest } from './names.ts'

export type JsonSchema = { readonly [key: string]: unknown }

/** Where inside a structured value something is: keys and positions, from the outside in. */
export type Path = readonly (string | number)[]

export interface ReadContext {
  /** Reports a fault, at a place inside the value when it is structured. */
  readonly fail: (message: string, at?: Path) => void
  /** What a bare number means as a duration: people write seconds, programs milliseconds. */
  readonly durationUnit: 's' | 'ms'
}

export interface Kind<T> {
  /** Stands for the value in help; absent for a switch. */
  readonly placeholder?: string
  /** Reads the text of a flag or variable, or plain data of a file or program. Undefined when a fault was reported. */
  readonly read: (raw: unknown, context: ReadContext) => T | undefined
  /** The form that stands in a configuration file. */
  write(value: T): unknown
  readonly schema: JsonSchema
  /** A flag of this kind may be given several times, and its values add up. */
  readonly repeats?: true
}

/** No list in a configuration is longer; seeds beyond it come from a file. */
const MAX_LIST_LENGTH = 100_000
/** As long as the longest URL that we send. */
const MAX_TEXT_LENGTH = 8192

/** A kind whose whole value is right or wrong. */
export function simpleKind<T>(
  expected: string,
  parse: (raw: unknown, context: ReadContext) => T | undefined,
  rest: { placeholder?: string; schema: JsonSchema; write?: (value: T) => unknown },
): Kind<T> {
  return {
    ...(rest.placeholder === undefined ? {} : { placeholder: rest.placeholder }),
    schema: rest.schema,
    write: rest.write ?? ((value) => value),
    read(raw, context) {
      const value = parse(raw, context)
      if (value === undefined) context.fail(`expected ${expected}; found ${describe(raw)}`)
      return value
    },
  }
}

/** A raw value in a few words, for messages. */
export function describe(raw: unknown): string {
  if (raw === undefined || raw === null || raw === '') return 'nothing'
  if (typeof raw === 'string') return JSON.stringify(raw.length > 60 ? `${raw.slice(0, 60)}…` : raw)
  if (typeof raw === 'number' || typeof raw === 'boolean' || typeof raw === 'bigint') return String(raw)
  if (Array.isArray(raw)) return 'a list'
  return typeof raw === 'object' ? 'a mapping' : `a ${typeof raw}`
}

/** The entries of a mapping, of YAML or of a program, in their order; undefined for anything else. */
export function entriesOf(raw: unknown): [string, unknown][] | undefined {
  if (raw instanceof Map) return [...raw].map(([key, value]) => [String(key), value])
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return undefined
  return Object.entries(raw)
}

/** What to say of a key that is not in `known`; `elsewhere` is the place where it would be right. */
export function unknownKey(key: string, known: Iterable<string>, elsewhere?: string): string {
  const names = [...known]
  const guess = nearest(key, names) ?? elsewhere
  return guess === undefined ? `unknown key; known here: ${names.join(', ')}` : `unknown key; did you mean ${guess}?`
}

const TRUE_WORDS = new Set(['true', 'yes', 'on', '1'])
const FALSE_WORDS = new Set(['false', 'no', 'off', '0'])

export const boolean: Kind<boolean> = simpleKind(
  'true or false',
  (raw) => {
    if (typeof raw === 'boolean') return raw
    if (typeof raw !== 'string') return undefined
    const word = raw.trim().toLowerCase()
    return TRUE_WORDS.has(word) ? true : FALSE_WORDS.has(word) ? false : undefined
  },
  { schema: { type: 'boolean' } },
)

function numberOf(raw: unknown): number | undefined {
  if (typeof raw === 'number') return raw
  return typeof raw === 'string' && /^\s*[-+]?\d+(\.\d+)?(e[-+]?\d+)?\s*$/i.test(raw) ? Number(raw) : undefined
}

export function integer(min: number, max: number = Number.MAX_SAFE_INTEGER): Kind<number> {
  const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`
  return simpleKind(
    `a whole number ${range}`,
    (raw) => {
      const value = numberOf(raw)
      return Number.isSafeInteger(value) && value! >= min && value! <= max ? value : undefined
    },
    {
      placeholder: 'N',
      schema: { type: 'integer', minimum: min, ...(max === Number.MAX_SAFE_INTEGER ? {} : { maximum: max }) },
    },
  )
}

/** A number between two bounds; `open` leaves the bounds themselves out. */
export function decimal(min: number, max: number, open = false): Kind<number> {
  return simpleKind(
    open ? `a number between ${min} and ${max}` : `a number from ${min} to ${max}`,
    (raw) => {
      const value = numberOf(raw)
      if (value === undefined || !(open ? value > min && value < max : value >= min && value <= max)) return undefined
      return value
    },
    {
      placeholder: 'N',
      schema: open
        ? { type: 'number', exclusiveMinimum: min, exclusiveMaximum: max }
        : { type: 'number', minimum: min, maximum: max },
    },
  )
}

/** A unit and how many of the base unit it has, the largest first. */
type Units = readonly (readonly [unit: string, amount: number])[]
const DURATION_UNITS: Units = [
  ['h', 3_600_000],
  ['s', 1000],
  ['ms', 1],
]
const SIZE_UNITS: Units = [
  ['GB', 1_000_000_000],
  ['MB', 1_000_000],
  ['KB', 1000],
  ['B', 1],
]

/** What an editor accepts: the usual forms of what `base` parses. */
const DURATION_PATTERN = String.raw`^(\d+(\.\d+)?\s*(ms|s|m|h|d|w)\s*)+$|^\d+(\.\d+)?$`
const SIZE_PATTERN = String.raw`^\d+(\.\d+)?\s*([kKmMgGtT]i?)?[bB]?$`
const PERCENT_PATTERN = String.raw`^\d+(\.\d+)?\s*%$`

/** Exact, unlike text for the eye: a whole number of the largest unit that divides the amount. */
function writeExactly(amount: number, units: Units): string {
  const [unit, size] = units.find(([, size]) => amount >= size && amount % size === 0) ?? units.at(-1)!
  return `${amount / size}${unit}`
}

function isQuantity(raw: unknown): raw is string | number {
  return typeof raw === 'string' || typeof raw === 'number'
}

const DAY_MS = 86_400_000

/** Whole days where there are several: a single one is better known as 24h. */
function writeDuration(amountMs: number): string {
  if (amountMs > DAY_MS && amountMs % DAY_MS === 0) return `${amountMs / DAY_MS}d`
  return amountMs === 0 ? '0s' : writeExactly(amountMs, DURATION_UNITS)
}

export function duration(minMs: number, maxMs: number): Kind<number> {
  return simpleKind(
    `a duration from ${writeDuration(minMs)} to ${writeDuration(maxMs)}, such as 500ms, 1s or 2m`,
    (raw, { durationUnit }) => {
      if (!isQuantity(raw)) return undefined
      const value = parseDurationMs(typeof raw === 'number' && durationUnit === 'ms' ? raw / 1000 : raw)
      return value !== undefined && value >= minMs && value <= maxMs ? value : undefined
    },
    {
      placeholder: 'DURATION',
      schema: { type: ['string', 'number'], pattern: DURATION_PATTERN, minimum: 0 },
      write: writeDuration,
    },
  )
}

export function size(minBytes: number): Kind<number> {
  return simpleKind(
    `a size of at least ${writeExactly(minBytes, SIZE_UNITS)}, such as 500KB, 10MB or 2GiB`,
    (raw) => {
      const value = isQuantity(raw) ? parseSizeBytes(raw) : undefined
      return value !== undefined && value >= minBytes ? value : undefined
    },
    {
      placeholder: 'SIZE',
      schema: { type: ['string', 'integer'], pattern: SIZE_PATTERN, minimum: minBytes },
      write: (value) => writeExactly(value, SIZE_UNITS),
    },
  )
}

/** In percent, not as a fraction: 40 is what people write, and it is exact. */
export function percent(min: number): Kind<number> {
  return simpleKind(
    `a percentage from ${min}% to 100%, such as 40%`,
    (raw) => {
      const share = isQuantity(raw) ? parsePercent(raw) : undefined
      // Twelve digits drop the noise of the binary fraction: 7% is 7, not 7.000000000000001.
      const value = share === undefined ? undefined : Number((share * 100).toPrecision(12))
      return value !== undefined && value >= min ? value : undefined
    },
    {
      placeholder: 'PERCENT',
      schema: { type: ['string', 'number'], pattern: PERCENT_PATTERN, minimum: min / 100, maximum: 1 },
      write: (value) => `${value}%`,
    },
  )
}

export function choice<T extends string>(values: readonly T[]): Kind<T> {
  return simpleKind(`one of ${values.join(', ')}`, (raw) => values.find((value) => value === raw), {
    placeholder: values.join('|'),
    schema: { enum: values },
  })
}

export function text(
  expected: string,
  placeholder: string,
  accepts: (value: string) => boolean = () => true,
  schema: JsonSchema = {},
): Kind<string> {
  return simpleKind(
    expected,
    (raw) =>
      typeof raw === 'string' && raw.trim() !== '' && raw.length <= MAX_TEXT_LENGTH && accepts(raw) ? raw : undefined,
    { placeholder, schema: { type: 'string', minLength: 1, maxLength: MAX_TEXT_LENGTH, ...schema } },
  )
}

/**
 * Several values of one kind. A file has a list, a flag is repeated; a single text, as a variable has it, is divided
 * at spaces.
 */
export function list<T>(item: Kind<T>, options: { comma?: true } = {}): Kind<readonly T[]> {
  const divide = (raw: unknown): unknown[] =>
    typeof raw === 'string' ? raw.split(options.comma === undefined ? /\s+/ : /[\s,]+/).filter(Boolean) : [raw]
  return {
    ...(item.placeholder === undefined ? {} : { placeholder: item.placeholder }),
    repeats: true,
    schema: { type: 'array', items: item.schema },
    write: (values) => values.map((value) => item.write(value)),
    read(raw, context) {
      const parts = !Array.isArray(raw) ? divide(raw) : options.comma === undefined ? raw : raw.flatMap(divide)
      if (parts.length > MAX_LIST_LENGTH) {
        context.fail(`expected at most ${MAX_LIST_LENGTH} values; found ${parts.length}`)
        return undefined
      }
      const values: T[] = []
      for (const [index, part] of parts.entries()) {
        const fail: ReadContext['fail'] = (message, at = []) => context.fail(message, [index, ...at])
        const value = item.read(part, { ...context, fail })
        if (value !== undefined) values.push(value)
      }
      return values.length === parts.length ? values : undefined
    },
  }
}
