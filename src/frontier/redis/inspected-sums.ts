/** The sums of partitions, by the names that they have there, added up to the counters that every home has. */
import { TIERS, type HostKey } from '../../model/index.ts'
import type { Counters } from '../storage.ts'

/** All fields of a partition's meta that are numbers. */
export function sumsOf(meta: Readonly<Record<string, string>>): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const [name, text] of Object.entries(meta)) {
    const value = Number(text)
    if (name !== 'generation' && name !== 'server' && !Number.isNaN(value)) sums[name] = value
  }
  return sums
}

/** Adds the sums of one partition, by their names in its meta. */
export function addSums(counters: Counters, meta: Readonly<Record<string, string>>): void {
  const sum = (name: string): number => Number(meta[name] ?? 0)
  counters.discovered += sum('discovered')
  counters.open += sum('open')
  counters.done += sum('done')
  counters.failed += sum('failed')
  counters.held += sum('held')
  counters.aside += sum('aside')
  counters.refreshing += sum('refreshing')
  counters.sitemapsOpen += sum('sitemaps_open')
  counters.bytes += sum('bytes')
  counters.tokens += sum('tokens')
  counters.hosts += sum('hosts')
  counters.impolite += sum('impolite')
  counters.importance.total += sum('importance')
  counters.importance.pot += sum('pot')
  for (const tier of TIERS) {
    counters.tiers[tier].queued += sum(`queued_${tier}`)
    counters.tiers[tier].requests += sum(`tier_requests:${tier}`)
  }
  for (const kind of ['page', 'sitemap', 'robots'] as const) counters.requests[kind] += sum(`requests:${kind}`)
  for (const change of ['changed', 'unchanged', 'gone', 'missed'] as const) {
    counters.revisits[change] += sum(`revisits:${change}`)
  }
  for (const [name, text] of Object.entries(meta)) {
    if (!name.startsWith('skipped:')) continue
    const reason = name.slice('skipped:'.length)
    counters.skipped[reason] = (counters.skipped[reason] ?? 0) + Number(text)
  }
  for (const tier of TIERS) {
    const state = counters.recrawl[tier]
    const [pages, price] = [sum(`recrawl:${tier}:pages`), sum(`recrawl:${tier}:price`)]
    // One price for all: the mean over the partitions, by their pages.
    if (state.pages + pages > 0) state.price = (state.price * state.pages + price * pages) / (state.pages + pages)
    state.pages += pages
  }
  const spareMs = meta['closest_ms'] === undefined ? undefined : Number(meta['closest_ms'])
  const host = meta['closest_host'] as HostKey | undefined
  if (spareMs !== undefined && host !== undefined && spareMs < (counters.closest?.spareMs ?? Infinity)) {
    counters.closest = { host, spareMs }
  }
}
