/**
 * The lines of a robots.txt put together into groups, RFC 9309 §2.1 and §2.2.1. Nothing is judged here: whom a group
 * speaks to is for `agents.ts`, what its rules match for `rules.ts`.
 */
import { agentNameOf, type AgentName } from './agents.ts'
import { parseLine } from './line.ts'
import { textOf } from './octets.ts'
import { parseSignalLine, ROBOTS_MAX_SIGNAL_LINES, type SignalLine } from './signals.ts'

/** More Sitemap lines than this are not kept. */
export const ROBOTS_MAX_SITEMAPS = 10_000

/** As in Google's parser: what is beyond on a line is ignored, eight times the longest URL of old browsers. */
export const MAX_LINE_OCTETS = 2083 * 8 - 1

export interface RuleLine {
  readonly allow: boolean
  /** The path pattern as written, in octets; never empty. */
  readonly value: string
  /** 1-based. */
  readonly line: number
  /** The whole line as written, in octets. */
  readonly written: string
}

export interface Agent {
  readonly name: AgentName
  /** Shared by the user-agent lines that one Crawl-delay line follows. */
  readonly pace: { delayMs: number | undefined }
  /** Shared by the user-agent lines that the same Content-Signal and Content-Usage lines follow. */
  readonly signals: SignalLine[]
}

export interface Group {
  readonly agents: Agent[]
  readonly rules: RuleLine[]
}

export interface ParsedFile {
  readonly groups: readonly Group[]
  readonly sitemaps: readonly string[]
  /** Signals before any user-agent line. */
  readonly signals: readonly SignalLine[]
}

export function parseGroups(octets: string): ParsedFile {
  const groups: Group[] = []
  const sitemaps = new Set<string>()
  let group: Group | undefined
  let pace: Agent['pace'] = { delayMs: undefined }
  const commonSignals: SignalLine[] = []
  let signals: SignalLine[] = []
  let signalLines = 0
  // A user-agent line opens a new group only after a rule: no other record ends a group (RFC 9309 §2.2.4).
  let ruled = false
  // Crawl-delay is nobody's standard. It speaks to the user-agent lines above it up to the last Crawl-delay or rule.
  let paced = false
  // So do signals: a line that RFC 9309 does not know must not change which rules are for whom.
  let signalled = false
  forEachLine(octets, (raw, number) => {
    const line = parseLine(raw)
    if (line === undefined) return
    switch (line.directive) {
      case 'user-agent': {
        if (group === undefined || ruled) {
          group = { agents: [], rules: [] }
          groups.push(group)
        }
        if (ruled || paced) pace = { delayMs: undefined }
        if (ruled || signalled) signals = []
        ruled = paced = signalled = false
        const name = agentNameOf(line.value)
        if (name !== undefined) group.agents.push({ name, pace, signals })
        return
      }
      case 'allow':
      case 'disallow':
        // A rule before any user-agent line belongs to no group and is ignored (RFC 9309 §2.2.2).
        if (group === undefined) return
        ruled = true
        // An empty pattern matches nothing, but it is a rule and ends the list of user agents.
        if (line.value === '') return
        group.rules.push({ allow: line.directive === 'allow', value: line.value, line: number, written: raw })
        return
      case 'crawl-delay': {
        if (group === undefined) return
        paced = true
        const delayMs = parseDelay(line.value)
        // Of several, the longest: the host may have meant any of them, and the longest offends none.
        if (delayMs !== undefined) pace.delayMs = Math.max(pace.delayMs ?? 0, delayMs)
        return
      }
      case 'content-signal':
      case 'content-usage': {
        if (signalLines >= ROBOTS_MAX_SIGNAL_LINES) return
        const signal = parseSignalLine(line.directive, line.value)
        if (signal === undefined) return
        signalLines++
        if (group === undefined) commonSignals.push(signal)
        else {
          signalled = true
          signals.push(signal)
        }
        return
      }
      case 'sitemap':
        if (line.value !== '' && sitemaps.size < ROBOTS_MAX_SITEMAPS) sitemaps.add(textOf(line.value))
        return
      case 'other':
    }
  })
  return { groups, sitemaps: [...sitemaps], signals: commonSignals }
}

/** Plain decimal seconds. Signs, exponents, units and numbers too large for a number are no delay. */
function parseDelay(value: string): number | undefined {
  if (!/^(?:\d+\.?\d*|\.\d+)$/.test(value)) return undefined
  const delayMs = Math.round(Number(value) * 1000)
  return Number.isFinite(delayMs) ? delayMs : undefined
}

/** CR, LF and CRLF end a line (RFC 9309 §2.2). Calls back with the line, cut at MAX_LINE_OCTETS, and its 1-based number. */
function forEachLine(octets: string, callback: (line: string, number: number) => void): void {
  let number = 0
  let start = 0
  for (let at = 0; at <= octets.length; at++) {
    const code = at === octets.length ? 0x0a : octets.charCodeAt(at)
    if (code !== 0x0a && code !== 0x0d) continue
    number++
    if (at > start) callback(octets.slice(start, Math.min(at, start + MAX_LINE_OCTETS)), number)
    if (code === 0x0d && octets.charCodeAt(at + 1) === 0x0a) at++
    start = at + 1
  }
}
