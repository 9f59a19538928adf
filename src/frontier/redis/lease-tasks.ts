/** Leases and tasks as the contract has them, from what a script answered. */
import type { NormalizedUrl, Task, Tier } from '../../model/index.ts'
import type { Lease } from '../contract.ts'
import { listOf } from './replies.ts'
import type { LeaseReply, TaskReply } from './look.ts'
import { asideOf } from './parking.ts'
import { readRow } from './row.ts'
import type { Partition, Store } from './store.ts'
import { lastVisitOf } from './visits.ts'

export function leaseOf(store: Store, partition: Partition, reply: LeaseReply): Lease {
  const { times } = partition
  const [strikes, streak, since, blockedAt, latencyMs] = reply.health
  const grantedAt = times.toWorker(reply.granted)
  return {
    host: reply.host,
    fence: Number(reply.fence),
    tasks: listOf<TaskReply>(reply.tasks).map((task) => taskOf(store, partition, reply, task)),
    delayMs: reply.delay,
    grantedAt,
    notBefore: grantedAt,
    expiresAt: times.toWorker(reply.expires),
    health: {
      strikes,
      streak,
      streakSince: times.toWorker(since),
      blockedAt: times.toWorker(blockedAt),
      latencyMs,
    },
    address: reply.address ?? null,
    robotsVersion: reply.version ?? null,
  }
}

export function taskOf(store: Store, { times }: Partition, lease: LeaseReply, task: TaskReply): Task {
  const { host } = lease
  const { origin } = task
  const tier = task.tier as Tier
  if (task.row === undefined) {
    return {
      id: 0,
      kind: 'robots',
      url: task.url as NormalizedUrl,
      host,
      origin,
      depth: 0,
      via: 'link',
      tier,
      attempts: task.attempts ?? 0,
      redirects: task.redirects ?? 0,
      nesting: 0,
    }
  }
  const row = readRow(task.row)
  return {
    id: store.fingerprints.ofUrl(row.kind, row.url).id,
    kind: row.kind,
    url: row.url,
    host,
    origin,
    depth: row.depth,
    via: row.via,
    ...(row.referrer === undefined ? {} : { referrer: row.referrer }),
    tier,
    attempts: row.attempts,
    redirects: row.redirects,
    nesting: row.nesting,
    ...(task.last === undefined ? {} : { last: lastVisitOf(task.last, times) }),
    ...(lease.parked === 'aside' ? { aside: asideOf(row) } : {}),
  }
}
