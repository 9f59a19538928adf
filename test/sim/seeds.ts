/** Runs a range of seeds and says what broke, with what is needed to see it again. */
import { runSeed, type SimReport } from '../../src/sim/index.ts'

/** How many seeds one test run goes through in all; TIPTOE_SIM_SEEDS says otherwise. */
const DEFAULT_SEEDS = 2_000
export const SEEDS = Number(process.env['TIPTOE_SIM_SEEDS'] ?? DEFAULT_SEEDS)

/** Broken seeds told in full; one is enough to begin with. */
const TOLD = 3

export async function brokenSeeds(seeds: Iterable<number>): Promise<string[]> {
  const broken: string[] = []
  for (const seed of seeds) {
    const report = await runSeed(seed)
    if (report.ok) continue
    broken.push(broken.length < TOLD ? describe(report) : `seed ${seed}: ${report.violation?.law}`)
  }
  return broken
}

function describe({ seed, home, violation, trace }: SimReport): string {
  return [`seed ${seed} (${home}): ${violation?.detail}`, ...trace.slice(-25), `tiptoe simulate --seed ${seed}`].join(
    '\n',
  )
}

/** Every second seed from 1 on, up to the number that the tests go through. */
export function* seedsOf(part: 0 | 1): Generator<number> {
  for (let seed = 1; seed <= SEEDS; seed++) if (seed % 2 === part) yield seed
}
