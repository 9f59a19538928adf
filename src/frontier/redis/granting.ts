/**
 * Leases on hosts that are due, over several partitions. The hosts are chosen from what was looked at (choosing.ts), and
 * each partition grants its own in one script, which verifies them; whoever was not due after all is put right there, and
 * the next ones are looked at, for a number of rounds.
 */
import type { HostKey } from '../../model/index.ts'
import type { Lease, LeaseRequest } from '../contract.ts'
import { createSharing } from '../sharing.ts'
import { HOST_CLASSES, tierBit, type HostClass, type Slot } from '../storage.ts'
import { choose, type Pick, type Quota } from './choosing.ts'
import type { HeldLeases } from './held-leases.ts'
import type { KeyList } from './key-list.ts'
import { leaseOf } from './lease-tasks.ts'
import type { Limits } from './limits.ts'
import { lookAt, readLease, readLook, withHostsOf, type LeaseReply, type Look, type LookAsked } from './look.ts'
import type { Parking } from './parking.ts'
import { listOf } from './replies.ts'
import { loadScript } from './scripts.ts'
import type { Partition, Store } from './store.ts'

const LEASE = loadScript('lease')

/** How often hosts that were not due after all are put right and the next ones looked at, in one call. */
const ROUNDS = 16
/** Hosts of each order that are looked at beyond a partition's part of those wanted. */
const EXTRA_SHARE = 1.25
const EXTRA_HOSTS = 2
/** How many more, once some turned out not to be due. */
const MORE_HOSTS = 64
/** Hosts of each order in one look. */
const MOST_HOSTS = 256
/** Places in an answer that one round may take. */
const TURNS = 1_000_000

export interface Granted {
  readonly leases: readonly Lease[]
  /** Classes of hosts whose share of this request is not used up. */
  readonly open: readonly HostClass[]
  /** There was no end of hosts to be put right: it is worth asking again at once. */
  readonly hasMore: boolean
  /** The partitions as they were last seen. */
  readonly looks: readonly Look[]
}

export interface Granting {
  /** What to look for, before granting this request over so many partitions: with the leases that it was given before. */
  asked(request: LeaseRequest, partitions: number): LookAsked
  grant(request: LeaseRequest, looks: readonly Look[], asked: LookAsked): Promise<Granted>
}

interface Reply {
  readonly leases: unknown
  readonly nothing: unknown
  readonly short: number
  readonly look: unknown
  /** Whether hosts were looked for. */
  readonly looked: boolean
}

/** A pick, and its place in the answer. */
interface Turn {
  readonly pick: Pick
  readonly turn: number
}

/** What one partition is asked for. Picks beyond `most` are for those before them that are not due after all. */
interface Turns {
  most: number
  readonly turns: Turn[]
}

