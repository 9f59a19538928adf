/**
 * What a thread shows of itself without being asked, in memory that both sides have: how much it has under way, and which
 * page it is reading. So when a page takes its thread down it can still be told from the others.
 */
import { LIMITS } from '../../model/index.ts'

const IN_FLIGHT = 0
const URL_LENGTH = 1
const URL_AT = 8
/** URLs are ASCII, and never longer. */
const MOST_URL_BYTES = LIMITS['url-length'].value

export interface ThreadState {
  /** For the other side. */
  readonly memory: SharedArrayBuffer
  /** Requests and pages under way. */
  inFlight: number
  /** Empty for none. */
  readonly readingUrl: string
  /** This page is being read from now on; none if empty. */
  read(url: string): void
}

export function createThreadState(memory = new SharedArrayBuffer(URL_AT + MOST_URL_BYTES)): ThreadState {
  const counts = new Int32Array(memory, 0, 2)
  const text = Buffer.from(memory, URL_AT)
  return {
    memory,
    get inFlight() {
      return Atomics.load(counts, IN_FLIGHT)
    },
    set inFlight(count) {
      Atomics.store(counts, IN_FLIGHT, count)
    },
    get readingUrl() {
      return text.toString('latin1', 0, Atomics.load(counts, URL_LENGTH))
    },
    read(url) {
      Atomics.store(counts, URL_LENGTH, text.write(url, 'latin1'))
    },
  }
}
