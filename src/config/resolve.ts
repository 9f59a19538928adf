/**
 * From what was written to what it means: layers are laid one over the other (defaults, a resumed crawl, the file, the
 * environment, flags), every value is read once, and the result is complete or an error that names every problem.
 * A list replaces the list below it; nothing is merged.
 */
import { fileLayer, type ConfigFile } from './config-file.ts'
import { environmentLayer, flagLayer, type Environment, type Layer, type RawValues } from './layer.ts'
import { defaultOf, OPTIONS, type OptionName } from './options.ts'
import { refuse } from './problems.ts'
import type { Settings } from './settings.ts'

export interface Resolved {
  readonly settings: Settings
  /** `default`, `file crawl.yaml:12`, `env TIPTOE_DELAY`, `flag --delay` or `option delay`. */
  readonly sources: Readonly<Record<OptionName, string>>
}

export interface ResolveInput {
  /** Of Tiptoe, for the default user agent. */
  readonly version: string
  /** What `parseArguments` found. */
  readonly flags?: RawValues
  readonly environment?: Environment
  /** What `--config` names. */
  readonly file?: ConfigFile
  /** The crawl.yaml of a crawl that is resumed: it stands just above the defaults. */
  readonly stored?: ConfigFile
}

export function resolveSettings(input: ResolveInput): Resolved {
  const problems: string[] = []
  const layers: Layer[] = []
  for (const file of [input.stored, input.file]) {
    if (file === undefined) continue
    const read = fileLayer(file)
    problems.push(...read.problems)
    layers.push(read.layer)
  }
  if (input.environment !== undefined) layers.push(environmentLayer(input.environment))
  if (input.flags !== undefined) layers.push(flagLayer(input.flags))
  return resolveLayers(layers, input.version, problems)
}

export function resolveLayers(layers: readonly Layer[], version: string, problems: string[] = []): Resolved {
  const settings: Record<string, unknown> = {}
  const sources: Partial<Record<OptionName, string>> = {}
  for (const option of OPTIONS) {
    let value = defaultOf(option, version)
    let source = 'default'
    for (const layer of layers) {
      const raw = layer.values[option.name]
      if (raw === undefined) continue
      source = layer.source(option)
      if ((raw === null && option.default === undefined) || (raw === 'none' && option.none)) {
        value = undefined
        continue
      }
      value = option.kind.read(raw, {
        durationUnit: layer.durationUnit,
        fail: (message, at = []) => problems.push(`${layer.place(option, at)}: ${message}`),
      })
    }
    if (value !== undefined) settings[option.setting] = value
    sources[option.name] = source
  }
  // What values that were refused make together would only repeat the refusal.
  if (problems.length === 0) problems.push(...problemsTogether(settings as unknown as Settings))
  refuse(problems, 'every option is described in docs/reference/options.md, and by tiptoe help')
  return { settings: settings as unknown as Settings, sources: sources as Record<OptionName, string> }
}

/** Decimal fractions of a percent do not add up exactly in binary. */
const ROUNDING = 1e-6

/** Values that are right alone, and wrong beside each other. */
function problemsTogether(settings: Settings): string[] {
  return [...quotaProblems(settings), ...scoreProblems(settings), ...recrawlProblems(settings)]
}

function scoreProblems(settings: Settings): string[] {
  const { scoreImportance, scoreChange, scoreAge, scoreDepth, highScore, lowScore } = settings
  const problems: string[] = []
  if (scoreImportance + scoreChange + scoreAge + scoreDepth === 0) {
    problems.push('crawler.frontier.score: at least one of importance, change, age and depth must be above 0')
  }
  if (lowScore > highScore) {
    const found = `found ${lowScore} and ${highScore}`
    problems.push(`crawler.frontier.score: low_score must not be above high_score; ${found}`)
  }
  return problems
}

function recrawlProblems({ recrawlShortestMs = 0, recrawlLongestMs = Infinity }: Settings): string[] {
  return recrawlShortestMs <= recrawlLongestMs ? [] : ['recrawl: shortest must not be longer than longest']
}

function quotaProblems(settings: Settings): string[] {
  const { highPriorityQuotaPercent, mediumPriorityQuotaPercent, lowPriorityQuotaPercent } = settings
  const total = highPriorityQuotaPercent + mediumPriorityQuotaPercent + lowPriorityQuotaPercent
  if (Math.abs(total - 100) < ROUNDING) return []
  return [
    'crawler.frontier: high_priority_quota, medium_priority_quota and low_priority_quota must make 100% together; ' +
      `found ${highPriorityQuotaPercent}% + ${mediumPriorityQuotaPercent}% + ${lowPriorityQuotaPercent}%`,
  ]
}