export function createGranting(
  store: Store,
  deps: { readonly held: HeldLeases; readonly limits: Limits; readonly parking: Parking },
): Granting {
  const { settings } = store
  const sharing = createSharing(settings.quotas)
  let calls = 0

  /** As scripts take them: origin, slot, rank and number of each list. */
  const listsOf = ({ host, look }: Pick, keys: KeyList): (string | number)[] => {
    const { queue } = look.partition.keys
    const all: (string | number)[] = []
    for (const [origin, ...lists] of host.lanes) {
      for (let index = 0; index < lists.length; index += 2) {
        const [slot, rank] = [lists[index] as Slot, lists[index + 1] as number]
        all.push(origin, slot, rank, keys.at(queue(origin, slot, rank)))
      }
    }
    return all
  }

  /** The picks of one partition, granted as far as they can be. */
  const grantIn = async (partition: Partition, { most, turns }: Turns, request: LeaseRequest, asked: LookAsked) => {
    const keys = partition.keyList()
    calls += 1
    const reply = (await partition.call(LEASE, keys.names, {
      worker: request.worker,
      ...(request.request === undefined ? {} : { request: request.request }),
      client: store.client,
      call: calls,
      most,
      stepped: partition.times.takeStep(),
      picks: turns.map(({ pick, turn }) => ({
        host: pick.host.key,
        turn,
        tiers: tierBit(pick.tier),
        tasks: pick.tasks,
        policy: store.policyFor(pick.host.key),
        lists: listsOf(pick, keys),
        ...(settings.maxPagesPerHost === undefined ? {} : { aside: keys.at(partition.keys.aside(pick.host.key)) }),
      })),
      look: asked,
    })) as Reply
    const granted = listOf<readonly [number, unknown]>(reply.leases).map(([, lease]) => readLease(lease))
    const kept = settings.traps ? await deps.parking.sift(partition, granted) : granted
    for (const lease of kept) deps.held.hold(partition, request.worker, lease)
    return {
      partition,
      turns,
      kept,
      nothing: listOf<number>(reply.nothing).map((number) => (turns[number - 1] as Turn).pick),
      short: reply.short,
      look: await lookAfter(partition, turns, reply, isSame(kept, granted), asked),
    }
  }

  const lookAfter = async (
    partition: Partition,
    turns: readonly Turn[],
    reply: Reply,
    isKept: boolean,
    asked: LookAsked,
  ): Promise<Look> => {
    // What was sifted out may have left its host with more that is due.
    if (!isKept) return lookAt(partition, asked)
    const before = turns[0]?.pick.look
    const after = readLook(partition, reply.look, asked.count)
    if (reply.looked || before === undefined) return after
    const tried = Math.max(0, ...listOf<readonly [number, unknown]>(reply.leases).map(([number]) => number))
    return withHostsOf(after, before, new Set(turns.slice(0, tried).map(({ pick }) => pick.host.key)))
  }

  /** What was charged to a tier as one task is made what it came to. */
  const charge = (turns: readonly Turn[], kept: readonly LeaseReply[]): void => {
    for (const { pick } of turns) sharing.charge(pick.tier, -1)
    for (const { tasks } of kept) {
      const tier = tasks[0]?.tier
      if (tier !== undefined) sharing.charge(tier as Pick['tier'], tasks.length)
    }
  }

  /** With no room left for new pages, those that are had already may still be fetched again. Not known from a few looks. */
  const mayGrant = (looks: readonly Look[]): boolean => {
    const { maxPages } = settings
    if (maxPages === undefined || looks.length < store.partitions.length) return true
    const taken = looks.reduce((all, { sums }) => all + sums.done + sums.refreshing + sums.leased_new, 0)
    return taken < maxPages || looks.some(({ sums }) => sums.refreshing > 0)
  }

  return {
    asked(request, partitions) {
      const { unproven = request.want } = request
      const fair = Math.ceil((EXTRA_SHARE * request.want) / partitions) + EXTRA_HOSTS
      return {
        count: Math.min(fair, request.want, MOST_HOSTS),
        classes: unproven > 0 ? 'all' : 'proven',
        worker: request.worker,
        ...(request.request === undefined ? {} : { request: request.request }),
      }
    },

    async grant(request, first, asked) {
      const looks = new Map(first.map((look) => [look.partition, look]))
      const quota: Quota = { proven: request.want, unproven: Math.min(request.want, request.unproven ?? request.want) }
      const open = (): HostClass[] => HOST_CLASSES.filter((each) => quota[each] > 0)
      const barren = new Set<HostKey>(deps.held.waiting)
      const replies: { readonly partition: Partition; readonly lease: LeaseReply }[] = []
      let spare = 0
      const done = (hasMore: boolean): Granted => ({
        leases: replies
          .toSorted((a, b) => (a.lease.turn ?? 0) - (b.lease.turn ?? 0))
          .map(({ partition, lease }) => leaseOf(store, partition, lease)),
        open: open(),
        hasMore,
        looks: [...looks.values()],
      })
      for (let round = 0; round < ROUNDS; round++) {
        if (!mayGrant([...looks.values()])) return done(false)
        const want = request.want - replies.length
        // A share that is not less than what is wanted does not limit those in reserve either.
        const shares = quota.unproven >= want ? { ...quota, unproven: Infinity } : quota
        const input = { looks: [...looks.values()], quota: shares, barren, now: store.clock.now() }
        const { picks, isCutShort } = choose({ ...input, want: want + spare }, sharing)
        if (picks.length === 0 && !isCutShort) return done(false)
        const byPartition = new Map<Partition, Turns>()
        for (const [index, pick] of picks.entries()) {
          const { partition } = pick.look
          const part: Turns = byPartition.get(partition) ?? { most: 0, turns: [] }
          part.turns.push({ pick, turn: round * TURNS + index })
          if (index < want) part.most += 1
          byPartition.set(partition, part)
        }
        spare = MORE_HOSTS
        // Barren hosts stay due: others are found only behind them.
        const count = Math.min(want + MORE_HOSTS, MOST_HOSTS) + barren.size
        const again: LookAsked = { count, classes: asked.classes }
        if (picks.length === 0) {
          const fresh = await Promise.all([...looks.keys()].map((partition) => lookAt(partition, again)))
          for (const look of fresh) looks.set(look.partition, look)
        }
        const answers = await Promise.all(
          [...byPartition].flatMap(([partition, part]) => {
            if (part.most > 0) return grantIn(partition, part, request, again)
            charge(part.turns, [])
            return []
          }),
        )
        for (const answer of answers) {
          charge(answer.turns, answer.kept)
          for (const host of deps.held.waiting) barren.add(host)
          looks.set(answer.partition, answer.look)
          for (const lease of answer.kept) {
            replies.push({ partition: answer.partition, lease })
            if ((lease.health[1] ?? 0) <= 0) quota.unproven -= 1
          }
          const short = answer.short > 0 ? await deps.limits.take(answer.partition, answer.short) : 0
          if (short === 0) for (const { host } of answer.nothing) barren.add(host.key)
        }
        if (replies.length >= request.want) return done(false)
      }
      return done(true)
    },
  }
}

const isSame = (kept: readonly LeaseReply[], granted: readonly LeaseReply[]): boolean =>
  kept.length === granted.length && kept.every(({ tasks }, index) => tasks.length === granted[index]?.tasks.length)
