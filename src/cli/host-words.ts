/** A host in words: what it waits for, how it has been answering, and with whom it shares its pace. */
import { formatDuration } from '../base/index.ts'
import { crawlDelayInForce, type Settings } from '../config/index.ts'
import type { HostView } from '../frontier/index.ts'
import type { HostRegistry } from '../politeness/index.ts'
import { registrableDomain } from '../url/index.ts'
import { countOf } from './count-words.ts'
import { timestamp, whenWords } from './report-lines.ts'

export interface HostWait {
  /** Clock ms; in the past for a host that is due. */
  readonly at: number
  readonly reason: string
}

/** What hosts are judged by. */
export interface HostRules {
  readonly settings: Settings
  readonly registry: HostRegistry
}

/** What a host with work waits for; undefined for one without. */
export function waitOf(host: HostView, rules: HostRules, now: number): HostWait | undefined {
  if (host.due === null) return undefined
  return { at: host.due, reason: waitReason(host, host.due, rules, now) }
}

function waitReason(host: HostView, due: number, rules: HostRules, now: number): string {
  if (due <= now) return 'due'
  if (host.blockedUntil > now) return `left alone: ${host.blockedReason ?? 'blocked'}`
  if (host.lanes.some((lane) => lane.robotsNotBefore > now)) return 'robots.txt could not be had yet'
  const pace = paceOf(host, rules)
  const groups = groupsOf(host, rules.settings)
  // Later than its own pace asks for, it waits for others.
  const isGrouped = groups.length > 0 && (host.answeredAt === null || due > host.answeredAt + pace.delayMs)
  return isGrouped ? `the pace of ${groups.map(groupWords).join(' and ')}` : pace.reason
}

/** The delay in force, and what makes it that long. */
function paceOf(host: HostView, { settings, registry }: HostRules): { delayMs: number; reason: string } {
  const { delayMs } = registry.policyOf(host.key)
  const askedMs = crawlDelayOf(host, settings)
  const latencyMs =
    delayMs === 0 ? 0 : Math.min(settings.latencyFactor * host.health.latencyMs, settings.latencyMaxDelayMs)
  const longest = Math.max(delayMs, askedMs, latencyMs)
  if (longest === delayMs) return { delayMs, reason: `delay ${delayMs / 1000}s` }
  if (longest === askedMs) return { delayMs: askedMs, reason: `Crawl-delay ${askedMs / 1000}s` }
  return { delayMs: latencyMs, reason: `delay ${formatDuration(latencyMs)}, since its answers are slow` }
}

/** The longest that the robots.txt files of its origins ask for, as far as it is obeyed; 0 for none. */
function crawlDelayOf(host: HostView, settings: Settings): number {
  return Math.max(0, ...host.lanes.map((lane) => crawlDelayInForce(lane.robots?.crawlDelayMs ?? 0, settings)))
}

/** What it shares its pace with, beside being itself. */
export interface HostGroup {
  readonly kind: 'domain' | 'address'
  readonly name: string
  readonly delayMs: number
}

export function groupsOf(host: Pick<HostView, 'key' | 'address'>, settings: Settings): HostGroup[] {
  const groups: HostGroup[] = []
  const { perDomainDelayMs, perIpDelayMs } = settings
  if (perDomainDelayMs > 0) {
    groups.push({ kind: 'domain', name: registrableDomain(host.key), delayMs: perDomainDelayMs })
  }
  if (perIpDelayMs > 0 && host.address !== null) {
    groups.push({ kind: 'address', name: host.address, delayMs: perIpDelayMs })
  }
  return groups
}

const groupWords = ({ kind, name }: HostGroup): string => `the ${kind} ${name}`

/** How a host has been answering, a line for each thing to say. */
export function healthLines(host: HostView, settings: Settings, now: number): string[] {
  const { health, closestMs } = host
  const lines = [`${host.key}: ${answerWords(host, now)}`]
  if (host.blockedUntil > now) {
    const until = `until ${timestamp(host.blockedUntil)}, ${whenWords(host.blockedUntil, now)}`
    lines.push(`left alone ${until}: ${host.blockedReason ?? 'blocked'}`)
  }
  if (health.strikes > 0) lines.push(`${countOf(health.strikes, 'pause')} not forgiven yet: the next is longer for it`)
  for (const group of groupsOf(host, settings)) {
    lines.push(`shares the pace of ${groupWords(group)}: one request at a time, ${formatDuration(group.delayMs)} apart`)
  }
  if (closestMs !== null) lines.push(`closest request: ${spareWords(closestMs)}`)
  return lines
}

function answerWords({ health }: HostView, now: number): string {
  const { streak, streakSince, latencyMs } = health
  if (streak === 0) return 'never asked'
  const since = `since ${timestamp(streakSince)}, ${whenWords(streakSince, now)}`
  if (streak < 0) return `${troubleWords(-streak)} ${since}`
  return `answers well ${since}, ${formatDuration(latencyMs)} to the first byte`
}

/** Each pause counts once, however many requests were under way. */
export function troubleWords(times: number): string {
  return `refused or failed its last ${times === 1 ? 'request' : countOf(times, 'request')}`
}

/** `12 ms later than required`, to the tenth and rounded for the worse: what falls short is never rounded to nothing. */
export function spareWords(ms: number): string {
  const tenths = ms < 0 ? Math.ceil(-ms * 10) / 10 : Math.floor(ms * 10) / 10
  const amount = tenths < 10_000 ? `${tenths} ms` : formatDuration(tenths)
  return ms < 0 ? `${amount} too early` : `${amount} later than required`
}
