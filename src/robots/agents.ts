/**
 * Whom a group speaks to, RFC 9309 §2.2.1. A product token is letters, `_` and `-`, compared without case and in full:
 * `foobot` is not `foobot-news`. Like Google's parser we read the token off the front of whatever is written, so
 * `Foobot/1.2 (+url)` is `foobot`, on either side.
 *
 * Names with digits or letters beyond ASCII are no tokens by the RFC, yet sites and crawlers have them. They are
 * compared as whole words first, so that `agent2` is neither `agent1` nor `agent`. Only a crawler that finds its word
 * nowhere is spoken to by the leading token, its own or the group's.
 *
 * A User-Agent string that passes for a browser's names its crawler behind `compatible;`, as in the RFC's own example
 * (§2.2.1): `Mozilla/5.0 (compatible; ExampleBot/0.1; +url)` is `examplebot`.
 */
import { isWhite } from './line.ts'
import { octetsOfText } from './octets.ts'
import type { Agent, Group } from './groups.ts'
import type { SignalLine } from './signals.ts'

const COMPATIBLE = 'compatible; '

/** `'*'` for the group of everyone else. Lower case; `token` begins `word` and may be empty. */
export type AgentName = '*' | { readonly word: string; readonly token: string }

/** Undefined when the line names nobody. */
export function agentNameOf(value: string): AgentName | undefined {
  if (value.charCodeAt(0) === 0x2a && (value.length === 1 || isWhite(value.charCodeAt(1)))) return '*'
  let token = 0
  while (token < value.length && isTokenCode(value.charCodeAt(token))) token++
  let word = token
  while (word < value.length && isWordCode(value.charCodeAt(word))) word++
  if (word === 0) return undefined
  return { word: lower(value.slice(0, word)), token: lower(value.slice(0, token)) }
}

export interface Audience {
  readonly groups: readonly Group[]
  readonly delayMs: number | undefined
  readonly signals: readonly SignalLine[]
}

/**
 * The groups that speak to a crawler: all that name it, merged; if none does, all that name `*`. A group that names it
 * and says nothing still keeps it from `*`.
 */
export function selectGroups(groups: readonly Group[], crawler: string): Audience {
  for (const name of namesOf(octetsOfText(crawler))) {
    const { word, token } = name
    const audience =
      collect(groups, (other) => other !== '*' && other.word === word) ??
      collect(groups, (other) => other !== '*' && (word === token ? other.token : other.word) === token)
    if (audience !== undefined) return audience
  }
  return collect(groups, (other) => other === '*') ?? { groups: [], delayMs: undefined, signals: [] }
}

/** The names by which a crawler answers, in the order in which they are looked for. */
function namesOf(crawler: string): Exclude<AgentName, '*'>[] {
  const product = agentNameOf(crawler)
  if (product === undefined || product === '*') return []
  const disguise = product.word === 'mozilla' ? crawler.indexOf(COMPATIBLE) : -1
  const inside = disguise < 0 ? undefined : agentNameOf(crawler.slice(disguise + COMPATIBLE.length))
  return inside === undefined || inside === '*' ? [product] : [inside, product]
}

function collect(groups: readonly Group[], test: (name: AgentName) => boolean): Audience | undefined {
  const selected: Group[] = []
  let delayMs: number | undefined
  // User-agent lines share their list, so each is taken once.
  const lists = new Set<readonly SignalLine[]>()
  for (const group of groups) {
    const agents: Agent[] = group.agents.filter((agent) => test(agent.name))
    if (agents.length > 0) selected.push(group)
    for (const agent of agents) {
      const { pace } = agent
      if (pace.delayMs !== undefined) delayMs = Math.max(delayMs ?? 0, pace.delayMs)
      lists.add(agent.signals)
    }
  }
  return selected.length === 0 ? undefined : { groups: selected, delayMs, signals: [...lists].flat() }
}

function isTokenCode(code: number): boolean {
  const letter = code | 0x20
  return (letter >= 0x61 && letter <= 0x7a && code < 0x80) || code === 0x2d || code === 0x5f
}

function isWordCode(code: number): boolean {
  return isTokenCode(code) || (code >= 0x30 && code <= 0x39) || code >= 0x80
}

/** ASCII alone: an octet above 0x7f is a piece of a character and has no case. */
function lower(octets: string): string {
  return octets.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}
