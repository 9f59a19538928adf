/**
 * What speaks against working on a lease at this moment, though it was granted: then it is given back with that, as a
 * change for the frontier to know of its host.
 */
import type { Clock } from '../base/index.ts'
import type { Settings } from '../config/index.ts'
import type { Fetcher } from '../fetch/index.ts'
import type { HostChange, Lease } from '../frontier/index.ts'
import type { HostHealth, Task } from '../model/index.ts'
import type { HostRegistry } from '../politeness/index.ts'
import type { Pulse } from './pulse.ts'
import type { Reserve } from './reserve.ts'

export interface Objections {
  /** Before the first request of a lease. */
  beforeAll(lease: Lease): Promise<HostChange | undefined>
  /** Before each of them. */
  before(task: Task, lease: Lease): HostChange | undefined
}

export function createObjections(deps: {
  readonly clock: Clock
  readonly settings: Settings
  readonly fetcher: Pick<Fetcher, 'resolve'>
  readonly registry: HostRegistry
  readonly pulse: Pulse
  readonly reserve: Reserve
}): Objections {
  const { clock, settings, registry, reserve } = deps

  /** After a leap of the clock nobody knows when the host was last asked: it is left alone for its delay once more. */
  const doubtAfterLeap = ({ delayMs, health }: Lease): HostChange | undefined => {
    if (isNeverAsked(health) && settings.perDomainDelayMs + settings.perIpDelayMs === 0) return undefined
    const blockedUntil = deps.pulse.leaptAt() + delayMs
    return blockedUntil > clock.now() ? { blockedUntil, blockedReason: 'the clock of this machine jumped' } : undefined
  }
  /** Such pages are leased to be recorded as skipped: nothing is sent for them, whatever speaks against it. */
  const isParked = ({ kind, depth, aside }: Task): boolean =>
    kind === 'page' && (aside !== undefined || depth > (settings.maxDepth ?? Infinity))

  return {
    /**
     * Where hosts are paced by their address, and that of this one is not known: found out, for the next lease to obey.
     * A name without an address is asked for as it is, and fails.
     */
    async beforeAll({ tasks: [task], address: known }) {
      if (settings.perIpDelayMs === 0 || known !== null || task === undefined) return undefined
      const address = await deps.fetcher.resolve(task.url)
      return address === undefined ? undefined : { address }
    },
    before(task, lease) {
      if (isParked(task)) return undefined
      const { host, delayMs } = lease
      return doubtAfterLeap(lease) ?? reserve.against(host, { ...registry.policyOf(host), delayMs })
    },
  }
}

/** Nobody has heard of it, neither well nor ill. */
function isNeverAsked({ streak, streakSince, blockedAt }: HostHealth): boolean {
  return streak === 0 && streakSince === 0 && blockedAt === 0
}
