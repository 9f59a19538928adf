/**
 * One thread of a crew, seen from the thread of the frontier: how it is started, talked to and ended. It is lost when it
 * ends without having said so, or hangs in a document; then whoever gave it work is told, with the document that it was
 * at, and has to see to what it leaves behind.
 */
import { getCompileCacheDir } from 'node:module'
import { Worker } from 'node:worker_threads'
import type { Clock } from '../../base/index.ts'
import { LIMITS, TiptoeError } from '../../model/index.ts'
import { openLine, type Handlers, type Line } from './line.ts'
import type { ThreadData } from './thread-data.ts'
import { createThreadState } from './thread-state.ts'

/** How often it is looked whether the thread hangs. A process that was stopped spends one look on that. */
const LOOK_MS = 500
const DEADLINE_MS = LIMITS['read-page-time'].value
/** Memory for a thread's heap: that of the largest page, which is read elsewhere, would do for all small ones at once. */
const MEMORY_MB = LIMITS['read-page-memory'].value / 1024 ** 2
/** For short-lived objects: pages and their links live for some milliseconds, and with less many are kept for longer. */
const YOUNG_MB = 48

export interface MemberEvents {
  /** It works. */
  onReady(): void
  /** It is gone; `url` is the document that it was reading, if it was. */
  onLost(loss: { readonly detail: string; readonly url: string | undefined }): void
}

export interface Member {
  readonly line: Line
  readonly inFlight: number
  /** The part of its time that its event loop was busy, since this was asked last; 0 to 1. */
  busyShare(): number
  /** It has said that it is over: its end is none to be told of. */
  farewell(): void
  /** Resolves when it is gone. */
  end(): Promise<void>
}

/** For tests: another program, and less patience with it. */
export interface MemberTrial {
  readonly program?: URL
  readonly deadlineMs?: number
}

export function startMember(
  data: Omit<ThreadData, 'state' | 'compileCache'>,
  handlers: Handlers,
  events: MemberEvents,
  { clock, deadlineMs = DEADLINE_MS, program }: MemberTrial & { readonly clock: Clock },
): Member {
  const state = createThreadState()
  const compileCache = getCompileCacheDir()
  const worker = startWorker(
    { ...data, state: state.memory, ...(compileCache === undefined ? {} : { compileCache }) },
    program,
  )
  let isOver = false
  let fault: string | undefined
  let cancelLook = (): void => {}

  const lose = (detail: string): void => {
    if (isOver) return
    isOver = true
    cancelLook()
    line.cut(new Error(detail))
    events.onLost({ detail, url: state.readingSince === 0 ? undefined : state.readingUrl })
  }
  const line = openLine(worker, {
    ...handlers,
    ready() {
      if (!isOver) look(0, 0)
      events.onReady()
    },
  })
  /** The same document for so many looks: then the thread hangs in it. */
  const look = (since: number, looks: number): void => {
    cancelLook = clock.timer(LOOK_MS, () => {
      const now = state.readingSince
      if (now !== 0 && now === since && (looks + 1) * LOOK_MS >= deadlineMs) {
        fault ??= `reading it takes longer than ${deadlineMs / 1_000} s`
        void worker.terminate()
        return
      }
      look(now, now === since ? looks + 1 : 0)
    })
  }
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
    farewell() {
      isOver = true
      cancelLook()
    },
    async end() {
      isOver = true
      cancelLook()
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
