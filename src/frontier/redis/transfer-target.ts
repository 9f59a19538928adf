/**
 * The Redis home, written from elsewhere: a crawl that comes from another home, portion by portion. A portion has a number,
 * and each partition takes it once, so one that was sent but not answered for is simply sent again. Until it is complete
 * the crawl is barred for everybody else.
 *
 * Due times, places in queues and the sums that count what is written are made by the scripts, by the rules of this home.
 */
import { hostKey } from '../../url/index.ts'
import { rankOf, REVISIT_RANK, SITEMAP_RANK } from '../score.ts'
import type { CarriedHost, CarriedTotals, CarriedUrl } from '../transfer.ts'
import { createIntake, type Chosen } from './intake.ts'
import { HOUR_MS, referrerText, writeRow, type Row } from './row.ts'
import { loadScript } from './scripts.ts'
import type { MovingPartition, MovingStore } from './transfer-store.ts'
import { writeRates, writeVisit } from './visits.ts'

const SCRIPT = {
  hosts: loadScript('load-hosts'),
  urls: loadScript('load-urls'),
  sums: loadScript('load-sums'),
  bar: loadScript('transfer-bar'),
}

/** Known URLs of one bucket, about: as shared/intake.lua has it. */
const BUCKET_SIZE = 256
const MOST_LEVEL = 24
/** Ranks of one part of a lane that are told apart: the fewer, the more lists are left for what is found later. */
const RANK_STEP = 20_000
/** As parking.ts cuts them. */
const MOST_REASON = 200

export interface RedisTarget {
  /** Makes room for so many URLs. */
  prepare(portion: number, urls: number): Promise<void>
  /** `place` is that of the first of them among all hosts. */
  hosts(portion: number, hosts: readonly CarriedHost[], place: number): Promise<void>
  urls(portion: number, urls: readonly CarriedUrl[]): Promise<void>
  sums(portion: number, totals: CarriedTotals): Promise<void>
}

export interface RedisTargetOptions {
  /**
   * Until then the other home may have asked hosts without knowing of their answer: each waits its delay once from there.
   * Null when that cannot be.
   */
  readonly askedUntil: number | null
}

