/**
 * One task of a lease, run: a page, a sitemap or a robots.txt, each by its own file, with what goes over the wire kept
 * where that is archived. Whatever a page makes our code do costs that page, never the crawl.
 */
import type { Fetcher } from '../../fetch/index.ts'
import type { Lease } from '../../frontier/index.ts'
import { TiptoeError, type Task } from '../../model/index.ts'
import { createArchivingFetcher } from './archiving.ts'
import type { TaskContext, TaskResult } from './context.ts'
import { runPageTask } from './page-task.ts'
import { failed } from './records.ts'
import { refuseOrigin, runRobotsTask } from './robots-task.ts'
import { runSitemapTask } from './sitemap-task.ts'

const RUN = { page: runPageTask, sitemap: runSitemapTask, robots: runRobotsTask } as const

/** What is the same for all tasks of a crawl. */
export type TaskTools = Omit<TaskContext, 'lease' | 'signal' | 'connection' | 'addEarly'>

/** Rejects only when the store, the output or the machine gives out. */
export type TaskRunner = (task: Task, lease: Lease, fetcher: Fetcher, signal: AbortSignal) => Promise<TaskResult>

export function createTaskRunner(
  tools: TaskTools,
  deps: Pick<TaskContext, 'connection' | 'addEarly'> & { readonly isArchiving: boolean },
): TaskRunner {
  const { connection, addEarly } = deps
  return async (task, lease, fetcher, signal) => {
    const archiving = deps.isArchiving ? createArchivingFetcher(fetcher) : undefined
    const context: TaskContext = { ...tools, fetcher: archiving ?? fetcher, lease, signal, connection, addEarly }
    try {
      const result = await RUN[task.kind](task, context)
      return archiving === undefined ? result : archiving.archived(task, result)
    } catch (error) {
      if (error instanceof TiptoeError) throw error
      const detail = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
      const answeredAt = tools.clock.now()
      if (task.kind === 'robots') return { ...refuseOrigin(task, detail, context), answeredAt }
      return { ...failed(task, { code: 'parse', detail }, context), answeredAt }
    }
  }
}
