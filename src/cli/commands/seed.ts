/**
 * `tiptoe seed`: begins a crawl on a store, or adds seeds to one; changes its limits while nobody works on it, and lets one
 * go on that was stopped for all. Nothing is fetched.
 */
import { createSystemClock } from '../../base/index.ts'
import { withoutPassword } from '../../config/index.ts'
import { createTierRules, openFleet, seedFound } from '../../engine/index.ts'
import type { NormalizedUrl } from '../../model/index.ts'
import { createParameterStripper } from '../../url/index.ts'
import { countOf } from '../count-words.ts'
import { EXIT } from '../exit-code.ts'
import { agreeOn, fleetPlace, loginOf, newMemberName, troubleWords, type FleetDeps } from '../fleet-place.ts'
import type { Invocation } from '../invocation.ts'
import { typedSettings } from '../typed-settings.ts'
import { seedsOf } from './crawl.ts'

/** Handed over at a time. */
const PORTION = 1_000

export async function seedCommand(invocation: Invocation, deps: FleetDeps = {}): Promise<number> {
  const { terminal } = invocation
  const typed = typedSettings(invocation)
  const place = fleetPlace(typed, 'seed')
  const given = seedsOf(typed)
  const clock = createSystemClock()
  const worker = newMemberName()
  const begins = given.length > 0
  const { settings, changed } = await agreeOn(place, invocation, { worker, begins, isSeeding: true, clock, deps })
  const seeds = [...new Set(given.map(createParameterStripper(settings.stripParameters)))]
  const fleet = openFleet(settings, loginOf(place, worker, settings, invocation), { clock, connect: deps.connect })
  fleet.onTrouble(({ kind, detail }) => terminal.note(troubleWords(kind, detail)))
  try {
    // Before any of their pages is there to be leased: whoever reads it must know what belongs to it.
    await fleet.crawl.addSeeds(seeds)
    const counts = await addAll(seeds, (portion) => {
      const tierOf = createTierRules(settings)
      return fleet.add(portion.map((url) => seedFound(url, tierOf)))
    })
    const halted = await fleet.crawl.halted()
    if (halted !== undefined) await fleet.crawl.resume()
    const limits = changed.map(({ label, before, after }) => ({ label, before, after }))
    const told = { crawl: place.crawl, store: withoutPassword(place.store), ...counts, limits, resumed: halted ?? null }
    terminal.result(told, () =>
      [
        [
          `${countOf(counts.added, 'seed')} added to the crawl ${place.crawl}`,
          ...(counts.known === 0 ? [] : [`${counts.known} known already`]),
        ].join(', '),
        ...limits.map(({ label, before, after }) => `${label} is ${after} now, and was ${before}`),
        ...(halted === undefined ? [] : [`it was stopped for all (${halted}), and workers go on with it again`]),
      ].join('\n'),
    )
  } finally {
    await fleet.close()
  }
  return EXIT.done
}

async function addAll(
  seeds: readonly NormalizedUrl[],
  add: (portion: readonly NormalizedUrl[]) => Promise<{ readonly added: number; readonly known: number }>,
): Promise<{ readonly added: number; readonly known: number }> {
  const counts = { added: 0, known: 0 }
  for (let start = 0; start < seeds.length; start += PORTION) {
    const { added, known } = await add(seeds.slice(start, start + PORTION))
    counts.added += added
    counts.known += known
  }
  return counts
}