export function createRedisTarget(store: MovingStore, { askedUntil }: RedisTargetOptions): RedisTarget {
  const { settings, clock, fingerprints } = store
  const intake = createIntake({ store, deliver: () => Promise.resolve() })
  const isLimited = settings.maxPages !== undefined || settings.maxPagesPerHost !== undefined
  const keepsVisits = settings.recrawl.mode !== 'off'

  /** One call for each partition that has some of them, all at once. */
  const spread = async <T>(
    items: readonly T[],
    keyOf: (item: T) => Parameters<MovingStore['partitionOf']>[0],
    send: (partition: MovingPartition, items: readonly T[]) => Promise<void>,
  ): Promise<void> => {
    const groups = Map.groupBy(items, (item) => store.partitionOf(keyOf(item)))
    await Promise.all([...groups].map(([partition, part]) => send(partition, part)))
  }

  const hostItem = (host: CarriedHost, { times }: MovingPartition, seq: number): object => {
    const { health } = host
    const answered = askedUntil === null ? host.answeredAt : Math.max(host.answeredAt ?? 0, askedUntil)
    return {
      key: host.key,
      seq,
      policy: store.policyFor(host.key),
      tier: host.tier,
      pages: host.pages,
      cash: host.cash,
      credit: host.credit,
      depth: host.depth,
      change_pages: host.changePages,
      change_rate: host.changeRate,
      revisit_rate: host.revisitRate,
      ...(answered === null ? {} : { answered: Math.ceil(times.toServer(answered)) }),
      blocked_until: Math.ceil(times.toServer(host.blockedUntil)),
      ...(host.blockedReason === null ? {} : { blocked_reason: host.blockedReason }),
      strikes: health.strikes,
      streak: health.streak,
      streak_since: Math.round(times.toServer(health.streakSince)),
      blocked_at: Math.round(times.toServer(health.blockedAt)),
      latency: health.latencyMs,
      ...(host.address === null ? {} : { address: host.address }),
      ...(host.closestMs === null ? {} : { closest: host.closestMs }),
      lanes: host.lanes.map(({ origin, robots, robotsNotBefore, robotsAttempts, robotsMoved }) => ({
        origin,
        not_before: Math.ceil(times.toServer(robotsNotBefore)),
        attempts: robotsAttempts,
        ...(robotsMoved ? { moved: true } : {}),
        ...(robots === null ? {} : robotsItem(robots, times)),
      })),
      errands: host.errands.map((errand) => ({ ...errand, attempts: 0 })),
      ...(host.traps === null ? {} : { learned: host.traps }),
    }
  }
  const robotsItem = (
    { body, ...record }: NonNullable<CarriedHost['lanes'][number]['robots']>,
    times: MovingPartition['times'],
  ): object => {
    const stored = {
      ...record,
      fetchedAt: times.toServer(record.fetchedAt),
      expiresAt: times.toServer(record.expiresAt),
      staleSince: times.toServer(record.staleSince),
    }
    return {
      robots: JSON.stringify(stored),
      expires: Math.floor(stored.expiresAt),
      crawl_delay: settings.crawlDelayMs(record.crawlDelayMs),
      version: record.version,
      body,
    }
  }

  const isFinal = ({ state }: CarriedUrl): boolean => state === 'done' || state === 'failed' || state === 'skipped'
  const rankFor = (url: CarriedUrl): number => {
    if (url.kind === 'sitemap' || isFinal(url)) return SITEMAP_RANK
    const { depth, referrers, visit, foundAt } = url
    if (visit !== null && isLimited) return REVISIT_RANK
    const changeRate = visit === null ? undefined : visit.changeShape / visit.changeTimeMs
    const since = Math.floor((visit?.checkedAt ?? foundAt) / HOUR_MS) * HOUR_MS
    return Math.ceil(rankOf({ depth, referrers, changeRate, since }, settings.score) / RANK_STEP) * RANK_STEP
  }
  const chosenOf = (url: CarriedUrl): Chosen => {
    const number = fingerprints.ofUrl(url.kind, url.url)
    const row: Row = {
      name: number.name,
      kind: url.kind,
      slot: url.slot,
      rank: rankFor(url),
      depth: url.depth,
      attempts: url.attempts,
      foundHour: Math.floor(url.foundAt / HOUR_MS),
      redirects: url.redirects,
      nesting: url.nesting,
      via: url.via,
      reason: isFinal(url) ? '' : (url.reason ?? '').replaceAll('\n', ' ').slice(0, MOST_REASON),
      url: url.url,
      ...(url.referrer === null ? {} : { referrer: url.referrer }),
    }
    return { row, number, host: hostKey(url.url), ordinal: 0, times: 0, modifiedAt: 0 }
  }
  const visitPart = (url: CarriedUrl, row: string, { times }: MovingPartition): object => {
    const { visit } = url
    if (visit === null || (!keepsVisits && isFinal(url)) || url.state === 'failed' || url.state === 'skipped') return {}
    const stored = {
      ...visit,
      id: 0,
      firstAt: times.toServer(visit.firstAt),
      checkedAt: times.toServer(visit.checkedAt),
      changedAt: times.toServer(visit.changedAt),
    }
    const due = url.state === 'done' && visit.dueAt !== null && Number.isFinite(visit.dueAt) ? visit.dueAt : null
    return {
      visit: writeVisit(stored, stored.checkedAt, row),
      ...(due === null ? {} : { due: Math.ceil(times.toServer(due)) }),
    }
  }
  const childrenPart = (url: CarriedUrl): object => {
    if (settings.maxDepth === undefined || url.children.length === 0) return {}
    const children = url.children.map((child) => {
      const partition = store.partitionOf(hostKey(child.url)).index
      return `${partition}\n${child.kind.charAt(0)}${child.step}\n${referrerText(url.url, child.url)}`
    })
    return { url: url.url, children }
  }

  const sendUrls = async (partition: MovingPartition, portion: number, urls: readonly CarriedUrl[]): Promise<void> => {
    for (;;) {
      const keys = partition.keyList()
      const batch = intake.batch(partition, keys)
      const chosen = urls.map(chosenOf)
      const placed = batch.items(chosen)
      const items = urls.map((url, index) => {
        const [name, bucket, place, depth] = placed[index] as (typeof placed)[number]
        const row = writeRow((chosen[index] as Chosen).row)
        const { state } = url
        return {
          name,
          bucket,
          place,
          depth,
          row,
          state,
          kind: url.kind.charAt(0),
          referrers: Math.max(1, url.referrers),
          hour: Math.floor(url.foundAt / HOUR_MS),
          ...(url.visit === null ? {} : { visited: true }),
          ...(state === 'waiting' ? { at: Math.ceil(partition.times.toServer(url.at)) } : {}),
          ...(state === 'skipped' ? { reason: url.reason ?? '' } : {}),
          ...(state === 'held' || state === 'aside'
            ? { parked: keys.at(partition.keys[state](hostKey(url.url))) }
            : {}),
          ...visitPart(url, row, partition),
          ...childrenPart(url),
        }
      })
      const reply = await partition.call(SCRIPT.urls, keys.names, { portion, ...batch.tables(), items })
      if (!intake.isRefused(partition, reply)) return
    }
  }

  return {
    async prepare(portion, urls) {
      const perPartition = urls / store.partitions.length
      const level = Math.min(MOST_LEVEL, Math.max(0, Math.ceil(Math.log2(perPartition / BUCKET_SIZE || 1))))
      await Promise.all(
        store.partitions.map(async (partition) => {
          const asked = { portion, sums: {}, set: { level: String(level) } }
          const reply = await partition.call(SCRIPT.sums, partition.keys.fixed, asked)
          partition.level = (reply as { readonly level: number }).level
        }),
      )
    },
    async hosts(portion, hosts, place) {
      const items = hosts.map((host, index) => ({ host, seq: place + index }))
      await spread(
        items,
        ({ host }) => host.key,
        async (partition, part) => {
          const asked = { portion, hosts: part.map(({ host, seq }) => hostItem(host, partition, seq)) }
          await partition.call(SCRIPT.hosts, partition.keys.fixed, asked)
        },
      )
    },
    urls: (portion, urls) =>
      spread(
        urls,
        ({ url }) => hostKey(url),
        (partition, part) => sendUrls(partition, portion, part),
      ),
    async sums(portion, totals) {
      const share = 1 / store.partitions.length
      const pot = totals.importance.pot * share
      const recrawl = Object.entries(totals.recrawl)
      // Which host of a group answered last is not carried, so every group waits its delay once.
      const groupDelayMs = Math.max(settings.groups.domainDelayMs, settings.groups.addressDelayMs)
      await Promise.all(
        store.partitions.map((partition) =>
          partition.call(SCRIPT.sums, partition.keys.fixed, {
            portion,
            // What is a mean over hosts or pages of a partition is shared; what is only ever added up goes to the first.
            sums: {
              pot,
              importance: pot,
              ...Object.fromEntries(recrawl.map(([tier, { pages }]) => [`recrawl:${tier}:pages`, pages * share])),
              ...(partition.index === 0 ? plainSums(totals) : {}),
            },
            set: {
              ...Object.fromEntries(recrawl.map(([tier, { price }]) => [`recrawl:${tier}:price`, String(price)])),
              ...Object.fromEntries(recrawl.map(([tier, { rates }]) => [`recrawl:${tier}:rates`, writeRates(rates)])),
              ...(groupDelayMs === 0
                ? {}
                : { quiet: String(Math.ceil(partition.times.toServer(clock.now() + groupDelayMs))) }),
              ...(partition.index === 0 && totals.closest !== null
                ? { closest_ms: String(totals.closest.spareMs), closest_host: totals.closest.host }
                : {}),
            },
            // Pages that are had count against the limit as if they had been granted here.
            grants: true,
          }),
        ),
      )
    },
  }
}

