/**
 * Rules about URLs that hold before anything was learned of a host. They are wide, for an honest site may have odd
 * URLs; a probe that finds a new page behind one acquits it. Those that are final bound what no learning would.
 */
import type { NormalizedUrl } from '../../model/index.ts'
import type { UrlShape } from '../../url/index.ts'

export interface Rule {
  readonly id: string
  readonly reason: string
  readonly isFinal: boolean
}

const MAX_REPEATS = 2
const MAX_RECURRENCES = 3
const MAX_DEPTH = 24
const MAX_PARAMETERS = 12
const MAX_LENGTH = 2_000
/** No probe is sent beyond these. */
const FINAL_DEPTH = 40
const FINAL_PARAMETERS = 24

export function ruleAgainst(length: number, shape: UrlShape): Rule | undefined {
  const { repeated, recurrences, depth, parameters, doubled } = shape
  if (depth >= FINAL_DEPTH) return rule('depth', `its path has ${FINAL_DEPTH} segments or more`, true)
  if (parameters >= FINAL_PARAMETERS) return rule('parameters', `it has ${FINAL_PARAMETERS} parameters or more`, true)
  if (repeated !== undefined && repeated.times > MAX_REPEATS)
    return rule('repeats', `its path repeats ${shortened(repeated.segments)} ${repeated.times} times`)
  if (recurrences > MAX_RECURRENCES) return rule('recurs', `a segment of its path occurs ${recurrences} times`)
  if (doubled !== undefined) return rule('doubled', `it has the parameter ${shortened(doubled)} twice`)
  if (parameters > MAX_PARAMETERS) return rule('parameters', `it has ${parameters} parameters`)
  if (depth > MAX_DEPTH) return rule('depth', `its path has ${depth} segments`)
  if (length > MAX_LENGTH) return rule('length', `it is ${length} characters long`)
  return undefined
}

/** Whether no rule speaks against a URL, as can be told of most without working out their shapes. */
export function isWithinRules(url: NormalizedUrl): boolean {
  if (url.length > MAX_LENGTH || url.includes('?') || url.includes(';')) return false
  const segments = url.split('/', MAX_DEPTH)
  return segments.length < MAX_DEPTH && new Set(segments).size === segments.length
}

function rule(id: string, reason: string, isFinal = false): Rule {
  return { id: `rule ${id}`, reason, isFinal }
}

/** For a reason that a person reads. */
export function shortened(text: string): string {
  return text.length <= 80 ? text : `${text.slice(0, 79)}…`
}
