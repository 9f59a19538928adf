/** The crawler: the pipeline of one page, the worker loop, and a crawl put together. */
export { openCrawl, seedFound, type Crawl, type CrawlOptions, type FleetSeat, type StoreTrouble } from './crawl.ts'
export { createAdmission } from './tasks/admission.ts'
export { createCoordinator, type Coordinator, type CoordinatorStatus } from './fleet/coordinator.ts'
export type { EndReason } from './engine.ts'
export type { TaskContext, TaskResult } from './tasks/context.ts'
export { runPageTask } from './tasks/page-task.ts'
export { runRobotsTask } from './tasks/robots-task.ts'
export {
  claimWorkerFolder,
  clearCrawlFolder,
  prepareCrawlFolder,
  readCrawlFolder,
  requireCrawlFolder,
  stateFolder,
  writeStats,
  writeWorkerCrawl,
  type CrawlIdentity,
  type StoredCrawl,
  type WorkerSeat,
} from './crawl-folder.ts'
export { createFetcherOf } from './fetcher.ts'
export { agreedConfiguration, type Agreement } from './fleet/fleet-configuration.ts'
export { connectFleet, openFleet, type ConnectFleet, type FleetLogin } from './fleet/fleet-store.ts'
export { frontierOptionsOf } from './frontier-options.ts'
export { productTokenOf } from './product-token.ts'
export { readSeed, readSeedFile } from './seeds.ts'
export { createTierRules, randomSeed } from './workshop.ts'
export { totalsOf, type CrawlTotals } from './totals.ts'
