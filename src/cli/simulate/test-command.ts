/**
 * Testing the crawler itself: seeded runs on a faulty web, each replayed exactly by its seed, and the frontier of a
 * fleet. A run that breaks a promise is told with the law, the last things that happened, and the command that repeats it.
 */
import { createSystemClock } from '../../base/index.ts'
import { runSeed, scenarioOf } from '../../sim/index.ts'
import { countOf, formatCount } from '../count-words.ts'
import { EXIT } from '../exit-code.ts'
import type { Invocation } from '../invocation.ts'
import { programName } from '../program-name.ts'
import { fleetCommand } from './fleet-command.ts'
import { aboutScenario, MOST_TOLD, seedWords, totalWords, type FailingSeed } from './seed-report.ts'
import { countIn } from './switch-values.ts'

const SEEDS = { least: 0, most: 4_294_967_295 }
const COUNTS = { least: 1, most: 10_000_000 }

export async function testCommand(invocation: Invocation): Promise<number> {
  const { switches } = invocation.parsed
  const seed = switches.seed === undefined ? 1 : countIn(switches.seed, '--seed', SEEDS)
  if (switches.fleet === true) return fleetCommand(invocation, seed)
  if (switches.seeds === undefined) return replay(seed, invocation)
  const count = countIn(switches.seeds, '--seeds', COUNTS)
  return runMany(seed, count, invocation)
}

async function replay(seed: number, { terminal }: Invocation): Promise<number> {
  const scenario = scenarioOf(seed)
  const report = await runSeed(seed)
  for (const line of report.trace) terminal.detail(line)
  terminal.result({ ...report, scenario: aboutScenario(scenario) }, () => seedWords(report, scenario))
  return report.ok ? EXIT.done : EXIT.failures
}

async function runMany(from: number, count: number, { terminal, env }: Invocation): Promise<number> {
  const clock = createSystemClock()
  const startedAt = clock.now()
  const failing: FailingSeed[] = []
  let events = 0
  let simulatedMs = 0
  for (let seed = from; seed < from + count; seed++) {
    const report = await runSeed(seed)
    events += report.events
    simulatedMs += report.simulatedMs
    if (!report.ok) {
      const replay = `${programName(env)} simulate --seed ${seed} -v`
      failing.push({ seed, law: report.violation?.law ?? 'unknown', replay })
      if (failing.length <= MOST_TOLD) terminal.warn(`seed ${seed} breaks ${report.violation?.law}`, replay)
    }
    terminal.live([
      `${formatCount(seed - from + 1)} of ${countOf(count, 'seed')}, ${formatCount(failing.length)} failing`,
    ])
  }
  const totals = { from, count, failing, events, simulatedMs, tookMs: Math.round(clock.now() - startedAt) }
  terminal.result(totals, () => totalWords(totals))
  return failing.length === 0 ? EXIT.done : EXIT.failures
}
