/**
 * What goes wrong, and when: faults that strike at chosen steps. A step is any call that a process makes to something
 * outside of it: a verb of the frontier before and after, a write or sync of the disk, a request sent, an answer heard.
 * The seed chooses the steps, so a run can be repeated to the last of them.
 */
import type { Rng } from '../base/index.ts'
import { Killed, type SimProcess, type World } from './world.ts'

export type Fault =
  /** The process is gone between two steps; what the operating system has stays. */
  | { readonly kind: 'kill' }
  /** The machine is gone, and what was not synced with it. */
  | { readonly kind: 'power' }
  /** SIGSTOP, or a store that takes very long. */
  | { readonly kind: 'freeze'; readonly ms: number }
  | { readonly kind: 'suspend'; readonly ms: number }
  /** The wall clock is set. */
  | { readonly kind: 'wall'; readonly ms: number }
  /** The first signal: nothing new starts, and the process ends in order. */
  | { readonly kind: 'stop' }
  | { readonly kind: 'full'; readonly ms: number }
  /** The next verb of the frontier fails, before or after it was committed. */
  | { readonly kind: 'store-error'; readonly committed: boolean }

export interface PlannedFault {
  /** The number of the step, of all processes together. */
  readonly atStep: number
  readonly fault: Fault
}

/** What happens beyond the process that was struck. */
export interface FaultEffects {
  killed(process: SimProcess, power: boolean): void
  stop(process: SimProcess): void
  fillDisk(ms: number): void
  breakStore(process: SimProcess, committed: boolean): void
}

export interface Faults {
  /** To be called by every port; throws `Killed` when this was the process's last step. */
  step(process: SimProcess, what: string): void
  readonly steps: number
}

export function createFaults(plan: readonly PlannedFault[], world: World, effects: FaultEffects): Faults {
  const pending = [...plan].sort((a, b) => b.atStep - a.atStep)
  let steps = 0

  const strike = (process: SimProcess, fault: Fault): void => {
    switch (fault.kind) {
      case 'kill':
      case 'power':
        process.kill()
        effects.killed(process, fault.kind === 'power')
        throw new Killed()
      case 'freeze':
        return process.freeze(fault.ms)
      case 'suspend':
        return process.suspend(fault.ms)
      case 'wall':
        return process.stepWall(fault.ms)
      case 'stop':
        return effects.stop(process)
      case 'full':
        return effects.fillDisk(fault.ms)
      case 'store-error':
        return effects.breakStore(process, fault.committed)
    }
  }

  return {
    step(process, what) {
      if (!process.alive) throw new Killed()
      steps += 1
      const next = pending.at(-1)
      if (next === undefined || next.atStep > steps) return
      pending.pop()
      world.trace.note('fault', `${next.fault.kind} at ${what}`, process.name)
      strike(process, next.fault)
    },
    get steps() {
      return steps
    },
  }
}

/** Faults at random steps, about one in `every`, of the kinds given. */
export function planFaults(kinds: readonly Fault['kind'][], count: number, every: number, rng: Rng): PlannedFault[] {
  const plan: PlannedFault[] = []
  let atStep = 0
  for (let number = 0; number < count && kinds.length > 0; number++) {
    atStep += 1 + Math.floor(-Math.log(Math.max(rng.next(), 1e-9)) * every)
    plan.push({ atStep, fault: faultOf(kinds[rng.int(kinds.length)] as Fault['kind'], rng) })
  }
  return plan
}

function faultOf(kind: Fault['kind'], rng: Rng): Fault {
  /** From a moment to far longer than any lease. */
  const ms = 2 ** (4 + rng.int(16)) * (1 + rng.next())
  switch (kind) {
    case 'wall':
      return { kind, ms: (rng.next() < 0.5 ? -1 : 1) * ms * 4 }
    case 'freeze':
    case 'suspend':
    case 'full':
      return { kind, ms }
    case 'store-error':
      return { kind, committed: rng.next() < 0.5 }
    case 'kill':
    case 'power':
    case 'stop':
      return { kind }
  }
}
