/**
 * The rules that speak to one crawler, in the order in which they win, RFC 9309 §2.2.2: the pattern with the most octets
 * first, allow before disallow at the same length, then the earlier line. The first that matches decides.
 *
 * Keeps true: a verdict costs one pass over the plain rules (together at most as long as the file) and, for all the
 * rules with a star together, ROBOTS_MAX_MATCH_STEPS.
 */
import { canonicalPattern, encodeReserved, hasReservedData } from './canonical.ts'
import { compilePattern, matchesPattern, type Pattern, type Steps } from './pattern.ts'
import type { Group, RuleLine } from './groups.ts'

/**
 * How many octets of the URL may be passed for one verdict while the pieces between stars are looked for: 5,000 rules
 * that begin with a star against a URL of 400 octets, or 240 of them against one of 8,192. A file that asks for more is
 * hostile or broken, and from there on is read strictly: a disallow rule is cut at its first star, which forbids more,
 * and an allow rule with a star is ignored. Counted, not timed, so the same question has the same answer everywhere.
 */
export const ROBOTS_MAX_MATCH_STEPS = 2_000_000

export interface Rule {
  readonly source: RuleLine
  readonly priority: number
  readonly pattern: Pattern
  /** The same in the second form, where it can differ; see `encodeReserved`. */
  readonly encodedPattern: Pattern | undefined
}

export function compileRules(groups: readonly Group[]): readonly Rule[] {
  const rules: Rule[] = []
  const seen = new Set<string>()
  const add = (source: RuleLine, canonical: string): void => {
    const key = (source.allow ? '+' : '-') + canonical
    if (seen.has(key)) return
    seen.add(key)
    const pattern = compilePattern(canonical)
    const encodedPattern = hasReservedData(canonical) ? compilePattern(encodeReserved(canonical)) : undefined
    rules.push({ source, priority: canonical.length, pattern, encodedPattern })
  }
  for (const group of groups) {
    for (const source of group.rules) {
      const canonical = canonicalPattern(withSlash(source.value))
      add(source, canonical)
      const directory = source.allow ? directoryOfIndex(canonical) : undefined
      if (directory !== undefined) add(source, `${directory}$`)
    }
  }
  return rules.sort(
    (a, b) =>
      b.priority - a.priority || Number(b.source.allow) - Number(a.source.allow) || a.source.line - b.source.line,
  )
}

/** The rule that decides about a canonical path. */
export function decidingRule(rules: readonly Rule[], path: string): RuleLine | undefined {
  const steps: Steps = { left: ROBOTS_MAX_MATCH_STEPS }
  let encoded: string | undefined
  for (const { source, pattern, encodedPattern } of rules) {
    if (applies(pattern, path, source.allow, steps)) return source
    if (encodedPattern === undefined) continue
    encoded ??= encodeReserved(path)
    if (applies(encodedPattern, encoded, source.allow, steps)) return source
  }
  return undefined
}

function applies(pattern: Pattern, path: string, allow: boolean, steps: Steps): boolean {
  if (steps.left > 0 || !pattern.hasStar) return matchesPattern(pattern, path, steps)
  return !allow && path.startsWith(pattern.prefix)
}

/**
 * `/a/` of `/a/index.html`. Who allows the index page of a directory by name means the page that the directory shows;
 * RFC 9309 is silent, Google's parser, crawler-commons and Protego have it so. Not for disallow: that would close more
 * than was written.
 */
function directoryOfIndex(canonical: string): string | undefined {
  const name = canonical.lastIndexOf('/') + 1
  return name > 0 && canonical.startsWith('index.htm', name) ? canonical.slice(0, name) : undefined
}

/** A path begins with a slash; who wrote `private/` meant `/private/`, and Google once documented it so. */
function withSlash(value: string): string {
  const first = value.charCodeAt(0)
  return first === 0x2f || first === 0x2a || first === 0x24 ? value : `/${value}`
}
