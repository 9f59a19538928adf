/**
 * What a text may be used for, as a robots.txt says it: `Content-Signal: search=yes, ai-train=no` (contentsignals.org)
 * and `Content-Usage: /path train-ai=n` (draft-ietf-aipref-attach). Both are lists of names with yes or no, before which
 * a path pattern may stand. Signals permit or reserve a use; they open or close no URL, so nothing here touches a verdict.
 * Values other than yes and no (`use=reference`) are read past.
 */
import type { ContentSignals } from '../model/index.ts'
import { canonicalPattern } from './canonical.ts'
import { compilePattern, matchesPattern, type Pattern, type Steps } from './pattern.ts'

/** Lines that name signals, in one file; further ones are ignored. Real files have one to three. */
export const ROBOTS_MAX_SIGNAL_LINES = 1_000

/** Signals on one line, and together for one URL. Both vocabularies have five names between them. */
const MAX_SIGNALS = 16

/** For all the patterns with a star of one question together; what is not reached does not match. */
const MAX_MATCH_STEPS = 200_000

export type SignalDirective = 'content-signal' | 'content-usage'

export interface SignalLine {
  readonly directive: SignalDirective
  /** Octets of the path, which decide between lines: the longest that matches counts. */
  readonly priority: number
  /** Undefined: the line is about every path. */
  readonly pattern: Pattern | undefined
  readonly signals: ReadonlyMap<string, boolean>
}

const SIGNAL = /^([a-z*][a-z0-9_.*-]{0,31})[ \t]*=[ \t]*"?(yes|no|y|n)"?$/

/** Undefined when the line says nothing that could be read. */
export function parseSignalLine(directive: SignalDirective, value: string): SignalLine | undefined {
  const path = /^[/*][^ \t=,]*(?=[ \t])/.exec(value)?.[0] ?? ''
  const signals = new Map<string, boolean>()
  for (const part of value.slice(path.length).toLowerCase().split(',', MAX_SIGNALS)) {
    const match = SIGNAL.exec(part.trim())
    if (match === null) continue
    setStricter(signals, match[1] as string, (match[2] as string).startsWith('y'))
  }
  if (signals.size === 0) return undefined
  if (path === '') return { directive, priority: 0, pattern: undefined, signals }
  const canonical = canonicalPattern(path)
  return { directive, priority: canonical.length, pattern: compilePattern(canonical), signals }
}

/**
 * The signals of one canonical path. Of each directive the line with the longest path counts, and of several with the
 * same path all of them; where they contradict each other, no is meant. Undefined where nothing is said.
 */
export function signalsOf(lines: readonly SignalLine[], path: string): ContentSignals | undefined {
  const steps: Steps = { left: MAX_MATCH_STEPS }
  const found = new Map<string, boolean>()
  for (const directive of ['content-signal', 'content-usage'] as const) {
    const matching = lines.filter((line) => line.directive === directive && isAbout(line, path, steps))
    const longest = matching.reduce((most, line) => Math.max(most, line.priority), 0)
    for (const line of matching) {
      if (line.priority < longest) continue
      for (const [name, isPermitted] of line.signals) setStricter(found, name, isPermitted)
    }
  }
  return found.size === 0 ? undefined : Object.fromEntries(found)
}

function isAbout({ pattern }: SignalLine, path: string, steps: Steps): boolean {
  if (pattern === undefined) return true
  return (!pattern.hasStar || steps.left > 0) && matchesPattern(pattern, path, steps)
}

function setStricter(signals: Map<string, boolean>, name: string, isPermitted: boolean): void {
  const known = signals.get(name)
  if (known === undefined && signals.size >= MAX_SIGNALS) return
  signals.set(name, isPermitted && known !== false)
}
