/**
 * Durations, sizes and shares as people write and read them. Parsing is strict and never throws: text that is not
 * understood as a whole gives undefined, and the caller says where it stood. Formatting is for people and rounds; what
 * it prints can be parsed again.
 */

/** Longer text is no quantity. */
const MAX_TEXT_LENGTH = 64

const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const WEEK_MS = 7 * DAY_MS

const DURATION_UNITS: ReadonlyMap<string, number> = new Map(
  (
    [
      ['ms', 1],
      ['s sec secs second seconds', SECOND_MS],
      ['m min mins minute minutes', MINUTE_MS],
      ['h hr hrs hour hours', HOUR_MS],
      ['d day days', DAY_MS],
      ['w week weeks', WEEK_MS],
    ] as const
  ).flatMap(([names, unitMs]) => names.split(' ').map((name): [string, number] => [name, unitMs])),
)

/**
 * Milliseconds in `200ms`, `1s`, `1.5m`, `2h`, `1d`, `1w`, or several from large to small: `1h30m`, `3m 05s`. A number
 * without a unit, as text or as a number, is in seconds, as in `Crawl-delay` and `Retry-After`. Never negative.
 */
export function parseDurationMs(text: string | number): number | undefined {
  if (typeof text === 'number') return wholeMicros(text * SECOND_MS)
  const bare = parseDecimal(text)
  if (bare !== undefined) return wholeMicros(bare * SECOND_MS)
  const parts = splitQuantities(text)
  if (parts === undefined) return undefined
  let total = 0
  let previousUnitMs = Infinity
  for (const { amount, unit } of parts) {
    const unitMs = DURATION_UNITS.get(unit)
    if (unitMs === undefined || unitMs >= previousUnitMs) return undefined
    total += amount * unitMs
    previousUnitMs = unitMs
  }
  return wholeMicros(total)
}

/** Whole microseconds, so that `0.1s` is exactly 100 and not a neighbour of it. */
function wholeMicros(ms: number): number | undefined {
  return ms >= 0 && ms <= Number.MAX_SAFE_INTEGER / 1000 ? Math.round(ms * 1000) / 1000 : undefined
}

/** `200ms`, `1.2s`, `3m 05s`, `2h 14m`, `3d 04h`: the two largest units. Less than nothing is `0s`. */
export function formatDuration(ms: number): string {
  if (ms === Infinity) return '∞'
  const rounded = Math.round(ms)
  // Not a number is not above zero either.
  if (!(rounded > 0)) return '0s'
  if (rounded < SECOND_MS) return `${rounded}ms`
  const tenths = Math.round(ms / 100)
  if (tenths < 600) return `${tenths / 10}s`
  const seconds = Math.round(ms / SECOND_MS)
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${twoDigits(seconds % 60)}s`
  const minutes = Math.round(ms / MINUTE_MS)
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)}h ${twoDigits(minutes % 60)}m`
  const hours = Math.round(ms / HOUR_MS)
  return `${Math.floor(hours / 24)}d ${twoDigits(hours % 24)}h`
}

const twoDigits = (value: number): string => String(value).padStart(2, '0')

const SIZE_PREFIXES = ['', 'k', 'm', 'g', 't', 'p'] as const
const SIZE_UNITS: ReadonlyMap<string, number> = new Map(
  SIZE_PREFIXES.flatMap((prefix, power): [string, number][] => {
    if (prefix === '') return [['b', 1]]
    const [decimal, binary] = [1000 ** power, 1024 ** power]
    return [
      [prefix, decimal],
      [`${prefix}b`, decimal],
      [`${prefix}i`, binary],
      [`${prefix}ib`, binary],
    ]
  }),
)

/**
 * Bytes in `10MB`, `512KiB`, `1.5g` or `4096`. `KB` and `k` are 1,000, `KiB` and `Ki` 1,024; upper and lower case mean
 * the same. A number without a unit is in bytes and must be whole.
 */
export function parseSizeBytes(text: string | number): number | undefined {
  const bare = typeof text === 'number' ? text : parseDecimal(text)
  if (bare !== undefined) return Number.isSafeInteger(bare) && bare >= 0 ? bare : undefined
  const parts = splitQuantities(text as string)
  if (parts?.length !== 1) return undefined
  const unitBytes = SIZE_UNITS.get(parts[0]!.unit)
  if (unitBytes === undefined) return undefined
  const bytes = Math.round(parts[0]!.amount * unitBytes)
  return Number.isSafeInteger(bytes) ? bytes : undefined
}

/** `512 B`, `1.5 KB`, `20 MB`: one decimal, units of 1,000. */
export function formatBytes(bytes: number): string {
  if (!(bytes >= 0.5)) return '0 B'
  let value = Math.round(bytes)
  let power = 0
  // Compared as it will be printed, so that 999,999 is 1 MB and never 1000 KB.
  while (value >= 1000 && power < SIZE_PREFIXES.length - 1) {
    power++
    value = Math.round((bytes / 1000 ** power) * 10) / 10
  }
  return `${value} ${SIZE_PREFIXES[power]!.toUpperCase()}B`
}

/** A share from 0 to 1: `40%`, `0.4`. A number above 1 without a percent sign is nothing: 40 might mean either. */
export function parsePercent(text: string | number): number | undefined {
  const share =
    typeof text === 'number'
      ? text
      : text.trimEnd().endsWith('%')
        ? divideByHundred(parseDecimal(text.trimEnd().slice(0, -1)))
        : parseDecimal(text)
  return share !== undefined && share >= 0 && share <= 1 ? share : undefined
}

const divideByHundred = (value: number | undefined): number | undefined =>
  value === undefined ? undefined : value / 100

/** Digits with or without a point, and nothing else: no sign, no exponent. */
function parseDecimal(text: string): number | undefined {
  const trimmed = text.length > MAX_TEXT_LENGTH ? '' : text.trim()
  return /^(?:\d+\.?\d*|\.\d+)$/.test(trimmed) ? Number(trimmed) : undefined
}

/** `1h 30m` as amounts with lower-case units; undefined unless the whole text is such a list. */
function splitQuantities(text: string): { amount: number; unit: string }[] | undefined {
  if (text.length > MAX_TEXT_LENGTH) return undefined
  const quantity = /\s*(\d+\.?\d*|\.\d+)\s*([a-z]+)\s*/gy
  const lower = text.toLowerCase()
  const parts: { amount: number; unit: string }[] = []
  while (quantity.lastIndex < lower.length) {
    const match = quantity.exec(lower)
    if (match === null) return undefined
    parts.push({ amount: Number(match[1]), unit: match[2]! })
  }
  return parts.length === 0 ? undefined : parts
}
