/**
 * What this process knows of hosts before, or better than, the frontier: pauses that were asked for a moment ago, and
 * requests that go on under a lease that has run out, as they do in a process that was stopped for long. A lease on such
 * a host is given back with what is known.
 */
import type { Clock } from '../base/index.ts'
import type { HostChange } from '../frontier/index.ts'
import type { HostKey } from '../model/index.ts'
import type { PolitenessAudit } from '../politeness/index.ts'

/** A host with too many requests under way is looked at again after this, or after its delay if that is longer. */
const LOOK_AGAIN_MS = 1_000

export interface Reserve {
  /** Work on a lease of this host begins; returns how to end it. */
  enter(host: HostKey): () => void
  /** The host is left alone by every slot at once, whatever leases are out on it. */
  pause(host: HostKey, until: number, reason: string): void
  /** Why nothing may be sent to the host at this moment, as a change for the frontier; undefined when it may. */
  against(host: HostKey, limits: { readonly concurrency: number; readonly delayMs: number }): HostChange | undefined
}

export function createReserve(deps: { readonly clock: Clock; readonly audit: PolitenessAudit }): Reserve {
  const { clock, audit } = deps
  const paused = new Map<HostKey, { readonly until: number; readonly reason: string }>()
  const working = new Map<HostKey, number>()

  return {
    enter(host) {
      working.set(host, (working.get(host) ?? 0) + 1)
      return () => {
        const left = (working.get(host) ?? 1) - 1
        if (left === 0) working.delete(host)
        else working.set(host, left)
      }
    },
    pause(host, until, reason) {
      const now = clock.now()
      for (const [name, pause] of paused) if (pause.until <= now) paused.delete(name)
      audit.paused(host, until)
      if (until > now && until > (paused.get(host)?.until ?? 0)) paused.set(host, { until, reason })
    },
    against(host, { concurrency, delayMs }) {
      const now = clock.now()
      const pause = paused.get(host)
      if (pause !== undefined && pause.until > now) return { blockedUntil: pause.until, blockedReason: pause.reason }
      if ((working.get(host) ?? 0) <= concurrency) return undefined
      const blockedUntil = now + Math.max(delayMs, LOOK_AGAIN_MS)
      return { blockedUntil, blockedReason: 'an earlier request is still under way' }
    },
  }
}
