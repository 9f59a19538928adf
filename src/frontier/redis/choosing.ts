/**
 * Which of the hosts that are due get a lease next, over all partitions that were looked at: the rules of granting.ts. Tiers
 * share by their quotas, of each tier the host due longest goes first, and hosts of a class get no more than its share.
 * It is a choice, not a grant: what was chosen may turn out not to be due any more.
 */
import { TIERS, type HostKey, type Tier } from '../../model/index.ts'
import type { Sharing } from '../sharing.ts'
import { classOfOrder, tierBit, type HostClass, type HostOrder } from '../storage.ts'
import type { DueHost, Look } from './look.ts'

/** Tasks of a lease while several tiers have work: with more, they would keep to their quotas less closely. */
const TASKS_AMONG_TIERS = 1
/** No limit but what a lease may carry. */
const MANY_TASKS = 1_000

export interface Pick {
  readonly look: Look
  readonly host: DueHost
  readonly class: HostClass
  /** Whose turn it was. */
  readonly tier: Tier
  /** Tasks at most. */
  readonly tasks: number
}

/** Leases that hosts of each class may still have of a request. */
export type Quota = Record<HostClass, number>

interface Line {
  readonly look: Look
  readonly order: HostOrder
  readonly hosts: readonly DueHost[]
  at: number
  /** Hosts that may have a further lease at once, behind all others. */
  readonly again: DueHost[]
  /** There are more than were read. */
  readonly hasMore: boolean
}

export interface Chosen {
  readonly picks: readonly Pick[]
  /** There would be more to choose from, had more been read. */
  readonly isCutShort: boolean
}

export interface ChooseInput {
  readonly looks: readonly Look[]
  readonly want: number
  readonly quota: Quota
  /** Due, but with nothing that may be leased. */
  readonly barren: ReadonlySet<HostKey>
  /** By the worker's clock. */
  readonly now: number
}

/** Each pick is charged to its tier as one task; what comes of it otherwise is for the caller to put right. */
export function choose(input: ChooseInput, sharing: Sharing): Chosen {
  const { want, now } = input
  const quota = { ...input.quota }
  const lines = readLines(input)
  const picked = new Map<HostKey, number>()
  const picks: Pick[] = []
  while (picks.length < want) {
    const ready = TIERS.filter((tier) => lines.some((line) => isOpen(line, tier, quota) && headOf(line) !== undefined))
    if (ready.length === 0) return { picks, isCutShort: lines.some((line) => isUnread(line)) }
    const tier = sharing.choose(ready)
    const line = earliest(lines, tier, quota) as Line
    const host = take(line)
    const of = classOfOrder(line.order)
    picks.push({ look: line.look, host, class: of, tier, tasks: ready.length > 1 ? TASKS_AMONG_TIERS : MANY_TASKS })
    sharing.charge(tier, 1)
    if (of === 'unproven') quota.unproven -= 1
    const times = (picked.get(host.key) ?? 0) + 1
    picked.set(host.key, times)
    // Once leased, it is due again from now on: behind those that were due before.
    if (times < host.spare) line.again.push({ ...host, dueAt: now })
  }
  return { picks, isCutShort: false }
}

function readLines({ looks, barren, quota }: ChooseInput): Line[] {
  return looks.flatMap((look) =>
    look.quiet > look.now
      ? []
      : [...look.due].flatMap(([order, hosts]) =>
          quota[classOfOrder(order)] <= 0
            ? []
            : {
                look,
                order,
                hosts: hosts.filter(({ key }) => !barren.has(key)),
                at: 0,
                again: [],
                hasMore: look.cut.has(order),
              },
        ),
  )
}

const isOpen = (line: Line, tier: Tier, quota: Quota): boolean =>
  (line.order & tierBit(tier)) !== 0 && quota[classOfOrder(line.order)] > 0
const isUnread = (line: Line): boolean => line.hasMore && line.at >= line.hosts.length
const headOf = (line: Line): DueHost | undefined => line.hosts[line.at] ?? (line.hasMore ? undefined : line.again[0])

function take(line: Line): DueHost {
  const host = line.hosts[line.at]
  if (host === undefined) return line.again.shift() as DueHost
  line.at += 1
  return host
}

/**
 * The line whose head is due longest, as far as lines were read: one that was read to its end, with more behind, has had
 * more than its part of this choice already.
 */
function earliest(lines: readonly Line[], tier: Tier, quota: Quota): Line | undefined {
  let best: { readonly line: Line; readonly head: DueHost } | undefined
  for (const line of lines) {
    if (!isOpen(line, tier, quota)) continue
    const head = headOf(line)
    if (head !== undefined && (best === undefined || isBefore(head, best.head))) best = { line, head }
  }
  return best?.line
}

function isBefore(a: DueHost, b: DueHost): boolean {
  if (a.dueAt !== b.dueAt) return a.dueAt < b.dueAt
  return a.seq < b.seq || (a.seq === b.seq && a.key < b.key)
}
