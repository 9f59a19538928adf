/**
 * A reader that can be relieved: once told that its thread has no time left, it leaves what pages say to a second one, and
 * reads only what the crawl goes on with. Links stay here: they are found among those of earlier pages without a string
 * being made, and a hundred strings for each page would cost more to hand over than to find.
 *
 * Whatever is read in both threads is compiled in both, so from then on all content goes over, from the first page on:
 * while the thread starts they wait for it. It keeps true that neither thread waits for the other in the long run: when
 * the second has enough to do, pages are read here as before.
 */
import {
  readsContent,
  type ContentInput,
  type DocumentInput,
  type PageInput,
  type PageReading,
  type ReadingOf,
  type ReadResult,
} from './document.ts'
import { beginPage, type BegunPage } from './read-page.ts'
import type { Reader } from './reader.ts'
import { isOfMiddleSize, SMALL_BYTES } from './page-size.ts'
import { wordsOf } from './words.ts'

/** Pages with the second thread: some 25 ms' worth, and enough whatever this one does in between; and bytes. */
const SHORT_AWAY = 64
const LONG_AWAY = 160
const LONG_BYTES_AWAY = 8 * 1024 * 1024
/**
 * With more this one reads content too, and compiles all that it takes for it a second time. So it is more than comes when
 * whoever hands them in stops at a long backlog.
 */
const MOST_AWAY = 256
const MOST_BYTES_AWAY = 16 * 1024 * 1024

export interface RelievedReader extends Reader {
  /** From now on another thread helps, which the next page starts. False when it was asked for before. */
  relieve(): boolean
}

/** `helper` reads in another thread, which it starts when it is first used. Both are closed with it. */
export function createRelievedReader(own: Reader, helper: Reader): RelievedReader {
  let isRelieved = false
  let wasAsked = false
  let away = 0
  let bytesAway = 0

  const mayGo = (input: DocumentInput): input is PageInput =>
    isRelieved &&
    away < MOST_AWAY &&
    input.kind === 'page' &&
    readsContent(input) &&
    input.body.length <= MOST_BYTES_AWAY - bytesAway &&
    (input.body.length <= SMALL_BYTES || isOfMiddleSize(input))

  const readAway = async (
    input: PageInput,
    begun: BegunPage,
    rest: ContentInput,
    signal?: AbortSignal,
  ): Promise<ReadResult<PageReading>> => {
    away += 1
    bytesAway += input.body.length
    try {
      const read = await helper.read(rest, signal)
      return read.kind === 'read' ? { kind: 'read', reading: begun.whole(read.reading) } : read
    } catch {
      // There is no thread to be had any more; what it was to read is read here.
      isRelieved = false
      return own.read(input, signal)
    } finally {
      away -= 1
      bytesAway -= input.body.length
    }
  }
  const readShared = async (input: PageInput, signal?: AbortSignal): Promise<ReadResult<PageReading>> => {
    if (signal?.aborted === true) return { kind: 'aborted' }
    let begun: BegunPage
    try {
      begun = beginPage(input)
    } catch (error) {
      return { kind: 'broke', detail: wordsOf(error) }
    }
    if (begun.rest === undefined) return { kind: 'read', reading: begun.whole(undefined) }
    return readAway(input, begun, begun.rest, signal)
  }

  return {
    get backlog() {
      if (!isRelieved) return undefined
      if (away >= LONG_AWAY || bytesAway >= LONG_BYTES_AWAY) return 'long'
      return away < SHORT_AWAY ? 'short' : 'fair'
    },
    read<Input extends DocumentInput>(input: Input, signal?: AbortSignal) {
      if (!mayGo(input)) return own.read(input, signal)
      return readShared(input, signal) as Promise<ReadResult<ReadingOf<Input>>>
    },
    relieve() {
      if (wasAsked) return false
      wasAsked = true
      isRelieved = true
      return true
    },
    async close() {
      isRelieved = false
      await Promise.all([own.close(), helper.close()])
    },
  }
}
