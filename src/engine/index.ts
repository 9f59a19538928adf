/** The crawler: the pipeline of one page, the worker loop, and a crawl put together. */
export { openCrawl, type Crawl, type CrawlOptions } from './crawl.ts'
export type { EndReason } from './engine.ts'
export type { TaskContext, TaskResult } from './context.ts'
export { runPageTask } from './page-task.ts'
export { runRobotsTask } from './robots-task.ts'
