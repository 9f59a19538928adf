/**
 * One thread that reads documents, seen from outside. It is given a few at a time and answers in order. It ends for
 * good when a document takes too long, needs too much memory or makes it fail; then the document it was at is told so,
 * and those behind it, which it has not touched, are handed back.
 *
 * Its memory is looked at from here, beat by beat, inside and outside of the heap. V8 has a bound of its own for the heap:
 * bit by bit beyond it, a thread is ended in order, but one piece beyond it ends the process. So that bound stands above
 * ours by as much as one piece can have, and is met only by what fills the memory between two looks.
 */
import { Worker } from 'node:worker_threads'
import type { Clock } from '../base/index.ts'
import { TiptoeError } from '../model/index.ts'
import type { DocumentInput, DocumentReading, ReadResult } from './document.ts'
import { wordsOf } from './words.ts'

/**
 * The deadline is counted in beats. A process that was stopped or a machine that slept spends one beat on that,
 * however long it took, and the answer that lies ready is heard before the next.
 */
const BEAT_MS = 50
/** The longest string and the longest array that V8 makes take 1 GB each. */
const ONE_PIECE_MB = 1_536
/** For short-lived objects, beside the bound: more makes reading no faster. */
const YOUNG_MB = 32
/** A thread that has not loaded its modules after this time never will. */
const START_MS = 60_000

export interface Job {
  readonly input: DocumentInput
  /** What became of it; only the first call counts. */
  settle(result: ReadResult<DocumentReading>): void
  /** There are no threads. */
  fail(error: TiptoeError): void
}

export interface ReadingThread {
  /** Documents that it was given and has not answered. */
  readonly documents: number
  give(job: Job): void
  /** Takes all documents away from it: none is answered any more. */
  take(): Job[]
  /** Resolves when the thread is gone. */
  end(): Promise<void>
}

export interface ReadingThreadOptions {
  readonly deadlineMs: number
  readonly memoryMb: number
  /** Has a function `readDocument`. */
  readonly module?: URL
}

interface Listener {
  readonly clock: Clock
  /** A document was answered, and there is room for another. */
  onRead(): void
  /** The thread is no longer of use; these documents were not touched. Called once. */
  onBroken(unread: Job[]): void
}

export function createReadingThread(options: ReadingThreadOptions, listener: Listener): ReadingThread {
  const { deadlineMs, memoryMb } = options
  const { clock } = listener
  const jobs: Job[] = []
  let isReady = false
  let isOver = false
  let stopWatching = (): void => {}
  /** Why the thread is about to end by itself, and whom that is to be laid to if not to the one that it is at. */
  let fault: { readonly detail: string; readonly suspect?: Job } | undefined

  /** The thread is of no more use, for the sake of the document that it is at. */
  const breakOff = (detail: string, suspect: Job | undefined = jobs[0]): void => {
    if (isOver) return
    isOver = true
    stopWatching()
    const unread = jobs.splice(0)
    // A suspect that was answered in the meantime is cleared, and nobody is blamed in its place.
    if (unread[0] !== undefined && unread[0] === suspect) unread.shift()?.settle({ kind: 'broke', detail })
    listener.onBroken(unread)
  }
  const failToStart = (why: string): void => {
    if (isOver) return
    isOver = true
    stopWatching()
    const error = new TiptoeError('threads', `no thread can be started to read pages: ${why}`, {
      hint: 'see to it that the machine has memory and threads to spare, or read without them: --threads 0',
    })
    for (const job of jobs.splice(0)) job.fail(error)
    listener.onBroken([])
  }
  const tooMuchMemory = `reading it takes more than the ${memoryMb} MB that it may have`

  let worker: Worker | undefined
  try {
    worker = startWorker(options)
  } catch (error) {
    // Told like any later failure, once the thread has a document.
    queueMicrotask(() => failToStart(wordsOf(error)))
  }

  /** Watches the first document from now on. */
  const watch = (): void => {
    stopWatching()
    stopWatching = () => {}
    const [job] = jobs
    if (job === undefined || isOver) return
    let beats = Math.ceil(deadlineMs / BEAT_MS)
    /** A thread inside of native code answers when it is out of it. */
    let isAsked = false
    const look = (): void => {
      beats -= 1
      if (beats <= 0) return breakOff(`reading it takes longer than ${deadlineMs / 1_000} s`)
      stopWatching = clock.timer(BEAT_MS, look)
      if (isAsked) return
      isAsked = true
      worker?.getHeapStatistics().then(
        ({ used_heap_size: heap, external_memory: outside }) => {
          isAsked = false
          if (isOver || jobs[0] !== job || heap + outside <= memoryMb * 1024 ** 2) return
          fault ??= { detail: tooMuchMemory, suspect: job }
          void worker?.terminate()
        },
        // It has ended by itself, and says why.
        () => {},
      )
    }
    stopWatching = clock.timer(BEAT_MS, look)
  }
  if (worker !== undefined) stopWatching = clock.timer(START_MS, () => failToStart('it does not get ready'))

  worker?.on('message', (message: DocumentReading | 'ready') => {
    if (isOver) return
    if (message === 'ready') isReady = true
    else jobs.shift()?.settle({ kind: 'read', reading: message })
    watch()
    listener.onRead()
  })
  worker?.on('error', (error: Error & { readonly code?: string }) => {
    fault ??= { detail: error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooMuchMemory : wordsOf(error) }
  })
  worker?.on('messageerror', (error) => breakOff(wordsOf(error)))
  // An error may be heard before answers that were given earlier. At the exit all of them have been.
  worker?.on('exit', () => {
    if (isReady) breakOff(fault?.detail ?? 'the thread that read it ended', fault?.suspect)
    else failToStart(fault?.detail ?? 'it ended')
  })

  return {
    get documents() {
      return jobs.length
    },
    give(job) {
      jobs.push(job)
      if (worker === undefined) return
      // One copy, made here: the caller's bytes are neither shared nor taken away.
      const body = new Uint8Array(job.input.body)
      worker.postMessage({ ...job.input, body }, [body.buffer])
      if (jobs.length === 1 && isReady) watch()
    },
    take() {
      isOver = true
      stopWatching()
      return jobs.splice(0)
    },
    async end() {
      isOver = true
      stopWatching()
      await worker?.terminate()
    },
  }
}

function startWorker({ memoryMb, module }: ReadingThreadOptions): Worker {
  // Sources run as they stand, and so does what was built of them: the program has the ending of this file.
  const beside = (name: string): URL => new URL(`./${name}${import.meta.url.slice(-3)}`, import.meta.url)
  const worker = new Worker(beside('thread'), {
    name: 'reading',
    workerData: { module: (module ?? beside('read-document')).href },
    resourceLimits: { maxOldGenerationSizeMb: memoryMb + ONE_PIECE_MB, maxYoungGenerationSizeMb: YOUNG_MB },
    // Nothing that is meant for the program as a whole: no preloaded modules, no secrets, no terminal.
    execArgv: ['--disable-warning=ExperimentalWarning'],
    env: {},
    stdin: false,
    stdout: true,
    stderr: true,
  })
  worker.stdout.resume()
  worker.stderr.resume()
  // While it reads, its deadline keeps the process alive; idle, it should not.
  worker.unref()
  return worker
}
