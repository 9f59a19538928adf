/** The crawler: the pipeline of one page, the worker loop, and a crawl put together. */
export { openCrawl, type Crawl, type CrawlOptions } from './crawl.ts'
export type { EndReason } from './engine.ts'
export type { TaskContext, TaskResult } from './context.ts'
export { runPageTask } from './page-task.ts'
export { runRobotsTask } from './robots-task.ts'
export {
  clearCrawlFolder,
  prepareCrawlFolder,
  readCrawlFolder,
  requireCrawlFolder,
  stateFolder,
  writeStats,
  type CrawlIdentity,
  type StoredCrawl,
} from './crawl-folder.ts'
export { createFetcherOf } from './fetcher.ts'
export { productTokenOf } from './product-token.ts'
export { readSeed, readSeedFile } from './seeds.ts'
export { totalsOf, type CrawlTotals } from './totals.ts'
