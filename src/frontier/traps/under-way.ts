/**
 * URLs of one host that were asked for and are not settled, under whichever leases: how many of them are of each kind, and
 * which pages they may turn out to be. What one of them says comes too late for the others.
 */
import type { NormalizedUrl } from '../../model/index.ts'

export interface UnderWay {
  readonly size: number
  /** How many of them have this mark. */
  count(mark: number): number
  /** Again, it counts once, with the marks that it had first. */
  add(url: NormalizedUrl, marks: readonly number[]): void
  delete(url: NormalizedUrl): void
}

export function createUnderWay(): UnderWay {
  const marksOf = new Map<NormalizedUrl, readonly number[]>()
  const counts = new Map<number, number>()
  return {
    get size() {
      return marksOf.size
    },
    count: (mark) => counts.get(mark) ?? 0,
    add(url, marks) {
      if (marksOf.has(url)) return
      marksOf.set(url, marks)
      for (const mark of marks) counts.set(mark, (counts.get(mark) ?? 0) + 1)
    },
    delete(url) {
      const marks = marksOf.get(url)
      if (marks === undefined) return
      marksOf.delete(url)
      for (const mark of marks) {
        const left = (counts.get(mark) ?? 0) - 1
        if (left > 0) counts.set(mark, left)
        else counts.delete(mark)
      }
    },
  }
}
