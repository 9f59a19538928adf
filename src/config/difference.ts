/**
 * What two configurations disagree on that decides which pages a crawl has. A crawl that is resumed with another scope
 * would be neither the old crawl nor a new one, so such a difference is refused; pace, limits and output may change.
 */
import { labelOf, OPTIONS, type Option, type OptionName } from './options.ts'
import type { Settings } from './settings.ts'

export interface Difference {
  readonly option: OptionName
  /** `--scope`, or the key in the file where there is no flag. */
  readonly label: string
  readonly before: string
  readonly after: string
}

export function settingsDifference(before: Settings, after: Settings): Difference[] {
  return differenceIn((option) => option.shapes === true, before, after)
}

/**
 * What a worker may not do differently than the others of its crawl: what decides its pages, and how politely and how
 * much they crawl together. What belongs to a process, as its folder does, it has for itself.
 */
export function fleetDifference(before: Settings, after: Settings): Difference[] {
  return differenceIn((option) => (option.shapes || option.shared) === true && !option.local, before, after)
}

/** How much a crawl fetches: what may be raised or lowered while nobody works on it. */
export function limitsDifference(before: Settings, after: Settings): Difference[] {
  return differenceIn(({ group, shapes, local }) => group === 'Limits' && !shapes && !local, before, after)
}

function differenceIn(counts: (option: Option) => boolean, before: Settings, after: Settings): Difference[] {
  return OPTIONS.filter(counts)
    .map((option) => ({
      option: option.name,
      label: labelOf(option),
      before: valueText(option, before[option.setting]),
      after: valueText(option, after[option.setting]),
    }))
    .filter(({ before, after }) => before !== after)
}

/** Lists that shape a crawl are sets: their order says nothing. */
function valueText(option: Option, value: unknown): string {
  if (value === undefined) return 'none'
  const written = plain(option.kind.write(value))
  return Array.isArray(written)
    ? JSON.stringify(written.map((part) => (typeof part === 'string' ? part : JSON.stringify(part))).sort())
    : JSON.stringify(written)
}

/** The order of a mapping counts: the first match wins. */
function plain(written: unknown): unknown {
  return written instanceof Map
    ? [...written].map(([key, value]) => `${key}: ${JSON.stringify(value)}`).join('; ')
    : written
}
