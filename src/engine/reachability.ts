/**
 * Whether this machine has a network, as far as its requests tell: a host that does not answer is to blame only where
 * others have answered.
 */

export interface Reachability {
  /** A request goes out. */
  begun(): void
  /** It is over. */
  ended(isAnswered: boolean): void
  /**
   * `up`: some host has answered since the crawl was opened. `down`: none has, and none may yet. `unknown`: none has so
   * far, but others are being asked.
   */
  state(): 'up' | 'unknown' | 'down'
}

const ANSWERED = 0

/** Room for the marks of so many threads. */
export function reachabilityMarks(threads: number): SharedArrayBuffer {
  return new SharedArrayBuffer((1 + threads) * Int32Array.BYTES_PER_ELEMENT)
}

/** As one thread of several sees and tells it; alone, with marks of its own. */
export function createReachability(marks = reachabilityMarks(1), thread = 0): Reachability {
  const cells = new Int32Array(marks)
  const own = 1 + thread
  return {
    begun: () => void Atomics.add(cells, own, 1),
    ended(isAnswered) {
      Atomics.sub(cells, own, 1)
      if (isAnswered) Atomics.store(cells, ANSWERED, 1)
    },
    state() {
      if (Atomics.load(cells, ANSWERED) === 1) return 'up'
      return cells.subarray(ANSWERED + 1).some((pending) => pending > 0) ? 'unknown' : 'down'
    },
  }
}

/** What a thread that is gone had under way counts no more. */
export function forgetThread(marks: SharedArrayBuffer, thread: number): void {
  Atomics.store(new Int32Array(marks), 1 + thread, 0)
}
