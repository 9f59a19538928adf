/**
 * One task of a lease, run: a page, a sitemap or a robots.txt, each by its own file, with what goes over the wire kept
 * where that is archived. Whatever a page makes our code do costs that page, never the crawl.
 */
import type { Fetcher } from '../../fetch/index.ts'
import type { Lease } from '../../frontier/index.ts'
import { TiptoeError, type Task } from '../../model/index.ts'
import { createArchivingFetcher } from './archiving.ts'
import type { Heard, TaskContext, TaskResult } from './context.ts'
import { runPageTask } from './page-task.ts'
import { failed } from './records.ts'
import { refuseOrigin, runRobotsTask } from './robots-task.ts'
import { runSitemapTask } from './sitemap-task.ts'

const RUN = { page: runPageTask, sitemap: runSitemapTask, robots: runRobotsTask } as const

/** What is the same for all tasks of a crawl. */
export type TaskTools = Omit<TaskContext, 'lease' | 'signal' | 'onHeard' | 'connection' | 'addEarly'>

/** One is made for every task: a class, since copies of an object with a getter are made property by property, slowly. */
class Workplace implements TaskContext {
  readonly settings: TaskContext['settings']
  readonly clock: TaskContext['clock']
  readonly rng: TaskContext['rng']
  readonly reader: TaskContext['reader']
  readonly registry: TaskContext['registry']
  readonly repetitions: TaskContext['repetitions']
  readonly productToken: TaskContext['productToken']
  readonly admission: TaskContext['admission']
  readonly wantsSample: TaskContext['wantsSample']
  readonly tierOf: TaskContext['tierOf']
  readonly strip: TaskContext['strip']
  readonly isOurs: TaskContext['isOurs']
  readonly connection: TaskContext['connection']
  readonly addEarly: TaskContext['addEarly']
  readonly fetcher: Fetcher
  readonly lease: Lease
  readonly signal: AbortSignal
  readonly onHeard: NonNullable<TaskContext['onHeard']>
  readonly #tools: TaskTools

  constructor(
    tools: TaskTools,
    deps: TaskRunnerDeps,
    fetcher: Fetcher,
    lease: Lease,
    signal: AbortSignal,
    onHeard: NonNullable<TaskContext['onHeard']>,
  ) {
    this.settings = tools.settings
    this.clock = tools.clock
    this.rng = tools.rng
    this.reader = tools.reader
    this.registry = tools.registry
    this.repetitions = tools.repetitions
    this.productToken = tools.productToken
    this.admission = tools.admission
    this.wantsSample = tools.wantsSample
    this.tierOf = tools.tierOf
    this.strip = tools.strip
    this.isOurs = tools.isOurs
    this.connection = deps.connection
    this.addEarly = deps.addEarly
    this.fetcher = fetcher
    this.lease = lease
    this.signal = signal
    this.onHeard = onHeard
    this.#tools = tools
  }

  /** It may grow while a task is run. */
  get scope(): TaskContext['scope'] {
    return this.#tools.scope
  }
}

export interface TaskRunnerDeps extends Pick<TaskContext, 'connection' | 'addEarly'> {
  readonly isArchiving: boolean
}

/** Rejects only when the store, the output or the machine gives out. */
export type TaskRunner = (
  task: Task,
  lease: Lease,
  fetcher: Fetcher,
  signal: AbortSignal,
  onHeard: (heard: Heard) => void,
) => Promise<TaskResult>

export function createTaskRunner(tools: TaskTools, deps: TaskRunnerDeps): TaskRunner {
  return async (task, lease, fetcher, signal, onHeard) => {
    const archiving = deps.isArchiving ? createArchivingFetcher(fetcher) : undefined
    const context = new Workplace(tools, deps, archiving ?? fetcher, lease, signal, onHeard)
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
