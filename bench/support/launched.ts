/**
 * The settings of the engine under which the program runs, as its launcher makes them (bin/tiptoe.mjs). It watches the
 * heap by timers; here nothing waits, so whoever measures looks between one call and the next.
 */
import { availableParallelism } from 'node:os'
import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from 'node:v8'

const YOUNG_BYTES = 32 * 1024 * 1024
const HEAP_GROWTH = [
  { from: 0, percent: 110 },
  { from: 64 * 1024 * 1024, percent: 40 },
  { from: 200 * 1024 * 1024, percent: 20 },
]

let isYoungBound = false
let nextGrowth = 0

export function launch(): void {
  if (availableParallelism() <= 2) setFlagsFromString('--no-parallel-scavenge')
  boundHeap()
}

export function boundHeap(): void {
  if (!isYoungBound) {
    const young = getHeapSpaceStatistics().find((space) => space.space_name === 'new_space')
    isYoungBound = young !== undefined && young.space_size >= YOUNG_BYTES
    if (isYoungBound) setFlagsFromString('--semi-space-growth-factor=1')
  }
  for (let growth = HEAP_GROWTH[nextGrowth]; growth !== undefined; growth = HEAP_GROWTH[++nextGrowth]) {
    if (getHeapStatistics().used_heap_size < growth.from) return
    setFlagsFromString(`--heap-growing-percent=${growth.percent}`)
  }
}
