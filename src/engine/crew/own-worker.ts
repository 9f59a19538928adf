/** One who works on a crawl, as a crew needs it: a thread, or an engine in the thread of the frontier that is told the same. */
import type { HostKey } from '../../model/index.ts'
import type { EndReason, EngineAmongOthers } from '../engine.ts'
import type { Line } from './line.ts'
import type { Member } from './member.ts'

export type CrewWorker = Pick<Member, 'inFlight' | 'busyShare' | 'end'> & {
  readonly line: Pick<Line, 'tell'>
}

/** Until there is somebody. */
export const NOBODY: CrewWorker = {
  line: { tell: () => {} },
  inFlight: 0,
  busyShare: () => 0,
  end: async () => {},
}

/** An engine in this thread, told what a thread is told. */
export function ownWorker(engine: EngineAmongOthers): CrewWorker {
  const hears: Readonly<Record<string, (said: never) => void>> = {
    stop: (reason: EndReason) => engine.stop(reason),
    abort: () => engine.abort(),
    storeLost: () => engine.storeLost(),
    storeBack: () => engine.storeBack(),
    look: () => engine.look(),
    pause: ({ host, until, reason }: { host: HostKey; until: number; reason: string }) =>
      engine.pause(host, until, reason),
    resize: (slots: number) => engine.resize(slots),
    // It sees them as they come.
    seeds: () => {},
  }
  let before = performance.eventLoopUtilization()
  return {
    ...NOBODY,
    line: { tell: (name, said) => hears[name]?.(said as never) },
    get inFlight() {
      return engine.inFlight
    },
    busyShare() {
      const now = performance.eventLoopUtilization()
      const { utilization } = performance.eventLoopUtilization(now, before)
      before = now
      return utilization
    },
  }
}
