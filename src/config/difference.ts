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
  return OPTIONS.filter((option) => option.shapes)
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
  const written = option.kind.write(value)
  return Array.isArray(written) ? JSON.stringify(written.map(String).sort()) : JSON.stringify(written)
}
