/**
 * The rules that speak to one crawler, in the order in which they win, RFC 9309 §2.2.2: the pattern with the most octets
 * first, allow before disallow at the same length, then the earlier line. The first that matches decides.
 *
 * Keeps true: a verdict costs no more than one pass over the plain rules (together at most as long as the file) and
 * two passes over the URL for each of ROBOTS_MAX_WILDCARD_RULES rules with a star.
 */
import { canonicalPattern, encodeQuery } from './canonical.ts'
import { compilePattern, matchesPattern, type Pattern } from './pattern.ts'
import type { Group, RuleLine } from './groups.ts'

/**
 * So many patterns with a star are matched as they stand. A file with more is hostile or broken, and is read strictly:
 * further disallow rules are cut at their first star, which forbids more, and further allow rules are ignored.
 */
export const ROBOTS_MAX_WILDCARD_RULES = 5_000

export interface Rule {
  readonly source: RuleLine
  readonly priority: number
  readonly pattern: Pattern
  /** The same with `:`, `/` and `@` of its query encoded, where it has any; see `encodeQuery`. */
  readonly queryPattern: Pattern | undefined
}

export function compileRules(groups: readonly Group[]): readonly Rule[] {
  const rules: Rule[] = []
  const seen = new Set<string>()
  let wildcards = 0
  for (const group of groups) {
    for (const source of group.rules) {
      let canonical = canonicalPattern(withSlash(source.value))
      const priority = canonical.length
      const key = (source.allow ? '+' : '-') + canonical
      if (seen.has(key)) continue
      seen.add(key)
      const star = canonical.indexOf('*')
      if (star >= 0 && ++wildcards > ROBOTS_MAX_WILDCARD_RULES) {
        if (source.allow) continue
        canonical = canonical.slice(0, star)
      }
      const pattern = compilePattern(canonical)
      rules.push({ source, priority, pattern, queryPattern: queryPatternOf(canonical) })
    }
  }
  return rules.sort(
    (a, b) =>
      b.priority - a.priority || Number(b.source.allow) - Number(a.source.allow) || a.source.line - b.source.line,
  )
}

function queryPatternOf(canonical: string): Pattern | undefined {
  const query = canonical.indexOf('?')
  if (query < 0 || !/[:/@]|%(?:3A|2F|40)/.test(canonical.slice(query))) return undefined
  return compilePattern(encodeQuery(canonical))
}

/** The rule that decides about a canonical path. */
export function decidingRule(rules: readonly Rule[], path: string): RuleLine | undefined {
  let encoded: string | undefined
  for (const rule of rules) {
    if (matchesPattern(rule.pattern, path)) return rule.source
    if (rule.queryPattern === undefined) continue
    encoded ??= encodeQuery(path)
    if (matchesPattern(rule.queryPattern, encoded)) return rule.source
  }
  return undefined
}

/** A path begins with a slash; who wrote `private/` meant `/private/`, and Google once documented it so. */
function withSlash(value: string): string {
  const first = value.charCodeAt(0)
  return first === 0x2f || first === 0x2a || first === 0x24 ? value : `/${value}`
}
