/**
 * Who works on a host that may be asked by several requests at once, some time apart: one thread at a time, since when the
 * next one may start depends on when another was answered, and only the thread that asked knows that at once. Any other
 * host may be anybody's: with one lease at a time the frontier knows all of it, and without a delay nothing else counts.
 */
import type { Lease, LeaseRef } from '../../frontier/index.ts'
import type { HostKey } from '../../model/index.ts'
import type { HostRegistry } from '../../politeness/index.ts'

export interface HostKeepers<Worker> {
  /** Who is to have the lease: the one who has others of its host, if that matters, else the one who asks. */
  keeperFor(lease: Lease, asker: Worker): Worker
  /** Whether somebody has the host. */
  isKept(host: HostKey): boolean
  /** A lease is over. With the last one of its host the host is anybody's. */
  letGo(lease: LeaseRef): void
}

export function createHostKeepers<Worker>(registry: Pick<HostRegistry, 'policyOf'>): HostKeepers<Worker> {
  const keepers = new Map<HostKey, { readonly worker: Worker; leases: number }>()
  const needsOne = ({ host, delayMs }: Lease): boolean => delayMs > 0 && registry.policyOf(host).concurrency > 1
  return {
    keeperFor(lease, asker) {
      if (!needsOne(lease)) return asker
      const keeper = keepers.get(lease.host) ?? { worker: asker, leases: 0 }
      keepers.set(lease.host, keeper)
      keeper.leases += 1
      return keeper.worker
    },
    isKept: (host) => keepers.has(host),
    letGo({ host }) {
      const keeper = keepers.get(host)
      if (keeper === undefined) return
      keeper.leases -= 1
      if (keeper.leases <= 0) keepers.delete(host)
    },
  }
}
