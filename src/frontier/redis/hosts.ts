/** What is known of a host on the servers, and what a worker says of it: lua/host.lua. */
import type { HostHealth, HostKey, HostRecord } from '../../model/index.ts'
import type { HostChange } from '../contract.ts'
import { listOf } from './replies.ts'
import { loadScript } from './scripts.ts'
import { changeFields, robotsRecordOf } from './settlement-item.ts'
import type { Partition, Store } from './store.ts'

const HOST = loadScript('host')

interface HostReply {
  readonly host?: {
    readonly delay: number
    readonly concurrency: number
    readonly answered?: number
    readonly until: number
    readonly reason?: string
    readonly address?: string
    readonly closest?: number
    readonly health: HealthNumbers
    readonly queued: number
    readonly robots: unknown
  }
}

/** Strikes, streak, since when, when it was blocked, latency. */
type HealthNumbers = readonly [number, number, number, number, number]

/** What is known of a host, after the change if one is given; undefined for a host never seen. */
export async function hostOf(store: Store, key: HostKey, change?: HostChange): Promise<HostRecord | undefined> {
  const partition = store.partitionOf(key)
  const reply = (await partition.call(HOST, partition.keys.fixed, {
    host: key,
    policy: store.policyFor(key),
    ...(change === undefined ? {} : { change: changeFields(change, partition.times) }),
  })) as HostReply
  return reply.host === undefined ? undefined : recordOf(key, reply.host, partition)
}

function recordOf(key: HostKey, host: NonNullable<HostReply['host']>, { times }: Partition): HostRecord {
  const [strikes, streak, streakSince, blockedAt, latencyMs] = host.health
  const health: HostHealth = {
    strikes,
    streak,
    streakSince: times.toWorker(streakSince),
    blockedAt: times.toWorker(blockedAt),
    latencyMs,
  }
  return {
    host: key,
    delayMs: host.delay,
    concurrency: host.concurrency,
    answeredAt: times.toWorker(host.answered ?? null),
    blockedUntil: times.toWorker(host.until),
    blockedReason: host.reason ?? null,
    health,
    address: host.address ?? null,
    closestMs: host.closest ?? null,
    queued: host.queued,
    robots: listOf<readonly [string, string]>(host.robots).map(([record, body]) => robotsRecordOf(record, body, times)),
  }
}
