/** Everybody who looks on while a scenario is run, and what they are told of it: the settings, and never the frontier. */
import { quotasOf, recrawlOptionsOf, scoreOptionsOf } from '../config/index.ts'
import type { RecrawlOptions, Settlement } from '../frontier/index.ts'
import { createArchiveChecker } from './archive-checker.ts'
import { createChangeChecker } from './change-checker.ts'
import { createFrontierChecker, type FrontierChecker } from './frontier-checker.ts'
import { createPaceChecker, type PaceChecker } from './pace-checker.ts'
import { createRecordsChecker, type RecordsChecker } from './records-checker.ts'
import type { Scenario } from './scenario.ts'
import type { SimDisk } from './sim-disk.ts'
import { createTrapChecker } from './trap-checker.ts'
import type { Web } from './web.ts'
import type { World } from './world.ts'

export interface Checkers {
  readonly pace: PaceChecker
  readonly records: RecordsChecker
  readonly frontier: FrontierChecker
}

export interface CheckersDeps {
  readonly world: World
  readonly web: Web
  readonly disk: SimDisk
  /** Where records are written. */
  readonly folder: string
  /** Whether and how pages are fetched again, as of now. */
  recrawlMode(): RecrawlOptions['mode']
}

export function createCheckers(scenario: Scenario, deps: CheckersDeps): Checkers {
  const { settings, home, aspect } = scenario
  const { world, web } = deps
  const hasGroups = settings.perIpDelayMs > 0 || settings.perDomainDelayMs > 0
  const changes = createChangeChecker()
  const archive = settings.formats.includes('warc') ? createArchiveChecker(deps.disk, deps.folder) : undefined
  const traps = settings.traps ? createTrapChecker() : undefined
  const paced = createPaceChecker(
    web,
    {
      policyOf: () => ({ delayMs: settings.delayMs, concurrency: settings.perHost }),
      domainDelayMs: settings.perDomainDelayMs,
      addressDelayMs: settings.perIpDelayMs,
      startsApart: home.kind === 'embedded',
      retryDelayMs: settings.retryDelayMs,
      backoffMultiplier: settings.backoffMultiplier,
      crawlDelayMs: (askedMs) => (settings.respectCrawlDelay ? Math.min(askedMs, settings.maxCrawlDelayMs) : 0),
    },
    () => world.now(),
  )
  const pace: PaceChecker = {
    ...paced,
    committed(settlement: Settlement) {
      paced.committed(settlement)
      changes.committed(settlement)
      traps?.committed(settlement)
      archive?.settled(settlement)
    },
  }
  const written = createRecordsChecker(deps.disk, deps.folder, (url) => frontier.pages.get(url))
  const records: RecordsChecker = {
    get count() {
      return written.count
    },
    committed(position) {
      written.committed(position)
      archive?.committed(position)
    },
    finish(position) {
      written.finish(position)
      archive?.finish()
    },
  }
  const hasTraps = scenario.web.hosts.some((host) => host.hasTrap)
  const isLimited = settings.maxDepth !== undefined || settings.maxPagesPerHost !== undefined
  const frontier = createFrontierChecker({
    pace,
    records,
    maxPages: settings.maxPages,
    maxPagesPerHost: settings.maxPagesPerHost,
    maxDepth: settings.maxDepth ?? Infinity,
    robotsMaxAgeMs: settings.robotsMaxAgeMs,
    ignoresRobots: settings.ignoreRobotsBecause !== undefined,
    concurrencyOf: () => settings.perHost,
    hasGroups,
    latencyDelayMs: (latencyMs) =>
      settings.delayMs === 0 ? 0 : Math.min(settings.latencyFactor * latencyMs, settings.latencyMaxDelayMs),
    recrawl: () => recrawlOptionsOf(settings, deps.recrawlMode()),
    // With a depth limit, depths change by way of links that are not looked at here; what is set aside is not queued.
    score: isLimited || hasTraps ? undefined : scoreOptionsOf(settings),
    quotas: aspect === 'tiers' ? quotasOf(settings) : undefined,
    fail: (error) => world.fail(error),
  })
  web.observers.push(pace, frontier, changes, ...(archive === undefined ? [] : [archive]))
  return { pace, records, frontier }
}
