/** The webs that tests crawl, and the questions they ask of the servers' logs. */
export {
  createLoopbackWeb,
  type Answer,
  type HostBehaviour,
  type LogEntry,
  type LoopbackWeb,
  type LoopbackWebOptions,
  type WebRequest,
} from '../../src/cli/demo/loopback-web.ts'
export { maxInFlight, robotsFirstAndOnce, smallestGapMs } from './web-log.ts'
export { generatedSite, type GeneratedSiteOptions } from './generated-site.ts'
