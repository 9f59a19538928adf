/** Numbers as people read them, for progress and summary alike. */

/** `12,345`. To the nearest whole. `Intl` would say the same, but making it takes 5 % of the start. */
export function formatCount(count: number): string {
  return String(Math.round(count)).replaceAll(/\B(?=(?:\d{3})+$)/g, ',')
}

/** `1 page`, `2 pages`. */
export function countOf(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`
}

/** Three digits or so, and never a rate where there is none: `0`, `0.4`, `12.4`, `1,240`. */
export function formatRate(perSecond: number): string {
  if (!Number.isFinite(perSecond) || perSecond < 0.05) return '0'
  return perSecond < 100 ? perSecond.toFixed(1) : formatCount(Math.round(perSecond))
}

/** The sum over all reasons. */
export function sumOf(counts: Readonly<Partial<Record<string, number>>>): number {
  let sum = 0
  for (const count of Object.values(counts)) sum += count ?? 0
  return sum
}
