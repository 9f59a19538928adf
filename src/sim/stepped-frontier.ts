/**
 * A frontier that lives in a simulated process: each verb is a step before and after, a frozen process gets its answer
 * when it runs again, and a dead one never. A store that broke stays broken until it is opened again.
 */
import type { Frontier } from '../frontier/index.ts'
import { TiptoeError } from '../model/index.ts'
import { Killed, type SimProcess } from './world.ts'

export interface SteppedDeps {
  readonly process: SimProcess
  step(what: string): void
  /** Whether the store is to break at this verb: before or after it is committed. */
  breaks(): 'before' | 'after' | undefined
}

export function createSteppedFrontier(inner: Frontier, deps: SteppedDeps): Frontier {
  const { process, step } = deps
  let broken = false

  const never = <T>(): Promise<T> => new Promise(() => {})
  const thawed = (): Promise<void> => new Promise((resolve) => void process.later(0, resolve))
  /** False when the process died of this step. */
  const survives = (what: string): boolean => {
    try {
      step(what)
      return process.alive
    } catch (error) {
      if (error instanceof Killed) return false
      throw error
    }
  }
  const fail = (): never => {
    broken = true
    throw new TiptoeError('store', 'the simulated store gave out')
  }
  const verb = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    if (!process.alive || !survives(name)) return never()
    if (process.frozen) await thawed()
    if (broken) throw new TiptoeError('store', 'the simulated store is broken')
    const breaking = deps.breaks()
    if (breaking === 'before') fail()
    const answer = await work()
    if (!survives(`${name} done`)) return never()
    if (breaking === 'after') fail()
    if (process.frozen) await thawed()
    return answer
  }

  return {
    add: (found) => verb('add', () => inner.add(found)),
    lease: (request) => verb('lease', () => inner.lease(request)),
    settle: (settlements, output) => verb('settle', () => inner.settle(settlements, output)),
    extend: (lease) => verb('extend', () => inner.extend(lease)),
    host: (key, change) => verb('host', () => inner.host(key, change)),
    stats: () => verb('stats', () => inner.stats()),
    close: () => (broken ? Promise.resolve() : verb('close', () => inner.close())),
  }
}
