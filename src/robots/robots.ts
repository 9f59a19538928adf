/**
 * A robots.txt as its reader sees it. Parsing never fails: the rules that can be read are followed (RFC 9309 §2.3.1.1),
 * so a file of garbage allows everything. What a missing or unreachable file means is not known here.
 */
import type { ContentSignals } from '../model/index.ts'
import { selectGroups } from './agents.ts'
import { canonicalPath, pathOfUrl } from './canonical.ts'
import { parseGroups } from './groups.ts'
import { octetsOf, octetsOfText, textOf } from './octets.ts'
import { compileRules, decidingRule, type Rule } from './rules.ts'
import { signalsOf, type SignalLine } from './signals.ts'

export interface RobotsVerdict {
  readonly allowed: boolean
  /** The 1-based line that decided; null when no rule did. */
  readonly line: number | null
  /** That line as written, without white space around it. */
  readonly rule: string | null
}

export interface Robots {
  /**
   * Whether a crawler may ask for a URL. The crawler is named by its product token or its whole User-Agent string,
   * the URL is absolute or a path that begins with `/`; its host is not looked at, and its fragment is ignored.
   */
  check(productToken: string, url: string): RobotsVerdict
  /** What `Crawl-delay` asks of the crawler, rounded to milliseconds; of several the longest. Not capped. */
  crawlDelayMs(productToken: string): number | undefined
  /**
   * What a text may be used for, by the Content-Signal and Content-Usage lines that speak to the crawler about the URL;
   * where none speaks to it, by those before any user-agent line. Undefined when the file says nothing.
   */
  contentSignals(productToken: string, url: string): ContentSignals | undefined
  /**
   * The value of every Sitemap line, wherever it stands, in order and each once. As written: whether it is an absolute
   * http URL, or has to be resolved, is for the caller, who knows where the file came from.
   */
  readonly sitemaps: readonly string[]
}

interface Reading {
  readonly rules: readonly Rule[]
  readonly delayMs: number | undefined
  readonly signals: readonly SignalLine[]
}

/** A process crawls under one name or a few; whoever asks for more than this has them read again. */
const MAX_READINGS = 16

const NOT_DECIDED: RobotsVerdict = { allowed: true, line: null, rule: null }

/** Reads a robots.txt, RFC 9309 in full: `ROBOTS_MAX_BYTES` of it, whatever it holds, in linear time. */
export function parseRobots(body: string | Uint8Array): Robots {
  const { groups, sitemaps, signals } = parseGroups(octetsOf(body))
  const readings = new Map<string, Reading>()
  const readAs = (productToken: string): Reading => {
    const known = readings.get(productToken)
    if (known !== undefined) return known
    const audience = selectGroups(groups, productToken)
    const reading = {
      rules: compileRules(audience.groups),
      delayMs: audience.delayMs,
      signals: audience.signals.length > 0 ? audience.signals : signals,
    }
    if (readings.size >= MAX_READINGS) readings.clear()
    readings.set(productToken, reading)
    return reading
  }
  return {
    sitemaps,
    crawlDelayMs: (productToken) => readAs(productToken).delayMs,
    contentSignals(productToken, url) {
      const lines = readAs(productToken).signals
      return lines.length === 0 ? undefined : signalsOf(lines, canonicalPath(octetsOfText(pathOfUrl(url))))
    },
    check(productToken, url) {
      const { rules } = readAs(productToken)
      if (rules.length === 0) return NOT_DECIDED
      const path = canonicalPath(octetsOfText(pathOfUrl(url)))
      // The file that holds the rules is never forbidden by them (RFC 9309 §2.2.2).
      if (path === '/robots.txt') return NOT_DECIDED
      const source = decidingRule(rules, path)
      if (source === undefined) return NOT_DECIDED
      return { allowed: source.allow, line: source.line, rule: textOf(source.written).trim() }
    },
  }
}
