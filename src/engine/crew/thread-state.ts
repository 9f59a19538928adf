/**
 * What a thread shows of itself without being asked, in memory that both sides have: how much it has under way, and which
 * document it is reading since when. So one that hangs in a document, or was ended by one, can still be told from others.
 */
import { LIMITS } from '../../model/index.ts'

const SINCE = 0
const IN_FLIGHT = 0
const URL_LENGTH = 1
const URL_AT = 16
/** In UTF-8; URLs are ASCII, and never longer. */
const MOST_URL_BYTES = LIMITS['url-length'].value

export interface ThreadState {
  /** For the other side. */
  readonly memory: SharedArrayBuffer
  /** Requests and documents under way. */
  inFlight: number
  /** When the document that is being read was begun, by the thread's clock; 0 for none. */
  readonly readingSince: number
  readonly readingUrl: string
  /** A document is being read from now on. */
  read(url: string, now: number): void
  /** It was read. */
  rest(): void
}

export function createThreadState(memory = new SharedArrayBuffer(URL_AT + MOST_URL_BYTES)): ThreadState {
  const since = new Float64Array(memory, 0, 1)
  const counts = new Int32Array(memory, 8, 2)
  const text = new Uint8Array(memory, URL_AT)
  const bytes = Buffer.from(memory, URL_AT)
  return {
    memory,
    get inFlight() {
      return Atomics.load(counts, IN_FLIGHT)
    },
    set inFlight(count) {
      Atomics.store(counts, IN_FLIGHT, count)
    },
    get readingSince() {
      return since[SINCE] as number
    },
    get readingUrl() {
      return Buffer.from(text.slice(0, Atomics.load(counts, URL_LENGTH))).toString('latin1')
    },
    read(url, now) {
      Atomics.store(counts, URL_LENGTH, bytes.write(url, 'latin1'))
      since[SINCE] = now
    },
    rest() {
      since[SINCE] = 0
    },
  }
}
