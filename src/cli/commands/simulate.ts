/**
 * `tiptoe simulate`: two jobs on the same simulated time. It plans a crawl, from a folder or from assumptions, or it
 * tests the crawler against a seeded web full of faults. Which of them is meant follows from the flags alone.
 */
import { TiptoeError } from '../../model/index.ts'
import type { SwitchName, Switches } from '../../config/index.ts'
import type { Invocation } from '../invocation.ts'
import { planCommand } from '../simulate/plan-command.ts'
import { testCommand } from '../simulate/test-command.ts'

/** Switches that choose to test the crawler, and those that only a plan has a use for. */
const TESTS: readonly SwitchName[] = ['seed', 'seeds', 'fleet']
const PLANS: readonly SwitchName[] = ['whole', 'pages', 'latency', 'size', 'config']
const FLEETS: readonly SwitchName[] = ['workers', 'hosts', 'nodes', 'sample']
/** What a fleet on a cluster can be told besides: assumptions of a plan, and options of a crawl. */
const CLUSTER_SWITCHES: ReadonlySet<SwitchName> = new Set(['pages', 'latency'])
const CLUSTER_OPTIONS: ReadonlySet<string> = new Set(['partitions', 'delay', 'concurrency'])

export async function simulateCommand(invocation: Invocation): Promise<number> {
  const { switches } = invocation.parsed
  const test = given(switches, TESTS)
  if (test === undefined) return planCommand(invocation)
  refuseMixture(invocation, test)
  return testCommand(invocation)
}

function refuseMixture({ parsed }: Invocation, test: SwitchName): void {
  const { switches, flags, operands } = parsed
  const asTest = `--${test} tests the crawler itself`
  const [operand] = operands
  if (operand !== undefined) throw mixed(`${asTest}, and takes no ${JSON.stringify(operand)}`)
  const isCluster = switches.fleet === true && flags.partitions !== undefined
  const plan = given(
    switches,
    PLANS.filter((name) => !isCluster || !CLUSTER_SWITCHES.has(name)),
  )
  if (plan !== undefined) throw mixed(`${asTest}, and --${plan} plans a crawl`)
  const option = Object.keys(flags).find((name) => !isCluster || !CLUSTER_OPTIONS.has(name))
  if (option !== undefined) throw mixed(`${asTest}, and takes no options of a crawl, such as ${option}`)
  if (switches.fleet === true) {
    if (switches.seeds !== undefined) throw mixed('--fleet is one run, and --seeds asks for many')
    return
  }
  const fleet = given(switches, FLEETS)
  if (fleet !== undefined) throw mixed(`--${fleet} goes with --fleet or with a plan, not with --${test}`)
}

function given(switches: Switches, names: readonly SwitchName[]): SwitchName | undefined {
  return names.find((name) => switches[name] !== undefined)
}

function mixed(message: string): TiptoeError {
  return new TiptoeError('usage', message, { hint: 'tiptoe help simulate shows what goes together' })
}
