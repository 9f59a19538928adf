/** A command as a test runs it: in this process, with its words parsed as typed and its streams caught. */
import { PassThrough } from 'node:stream'
import { parseArguments, type CommandName } from '../../config/index.ts'
import { auditCommand } from '../commands/audit.ts'
import { configCommand } from '../commands/config.ts'
import { coordinatorCommand } from '../commands/coordinator.ts'
import { crawlCommand } from '../commands/crawl.ts'
import { demoCommand } from '../commands/demo.ts'
import { doctorCommand } from '../commands/doctor.ts'
import { exportCommand } from '../commands/export.ts'
import { fetchCommand } from '../commands/fetch.ts'
import { migrateCommand } from '../commands/migrate.ts'
import { robotsCommand } from '../commands/robots.ts'
import { seedCommand } from '../commands/seed.ts'
import { simulateCommand } from '../commands/simulate.ts'
import { statusCommand } from '../commands/status.ts'
import { whyCommand } from '../commands/why.ts'
import { workerCommand } from '../commands/worker.ts'
import type { LoopbackWeb } from '../demo/index.ts'
import type { FleetDeps } from '../fleet-place.ts'
import type { Invocation } from '../invocation.ts'
import { createTerminal } from '../terminal.ts'

const COMMANDS: Record<Exclude<CommandName, 'help'>, (invocation: Invocation, deps: FleetDeps) => Promise<number>> = {
  crawl: crawlCommand,
  seed: seedCommand,
  worker: workerCommand,
  coordinator: coordinatorCommand,
  status: statusCommand,
  why: whyCommand,
  audit: auditCommand,
  migrate: migrateCommand,
  export: exportCommand,
  robots: robotsCommand,
  fetch: fetchCommand,
  config: configCommand,
  simulate: simulateCommand,
  doctor: (invocation) => doctorCommand(invocation, async () => ({ address: '192.0.2.1' })),
  demo: demoCommand,
}

export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
  /** Standard output as JSON. */
  json(): Record<string, never>
}

/** Rejects with what the command throws. */
export async function runCommand(
  words: readonly string[],
  env: Record<string, string> = {},
  deps: FleetDeps = {},
): Promise<Ran> {
  const parsed = parseArguments(words)
  if (parsed.command === 'help') throw new Error('help is not a command of its own')
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const { json = false, quiet = false, verbose = false } = parsed.switches
  const terminal = createTerminal({ stdout, stderr, env, quiet, verbose, json })
  const text = (stream: PassThrough): string => String((stream.read() as Buffer | null) ?? '')
  const code = await COMMANDS[parsed.command]({ words, parsed, terminal, env, version: '0.0.0' }, deps)
  const printed = text(stdout)
  return { code, stdout: printed, stderr: text(stderr), json: () => JSON.parse(printed) as Record<string, never> }
}

/** The flags that lead a command to a loopback web. */
export function flagsFor(web: LoopbackWeb): string[] {
  return [...web.resolveFlags().flatMap((flag) => ['--resolve', flag]), '--allow-address', '127.0.0.0/8']
}
