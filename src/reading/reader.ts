/**
 * The door to reading: documents in, what they say out, each within a deadline and a bound on memory. What a document
 * does to the thread that reads it costs that document alone: the thread is ended and replaced, and whatever else it
 * had been given is read by another.
 *
 * At most so many documents are with a thread as keep it busy, the others wait here, first come, first served. When a
 * broken one is tried again is left to the caller.
 */
import type { Clock } from '../base/index.ts'
import { LIMITS } from '../model/index.ts'
import type { DocumentInput, ReadingOf, ReadResult } from './document.ts'
import { createInlineReader } from './inline-reader.ts'
import { createReadingThread, type Job, type ReadingThread } from './reading-thread.ts'

/** Time for one document. Ten megabytes of the worst markup take one or two seconds. */
const DEADLINE_MS = LIMITS['read-page-time'].value
/** Memory for one thread's heap. With half of it ten megabytes of prose do not always get through. */
const MEMORY_MB = LIMITS['read-page-memory'].value / 1024 ** 2
/** Documents with one thread, so that it has the next one at hand while its last answer is on the way; unless told. */
const AHEAD = 2
/** More documents than this never wait: a crawl has fewer requests under way. */
const MOST_WAITING = 8_192

/**
 * What a thread was given and has not read yet. `short`: it may have nothing to do in a moment. `fair`: it has enough.
 * `long`: more would only take memory.
 */
export type Backlog = 'short' | 'fair' | 'long'

export interface Reader {
  /** Rejects when there are no threads to be had. The body stays as it is. */
  read<Input extends DocumentInput>(input: Input, signal?: AbortSignal): Promise<ReadResult<ReadingOf<Input>>>
  /** Undefined where documents are read by whoever hands them in. */
  readonly backlog?: Backlog | undefined
  /** Ends the threads; what is being read comes to `aborted`. */
  close(): Promise<void>
}

export interface ReaderOptions {
  /** 0: documents are read where they are handed in, without bounds on time and memory. */
  readonly threads: number
  readonly deadlineMs?: number
  readonly memoryMb?: number
  /** Documents with one thread at once: those behind the first wait for it in its memory. */
  readonly ahead?: number
  /** The module whose `readDocument` the threads run; the one of this module unless told. */
  readonly module?: URL
}

export function createReader(options: ReaderOptions, { clock }: { readonly clock: Clock }): Reader {
  if (options.threads === 0) return createInlineReader()
  const { deadlineMs = DEADLINE_MS, memoryMb = MEMORY_MB, ahead = AHEAD, module } = options
  const threads = new Set<ReadingThread>()
  /** Threads that are on their way out. */
  const ending = new Set<Promise<void>>()
  const waiting: Job[] = []
  let isClosed = false

  const retire = (thread: ReadingThread): void => {
    threads.delete(thread)
    const ended = thread.end().finally(() => ending.delete(ended))
    ending.add(ended)
  }
  const start = (): ReadingThread => {
    const thread = createReadingThread(
      { deadlineMs, memoryMb, ...(module === undefined ? {} : { module }) },
      {
        clock,
        onRead: handOut,
        onBroken(unread) {
          waiting.unshift(...unread)
          retire(thread)
          handOut()
        },
      },
    )
    threads.add(thread)
    return thread
  }
  /** The thread for the next document: an idle one, a new one, or one that can take another. */
  const nextThread = (): ReadingThread | undefined => {
    let best: ReadingThread | undefined
    for (const thread of threads) if (best === undefined || thread.documents < best.documents) best = thread
    if (best?.documents === 0) return best
    if (threads.size < options.threads) return start()
    return best !== undefined && best.documents < ahead ? best : undefined
  }
  const handOut = (): void => {
    while (waiting.length > 0) {
      const thread = nextThread()
      if (thread === undefined) return
      thread.give(waiting.shift() as Job)
    }
  }

  return {
    read<Input extends DocumentInput>(input: Input, signal?: AbortSignal) {
      return new Promise<ReadResult<ReadingOf<Input>>>((resolve, reject) => {
        if (isClosed || signal?.aborted === true) return resolve({ kind: 'aborted' })
        if (waiting.length >= MOST_WAITING) return reject(new Error(`more than ${MOST_WAITING} documents wait`))
        const onAbort = (): void => {
          const place = waiting.indexOf(job)
          if (place !== -1) waiting.splice(place, 1)
          job.settle({ kind: 'aborted' })
        }
        const over = (): void => signal?.removeEventListener('abort', onAbort)
        const job: Job = {
          input,
          settle(result) {
            over()
            resolve(result as ReadResult<ReadingOf<Input>>)
          },
          fail(error) {
            over()
            reject(error)
          },
        }
        signal?.addEventListener('abort', onAbort, { once: true })
        waiting.push(job)
        handOut()
      })
    },
    async close() {
      isClosed = true
      for (const job of waiting.splice(0)) job.settle({ kind: 'aborted' })
      for (const thread of threads) {
        for (const job of thread.take()) job.settle({ kind: 'aborted' })
        retire(thread)
      }
      await Promise.all(ending)
    },
  }
}
