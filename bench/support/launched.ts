/**
 * The settings of the engine under which the program runs, as its launcher makes them (bin/tiptoe.mjs). It watches the
 * room for short-lived objects by a timer; here nothing waits, so whoever measures looks between one call and the next.
 */
import { cpus } from 'node:os'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

const YOUNG_BYTES = 32 * 1024 * 1024

let isBound = false

export function launch(): void {
  setFlagsFromString('--heap-growing-percent=40')
  if (cpus().length <= 2) setFlagsFromString('--no-parallel-scavenge')
}

export function boundYoungSpace(): void {
  if (isBound) return
  const young = getHeapSpaceStatistics().find((space) => space.space_name === 'new_space')
  if (young === undefined || young.space_size < YOUNG_BYTES) return
  setFlagsFromString('--semi-space-growth-factor=1')
  isBound = true
}
