/**
 * One thread of a crew, seen from the thread of the frontier: how it is started, talked to and ended. It is lost when it
 * ends without having said so; then whoever gave it work is told, with the page that it was reading, and has to see to
 * what it leaves behind.
 */
import { getCompileCacheDir } from 'node:module'
import { Worker } from 'node:worker_threads'
import { LIMITS, TiptoeError } from '../../model/index.ts'
import { openLine, type Handlers, type Line } from './line.ts'
import type { ThreadData } from './thread-data.ts'
import { createThreadState } from './thread-state.ts'

/** Memory for a thread's heap: that of the largest page, which is read elsewhere, would do for all small ones at once. */
const MEMORY_MB = LIMITS['read-page-memory'].value / 1024 ** 2
/** For short-lived objects: pages and their links live for some milliseconds, and with less many are kept for longer. */
const YOUNG_MB = 48

/** How a thread was lost. */
export interface Loss {
  readonly detail: string
  /** The page that it was reading; empty for none. */
  readonly url: string
}

export interface MemberEvents {
  /** It works. */
  onReady(): void
  /** It is gone. */
  onLost(loss: Loss): void
}

export interface Member {
  readonly line: Line
  readonly inFlight: number
  /** The part of its time that its event loop was busy, since this was asked last; 0 to 1. */
  busyShare(): number
  /** It has said that it is over, and its end is none to be told of. Resolves when it is gone. */
  end(): Promise<void>
}

export function startMember(
  data: Omit<ThreadData, 'state' | 'compileCache'>,
  handlers: Handlers,
  events: MemberEvents,
  /** For tests: another program. */
  program?: URL,
): Member {
  const state = createThreadState()
  const compileCache = getCompileCacheDir()
  const worker = startWorker(
    { ...data, state: state.memory, ...(compileCache === undefined ? {} : { compileCache }) },
    program,
  )
  let isOver = false
  let fault: string | undefined

  const lose = (detail: string): void => {
    if (isOver) return
    isOver = true
    line.cut(new Error(detail))
    events.onLost({ detail, url: state.readingUrl })
  }
  const line = openLine(worker, {
    ...handlers,
    ready: () => events.onReady(),
  })
  worker.on('error', (error: Error & { readonly code?: string }) => {
    const isMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY'
    fault ??= isMemory
      ? `it takes more than the ${MEMORY_MB} MB that a thread may have`
      : `${error.name}: ${error.message}`
  })
  worker.on('exit', () => lose(fault ?? 'the thread ended'))

  const utilization = (): ReturnType<typeof worker.performance.eventLoopUtilization> =>
    worker.performance.eventLoopUtilization()
  let before = utilization()
  return {
    line,
    get inFlight() {
      return isOver ? 0 : state.inFlight
    },
    busyShare() {
      const now = utilization()
      const share = worker.performance.eventLoopUtilization(now, before).utilization
      before = now
      return share
    },
    async end() {
      isOver = true
      line.cut(new Error('the thread was ended'))
      await worker.terminate()
    },
  }
}

function startWorker(data: ThreadData, program?: URL): Worker {
  try {
    // Sources run as they stand, and so does what was built of them: the program has the ending of this file.
    const worker = new Worker(program ?? new URL(`./thread${import.meta.url.slice(-3)}`, import.meta.url), {
      name: `crawl ${data.thread}`,
      workerData: data,
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB, maxYoungGenerationSizeMb: YOUNG_MB },
      // Nothing that is meant for the program as a whole: no preloaded modules, no terminal.
      execArgv: ['--disable-warning=ExperimentalWarning'],
      stdin: false,
      stdout: true,
      stderr: true,
    })
    worker.stdout.resume()
    worker.stderr.resume()
    return worker
  } catch (error) {
    throw noThread((error as Error).message)
  }
}

export function noThread(why: string): TiptoeError {
  return new TiptoeError('threads', `no thread can be started to work on the crawl: ${why}`, {
    hint: 'see to it that the machine has memory and threads to spare, or work without them: --threads 0',
  })
}
