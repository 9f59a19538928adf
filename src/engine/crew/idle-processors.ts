/** How many of the machine's processors had nothing to do since this was asked last, as a number with a fraction. */
import { cpus } from 'node:os'

export function createIdleWatch(): () => number {
  let before = sums()
  return () => {
    const now = sums()
    const all = now.all - before.all
    const share = all === 0 ? 0 : (now.idle - before.idle) / all
    before = now
    return share * now.processors
  }
}

function sums(): { readonly idle: number; readonly all: number; readonly processors: number } {
  const each = cpus()
  let idle = 0
  let all = 0
  for (const { times } of each) {
    idle += times.idle
    all += times.idle + times.user + times.nice + times.sys + times.irq
  }
  return { idle, all, processors: each.length }
}
