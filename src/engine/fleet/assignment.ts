/**
 * Which worker asks which partitions first. Every worker may ask all of them, so this is about sharing alone: with each
 * partition named by about as many workers as any other, fewer of them meet at the same hosts.
 *
 * It keeps true that the shares differ by one at most, and that no more moves than that takes: a partition stays with its
 * worker for as long as that is fair. With more workers than partitions, several begin with the same one.
 */
export type Assignment = Readonly<Record<string, readonly number[]>>

export function assignPartitions(partitions: number, workers: readonly string[], before: Assignment): Assignment {
  const live = [...new Set(workers)].sort()
  if (live.length === 0) return {}
  return live.length <= partitions ? shareOut(partitions, live, before) : doubleUp(partitions, live, before)
}

function shareOut(partitions: number, live: readonly string[], before: Assignment): Assignment {
  const least = Math.floor(partitions / live.length)
  /** So many workers have one more. */
  let larger = partitions % live.length
  const shares = new Map<string, number[]>()
  const taken = new Set<number>()
  // Those with the most first: they are the ones that can keep the larger shares without a move.
  const byCount = [...live].sort((a, b) => (before[b]?.length ?? 0) - (before[a]?.length ?? 0) || (a < b ? -1 : 1))
  for (const worker of byCount) {
    const had = (before[worker] ?? []).filter((partition) => partition < partitions && !taken.has(partition))
    const most = had.length > least && larger > 0 ? least + 1 : least
    if (most > least) larger -= 1
    const kept = had.slice(0, most)
    for (const partition of kept) taken.add(partition)
    shares.set(worker, kept)
  }
  const free = Array.from({ length: partitions }, (_, partition) => partition).filter((each) => !taken.has(each))
  for (const worker of byCount) {
    const share = shares.get(worker) as number[]
    if (share.length > least) continue
    while (share.length < least && free.length > 0) share.push(free.shift() as number)
    if (larger > 0 && free.length > 0) {
      share.push(free.shift() as number)
      larger -= 1
    }
  }
  return Object.fromEntries(live.map((worker) => [worker, (shares.get(worker) as number[]).sort((a, b) => a - b)]))
}

function doubleUp(partitions: number, live: readonly string[], before: Assignment): Assignment {
  const most = Math.ceil(live.length / partitions)
  const counts = Array.from({ length: partitions }, () => 0)
  const chosen = new Map<string, number>()
  for (const worker of live) {
    const kept = (before[worker] ?? []).find((partition) => (counts[partition] ?? most) < most)
    if (kept === undefined) continue
    chosen.set(worker, kept)
    counts[kept] = (counts[kept] as number) + 1
  }
  for (const worker of live) {
    if (chosen.has(worker)) continue
    const emptiest = counts.indexOf(Math.min(...counts))
    chosen.set(worker, emptiest)
    counts[emptiest] = (counts[emptiest] as number) + 1
  }
  return Object.fromEntries(live.map((worker) => [worker, [chosen.get(worker) as number]]))
}
