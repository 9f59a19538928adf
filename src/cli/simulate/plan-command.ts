/** Planning a crawl: from what was typed to a plan for every number of slots, in words or as JSON. */
import { createSystemClock, type Clock } from '../../base/index.ts'
import { concurrentFetches } from '../../config/index.ts'
import {
  boundOf,
  canBeBusy,
  enoughSlots,
  longestChains,
  longestGroup,
  measureMachine,
  recordedCosts,
  runPlan,
  USUAL_COSTS,
  type MachineCosts,
  type Plan,
} from '../../sim/index.ts'
import { EXIT } from '../exit-code.ts'
import type { Invocation } from '../invocation.ts'
import { planWords, type PlanReport } from './plan-report.ts'
import { planSource, type PlanSource } from './plan-source.ts'
import { sharedPaceWords } from './shared-pace-words.ts'
import { countsIn } from './switch-values.ts'

/** As many as one machine fetches at once. */
const MOST_SLOTS = 1_000
/** Numbers in one comparison. */
const MOST_COMPARED = 20
const USUALLY_COMPARED = [1, 2, 5, 10, 20, 50, 100]
/** Hosts named as those that take longest. */
const CHAINS = 5
/** A machine that was busy for this share of a crawl's time made its hosts look slower than they are. */
const WAS_BUSY = 0.6

export async function planCommand(invocation: Invocation): Promise<number> {
  const clock = createSystemClock()
  const startedAt = clock.now()
  const source = planSource(invocation, clock)
  try {
    const report = await planFrom(source, invocation, clock)
    const took = { ...report, tookMs: clock.now() - startedAt }
    invocation.terminal.result(jsonOf(took), () => planWords(took))
    return EXIT.done
  } finally {
    source.close()
  }
}

async function planFrom(source: PlanSource, { parsed }: Invocation, clock: Clock): Promise<Omit<PlanReport, 'tookMs'>> {
  const configured = concurrentFetches(source.settings)
  const typed = parsed.switches.workers
  const asked =
    typed === undefined ? undefined : countsIn(typed, '--workers', { least: 1, most: MOST_SLOTS }, MOST_COMPARED)
  const slots = asked?.length === 1 ? (asked[0] as number) : configured
  const known = await costsOf(source, Math.max(slots, ...(asked ?? [])), clock)
  const wasBusy = source.pagesPerSecond * (known.pageMs + known.requestMs) >= 1_000 * WAS_BUSY
  const costs = wasBusy ? recordedCosts(known, source.pagesPerSecond) : known
  const web = source.web({ wasBusy })
  const plan = await runPlan({ settings: source.settings, web, costs, slots })
  const plans = await compare(source, web, costs, plan, asked)
  const chains = longestChains(web, plan, source.settings, CHAINS)
  const group = longestGroup(web, plan, source.settings)
  return {
    source,
    assumptions: [...source.assumptions, ...sharedPaceWords(web, source.settings)],
    configured,
    plan,
    plans,
    chains,
    group,
    bound: boundOf(plan, chains[0], group),
    enough: enoughSlots(plans),
    hosts: plan.hosts.size,
    shrink: web.shrink,
    costs,
  }
}

async function costsOf(source: PlanSource, slots: number, clock: Clock): Promise<MachineCosts> {
  const { settings } = source
  const web = source.web({ wasBusy: false })
  return canBeBusy(web.hosts(), slots, settings)
    ? measureMachine(web.bytesPerPage, settings, { clock, cpuMs })
    : USUAL_COSTS
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/** The same crawl with other numbers of slots, fewest first. Left to choose, it stops where more have not helped twice. */
async function compare(
  { settings }: PlanSource,
  web: ReturnType<PlanSource['web']>,
  costs: MachineCosts,
  plan: Plan,
  asked: readonly number[] | undefined,
): Promise<Plan[]> {
  const wanted = [...new Set([...(asked ?? USUALLY_COMPARED), plan.slots])].sort((a, b) => a - b)
  const plans: Plan[] = []
  let useless = 0
  for (const slots of wanted) {
    const before = plans.at(-1)?.durationMs ?? Infinity
    if (asked === undefined && useless >= 2 && slots > plan.slots) break
    const next = slots === plan.slots ? plan : await runPlan({ settings, web, costs, slots })
    useless = next.durationMs > 0.99 * before ? useless + 1 : 0
    plans.push(next)
  }
  return plans
}

function jsonOf(report: PlanReport): unknown {
  const { source, assumptions, group, plan, plans, hosts, costs, chains, bound, enough, configured, tookMs, shrink } =
    report
  const { hosts: _hosts, slices, ...rest } = plan
  return {
    what: source.what,
    assumptions,
    configuredSlots: configured,
    plan: { ...rest, hosts, boundBy: bound, pagesInSlices: slices },
    longestHosts: chains,
    longestGroup: group ?? null,
    bySlots: plans.map(({ slots, durationMs, slotUse, machineUse }) => ({ slots, durationMs, slotUse, machineUse })),
    enoughSlots: enough ?? null,
    machine: costs,
    simulatedOneOf: shrink,
    tookMs: Math.round(tookMs),
  }
}
