/**
 * Things by the time of their turn. Each has one time, which may change; the first is found without a walk over all.
 * A changed or dropped entry stays in the heap until it comes up or the heap has more such entries than others.
 */
import { createHeap } from '../base/index.ts'

/** Outdated entries that are put up with before the heap is made anew. */
const OUTDATED = 64

export interface Agenda<T> {
  set(item: T, at: number): void
  delete(item: T): void
  first(): { readonly item: T; readonly at: number } | undefined
}

export function createAgenda<T>(): Agenda<T> {
  const times = new Map<T, number>()
  let heap = createHeap<T>()

  const dropOutdated = (): void => {
    heap = createHeap<T>()
    for (const [item, at] of times) heap.push(at, item)
  }

  return {
    set(item, at) {
      if (times.get(item) === at) return
      times.set(item, at)
      heap.push(at, item)
      if (heap.size > 2 * times.size + OUTDATED) dropOutdated()
    },
    delete: (item) => void times.delete(item),
    first() {
      for (let top = heap.peek(); top !== undefined; top = heap.peek()) {
        if (times.get(top.item) === top.rank) return { item: top.item, at: top.rank }
        heap.pop()
      }
      return undefined
    },
  }
}