function plainSums(totals: CarriedTotals): Record<string, number> {
  const prefixed = (prefix: string, sums: Readonly<Record<string, number>>): [string, number][] =>
    Object.entries(sums).map(([name, sum]) => [`${prefix}${name}`, sum])
  return {
    bytes: totals.bytes,
    tokens: totals.tokens,
    impolite: totals.impolite,
    ...Object.fromEntries(prefixed('requests:', totals.requests)),
    ...Object.fromEntries(prefixed('tier_requests:', totals.requested)),
    ...Object.fromEntries(prefixed('revisits:', totals.revisits)),
  }
}

/** Bars every partition, so that whoever has the crawl open is refused too; answers when the last lease is over. */
export async function barPartitions(
  store: MovingStore,
  change: { readonly bar: string } | { readonly lift: true },
): Promise<{ readonly leases: number; readonly lastExpiry: number | null }> {
  const replies = await Promise.all(
    store.partitions.map(async (partition) => {
      const reply = (await partition.call(SCRIPT.bar, partition.keys.fixed, change)) as {
        readonly leases: number
        readonly expiry?: number
      }
      return {
        leases: reply.leases,
        expiry: reply.expiry === undefined ? null : partition.times.toWorker(reply.expiry),
      }
    }),
  )
  const expiries = replies.flatMap(({ expiry }) => expiry ?? [])
  return {
    leases: replies.reduce((sum, { leases }) => sum + leases, 0),
    lastExpiry: expiries.length === 0 ? null : Math.max(...expiries),
  }
}
