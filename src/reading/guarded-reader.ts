/**
 * Small pages read where they are handed in, under the eye of a guard: one that takes too long is broken off, and whatever
 * it had touched is not trusted any more, so from then on all is read in threads. Large pages and sitemaps, which may be
 * packed, go to threads in any case: they could need much memory. What a small page can take is bounded by construction
 * (docs/adr/0020-threads-that-work.md). A page of middle size with few tags for it, as long articles and references are,
 * takes no more than a few small ones: where the heap has room for that it is read here too, since a thread that is
 * started for it has to learn everything anew.
 *
 * The guard is V8's: it can stop a loop, at the price of a thread for each watch. So all pages that have come in one turn
 * of the event loop are read under one watch. Of small pages only the content needs one. For their links they are scanned
 * once, by a scanner that moves on with every step: some 50 ms for the worst of them, and three times that while the code
 * is cold.
 */
import { getHeapStatistics } from 'node:v8'
import { Script } from 'node:vm'
import type { Clock } from '../base/index.ts'
import { LIMITS } from '../model/index.ts'
import {
  readsContent,
  type DocumentInput,
  type PageInput,
  type PageReading,
  type ReadingOf,
  type ReadResult,
} from './document.ts'
import { isHtml, isOfMiddleSize, MIDDLE_BYTES, SMALL_BYTES } from './page-size.ts'
import { readDocument } from './read-document.ts'
import type { Reader } from './reader.ts'
import { wordsOf } from './words.ts'

/** HTML up to this size is read here where only links are wanted; small pages are, whatever they are. */
const INLINE_BYTES_FOR_LINKS = 8 * 1024 * 1024
/**
 * Pages of middle size, in a heap that may grow so far. The worst take a second or two, real ones a fraction of that: once
 * one has taken longer than that, all others go to threads, so that no host can hold up the rest.
 */
const HEAP_FOR_MIDDLE_SIZE = 512 * 1024 ** 2
const LONGEST_OF_MIDDLE_SIZE_MS = 700
const DEADLINE_MS = LIMITS['read-page-time'].value
/** Under one watch: pages, and their bytes if there are several. More wait for the next turn. */
const MOST_TOGETHER = 64
const MOST_BYTES_TOGETHER = MIDDLE_BYTES

interface Waiting {
  readonly input: PageInput
  readonly signal: AbortSignal | undefined
  resolve(result: ReadResult<PageReading> | Promise<ReadResult<PageReading>>): void
}

/** A feed is no page: what it is read to may be large for its size. */
function isSmall(input: PageInput): boolean {
  const { body, headers } = input
  if (body.length <= SMALL_BYTES) return true
  return !readsContent(input) && body.length <= INLINE_BYTES_FOR_LINKS && isHtml(headers)
}

const needsGuard = ({ input }: Waiting): boolean => readsContent(input) || input.body.length > SMALL_BYTES

/** How many of those that wait are read under the next watch. */
function countTogether(waiting: readonly Waiting[]): number {
  let count = 0
  let bytes = 0
  for (const { input } of waiting) {
    bytes += input.body.length
    if (count === MOST_TOGETHER || (count > 0 && bytes > MOST_BYTES_TOGETHER)) break
    count++
  }
  return count
}

/** What is to be watched is called by the script, since only scripts can be. */
const CALL = Symbol.for('tiptoe.guarded')
const script = new Script(`globalThis[Symbol.for('tiptoe.guarded')]()`)

/** Returns whether it came to its end in time. */
function guarded(work: () => void, timeoutMs: number): boolean {
  const place = globalThis as { [CALL]?: () => void }
  place[CALL] = work
  try {
    script.runInThisContext({ timeout: timeoutMs })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false
    throw error
  } finally {
    delete place[CALL]
  }
}

export interface GuardOptions {
  readonly clock: Pick<Clock, 'now'>
  /** Told of each page that is about to be read here, and undefined when all were. */
  readonly onReading?: (url: string | undefined) => void
  /** For tests: another way to read, and less patience. */
  readonly read?: typeof readDocument
  readonly deadlineMs?: number
  /** How far the heap may grow; as far as V8 lets it, unless told. */
  readonly heapBytes?: number
}

/** `threads` reads what is not read here, and is closed with it. */
export function createGuardedReader(threads: Reader, options: GuardOptions): Reader {
  const { read = readDocument, deadlineMs = DEADLINE_MS, onReading, clock } = options
  const { heapBytes = getHeapStatistics().heap_size_limit } = options
  let waiting: Waiting[] = []
  let isTainted = false
  let isClosed = false
  let takesMiddleSize = heapBytes >= HEAP_FOR_MIDDLE_SIZE

  const readAll = (): void => {
    const jobs = waiting.splice(0, countTogether(waiting))
    if (waiting.length > 0) setImmediate(readAll)
    let at = 0
    const readJobs = (): void => {
      for (; at < jobs.length; at++) {
        const { input, signal, resolve } = jobs[at] as Waiting
        if (signal?.aborted === true || isClosed) {
          resolve({ kind: 'aborted' })
          continue
        }
        onReading?.(input.url)
        const begunAt = clock.now()
        resolve(readOne(input))
        if (!isSmall(input) && clock.now() - begunAt > LONGEST_OF_MIDDLE_SIZE_MS) takesMiddleSize = false
      }
    }
    const isGuarded = jobs.some(needsGuard)
    if (!isGuarded) readJobs()
    const isWhole = !isGuarded || guarded(readJobs, deadlineMs)
    onReading?.(undefined)
    if (isWhole) return
    isTainted = true
    // Among them the one that it was at: there its time is counted by itself, and it is told if it was at fault.
    for (const { input, signal, resolve } of [...jobs.slice(at), ...waiting]) resolve(threads.read(input, signal))
    waiting = []
  }
  const readOne = (input: PageInput): ReadResult<PageReading> => {
    try {
      return { kind: 'read', reading: read(input) as PageReading }
    } catch (error) {
      return { kind: 'broke', detail: wordsOf(error) }
    }
  }

  return {
    read<Input extends DocumentInput>(input: Input, signal?: AbortSignal) {
      if (isTainted || isClosed || input.kind !== 'page') return threads.read(input, signal)
      if (!isSmall(input) && !(takesMiddleSize && isOfMiddleSize(input))) return threads.read(input, signal)
      return new Promise<ReadResult<ReadingOf<Input>>>((resolve) => {
        if (waiting.length === 0) setImmediate(readAll)
        waiting.push({ input, signal, resolve: resolve as Waiting['resolve'] })
      })
    },
    async close() {
      isClosed = true
      await threads.close()
    },
  }
}
