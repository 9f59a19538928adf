/** Everything that is wrong with what a person wrote, said at once: one error, one line for each problem. */
import { TiptoeError } from '../model/index.ts'

/** More problems than these are one problem: the wrong file. */
const MAX_SHOWN = 20

/** Throws a usage error unless the list is empty. */
export function refuse(problems: readonly string[], hint?: string): void {
  if (problems.length === 0) return
  throw new TiptoeError('usage', summarise(problems), hint === undefined ? {} : { hint })
}

function summarise(problems: readonly string[]): string {
  if (problems.length === 1) return problems[0] ?? ''
  const lines = problems.slice(0, MAX_SHOWN)
  if (problems.length > MAX_SHOWN) lines.push(`and ${problems.length - MAX_SHOWN} more`)
  return `${problems.length} problems in the configuration\n${lines.map((line) => `  ${line}`).join('\n')}`
}
