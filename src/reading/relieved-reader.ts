/**
 * A reader that can be relieved: once told that its thread has no time left, it leaves what pages say to a second one, and
 * reads only what the crawl goes on with. Links stay here: they are found among those of earlier pages without a string
 * being made, and a hundred strings for each page would cost more to hand over than to find.
 *
 * It keeps true that neither waits for the other: when the second thread has enough to do, pages are read here as before.
 */
import type { NormalizedUrl } from '../model/index.ts'
import type { ContentInput, DocumentInput, PageInput, PageReading, ReadingOf, ReadResult } from './document.ts'
import { beginPage, type BegunPage } from './read-page.ts'
import type { Reader } from './reader.ts'
import { wordsOf } from './words.ts'

/** Larger pages are for the own reader, which knows what to do with them. */
const MOST_BYTES = 1024 * 1024
/**
 * Pages with the second thread, and their bytes: enough to keep it busy whatever this one does in between. With fewer this
 * one would read content too, and compile all that it takes for it a second time.
 */
const MOST_AWAY = 64
const MOST_BYTES_AWAY = 8 * 1024 * 1024

export interface RelievedReader extends Reader {
  /** From now on another thread helps, as soon as it is there. False when it does already, or could not be had. */
  relieve(): boolean
}

/** `helper` reads in another thread, and starts it when it is first used. Both are closed with it. */
export function createRelievedReader(own: Reader, helper: Reader): RelievedReader {
  let isRelieved = false
  let wasAsked = false
  let away = 0
  let bytesAway = 0

  const mayGo = (input: DocumentInput): input is PageInput =>
    isRelieved &&
    away < MOST_AWAY &&
    input.kind === 'page' &&
    input.wants.content &&
    input.body.length <= Math.min(MOST_BYTES, MOST_BYTES_AWAY - bytesAway)

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
    read<Input extends DocumentInput>(input: Input, signal?: AbortSignal) {
      if (!mayGo(input)) return own.read(input, signal)
      return readShared(input, signal) as Promise<ReadResult<ReadingOf<Input>>>
    },
    relieve() {
      if (wasAsked) return false
      wasAsked = true
      helper.read(NOTHING).then(
        ({ kind }) => (isRelieved = kind === 'read'),
        () => (isRelieved = false),
      )
      return true
    },
    async close() {
      isRelieved = false
      await Promise.all([own.close(), helper.close()])
    },
  }
}

/** Read when the thread is ready, and by then it is. */
const NOTHING: ContentInput = {
  kind: 'content',
  url: 'about:blank' as NormalizedUrl,
  body: new Uint8Array(),
  media: 'text',
  charset: 'utf-8',
  title: null,
  wants: { markdown: false, sample: false },
}
