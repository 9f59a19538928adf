/**
 * What this process knows of hosts: the policy of each by configuration, and the robots.txt rules of each origin,
 * parsed. It is a bounded cache in front of where hosts are kept (the frontier); whatever it drops is read again, so
 * nothing is preloaded and nothing is forgotten.
 */
import { createLru } from '../base/index.ts'
import type {
  ContentSignals,
  HostKey,
  HostPolicy,
  HostRecord,
  NormalizedUrl,
  Origin,
  RobotsRecord,
  SkipReason,
} from '../model/index.ts'
import { parseRobots, type Robots } from '../robots/index.ts'
import { compilePattern, hostKey, originOf } from '../url/index.ts'

/** Hosts whose policy, and origins whose parsed rules, are kept at hand. */
const POLICIES_KEPT = 50_000
const ORIGINS_KEPT = 5_000
/** Text of robots.txt files behind the parsed rules that are kept, in all. */
const ROBOTS_TEXT_KEPT = 32 * 1024 * 1024

export interface HostRegistryOptions {
  readonly defaultPolicy: HostPolicy
  /** Overrides by host or URL pattern; the first that matches wins. */
  readonly sites?: readonly { readonly match: string; readonly delayMs?: number; readonly concurrency?: number }[]
  /** The name by which robots.txt files know us. */
  readonly productToken: string
  /** Where hosts are kept. */
  readonly load: (host: HostKey) => Promise<HostRecord | undefined>
  /** Told of every record that is read from there. */
  readonly onRecord?: (record: RobotsRecord) => void
}

/** Whether a URL may be asked for, and what decided. */
export type RobotsVerdict =
  | {
      readonly allowed: true
      readonly detail: string
      /** What the page may be used for, where robots.txt says it. */
      readonly signals?: ContentSignals
    }
  | { readonly allowed: false; readonly reason: SkipReason; readonly detail: string }

export interface HostRegistry {
  /** The pace of a host by configuration; robots.txt can only slow it down. */
  policyOf(host: HostKey): HostPolicy
  /**
   * The verdict of the URL's origin. Undefined when its robots.txt is not known: nothing may be asked then. With the
   * version that is in force by the lease, rules at hand that have another are read again first; null asks for none. A
   * promise only where something has to be read.
   */
  verdict(
    url: NormalizedUrl,
    robotsVersion?: string | null,
  ): RobotsVerdict | undefined | Promise<RobotsVerdict | undefined>
  /** What the origin's robots.txt came to, as it is kept for everyone; undefined when it was never known. */
  recordOf(origin: Origin): Promise<RobotsRecord | undefined>
  /** Takes in a record that was just fetched, before it is stored for everyone. */
  learn(record: RobotsRecord): void
}

interface Known {
  readonly record: RobotsRecord
  readonly rules: Robots | undefined
}

export function createHostRegistry(options: HostRegistryOptions): HostRegistry {
  const sites = (options.sites ?? []).map((site) => ({ ...site, pattern: compilePattern(site.match) }))
  const policies = createLru<HostKey, HostPolicy>(POLICIES_KEPT)
  let textKept = 0
  const origins = createLru<Origin, Known>(ORIGINS_KEPT, (_, known) => {
    textKept -= known.record.body.length
  })

  const learn = (record: RobotsRecord): Known => {
    const rules = record.state === 'rules' ? parseRobots(record.body) : undefined
    const known = { record, rules }
    const before = origins.get(record.origin)
    if (before !== undefined) {
      textKept -= before.record.body.length
      origins.delete(record.origin)
    }
    while (origins.size > 0 && textKept + record.body.length > ROBOTS_TEXT_KEPT) origins.dropOldest()
    textKept += record.body.length
    origins.set(record.origin, known)
    return known
  }

  const load = async (origin: Origin): Promise<Known | undefined> => {
    const host = await options.load(hostKey(`${origin}/` as NormalizedUrl))
    const record = host?.robots.find((candidate) => candidate.origin === origin)
    // What was just learnt may not be stored yet, and then it is the store that is behind.
    const newest = origins.get(origin)
    if (record === undefined || (newest !== undefined && newest.record.fetchedAt > record.fetchedAt)) return newest
    options.onRecord?.(record)
    return learn(record)
  }

  const judge = (url: NormalizedUrl, { record, rules }: Known): RobotsVerdict => {
    if (record.refusal !== null) return { allowed: false, reason: record.refusal, detail: record.detail }
    if (rules === undefined) return { allowed: true, detail: record.detail }
    const { allowed, line, rule } = rules.check(options.productToken, url)
    const deciding = line === null ? 'no rule of robots.txt applies' : `robots.txt line ${line}: ${rule}`
    const detail = `${deciding} (version ${record.version})`
    if (!allowed) return { allowed, reason: 'robots', detail }
    const signals = rules.contentSignals(options.productToken, url)
    return signals === undefined ? { allowed, detail } : { allowed, detail, signals }
  }

  return {
    policyOf(host) {
      const known = policies.get(host)
      if (known !== undefined) return known
      const site = sites.find(({ pattern }) => pattern.matches(`https://${host}/` as NormalizedUrl))
      const policy = {
        delayMs: site?.delayMs ?? options.defaultPolicy.delayMs,
        concurrency: site?.concurrency ?? options.defaultPolicy.concurrency,
      }
      policies.set(host, policy)
      return policy
    },
    verdict(url, robotsVersion) {
      const origin = originOf(url)
      const known = origins.get(origin)
      if (known !== undefined && (robotsVersion ?? known.record.version) === known.record.version) {
        return judge(url, known)
      }
      return load(origin).then((loaded) => (loaded === undefined ? undefined : judge(url, loaded)))
    },
    async recordOf(origin) {
      // What is at hand may be older than what another worker has stored, or may never have been accepted.
      const host = await options.load(hostKey(`${origin}/` as NormalizedUrl))
      return host?.robots.find((record) => record.origin === origin)
    },
    learn: (record) => void learn(record),
  }
}
