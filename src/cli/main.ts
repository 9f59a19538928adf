/** The command line: finds the command, runs it, and turns whatever comes of it into words and an exit code. */
import { VERSION } from '../base/index.ts'
import { helpText, parseArguments, type CommandName, type ParsedArguments } from '../config/index.ts'
import { TiptoeError } from '../model/index.ts'
import { EXIT, exitCodeOf } from './exit-code.ts'
import type { Invocation } from './invocation.ts'
import { createTerminal, type Terminal } from './terminal.ts'

type Command = (invocation: Invocation) => Promise<number>

/** Each is read when it is wanted: nobody else waits for it. */
const COMMANDS: Record<Exclude<CommandName, 'help'>, () => Promise<Command>> = {
  crawl: async () => (await import('./commands/crawl.ts')).crawlCommand,
  seed: async () => (await import('./commands/seed.ts')).seedCommand,
  worker: async () => (await import('./commands/worker.ts')).workerCommand,
  coordinator: async () => (await import('./commands/coordinator.ts')).coordinatorCommand,
  status: async () => (await import('./commands/status.ts')).statusCommand,
  why: async () => (await import('./commands/why.ts')).whyCommand,
  audit: async () => (await import('./commands/audit.ts')).auditCommand,
  migrate: async () => (await import('./commands/migrate.ts')).migrateCommand,
  export: async () => (await import('./commands/export.ts')).exportCommand,
  robots: async () => (await import('./commands/robots.ts')).robotsCommand,
  fetch: async () => (await import('./commands/fetch.ts')).fetchCommand,
  config: async () => (await import('./commands/config.ts')).configCommand,
  simulate: async () => (await import('./commands/simulate.ts')).simulateCommand,
  doctor: async () => (await import('./commands/doctor.ts')).doctorCommand,
  demo: async () => (await import('./commands/demo.ts')).demoCommand,
}

/** Runs one invocation and ends the process with its exit code. */
export async function main(words: readonly string[]): Promise<void> {
  // Should the process ever run out of things to wait for before the command has ended, that is no success.
  process.exitCode = EXIT.environment
  const code = await run(words)
  // A write to stdout that failed is reported a moment later, and ends the process with its own code.
  await nextTurn()
  process.exit(code)
}

async function run(words: readonly string[]): Promise<number> {
  let parsed: ParsedArguments
  try {
    parsed = parseArguments(words)
  } catch (error) {
    return complain(error, openTerminal({}))
  }
  const terminal = openTerminal(parsed.switches)
  try {
    const { command, switches } = parsed
    if (switches.version === true) {
      terminal.data(VERSION)
      return EXIT.done
    }
    if (command === 'help' || switches.help === true) {
      terminal.data(helpText(command === 'help' ? (parsed.operands[0] as CommandName | undefined) : command))
      return EXIT.done
    }
    const run = await COMMANDS[command]()
    return await run({ words, parsed, terminal, env: process.env, version: VERSION })
  } catch (error) {
    return complain(error, terminal)
  } finally {
    terminal.done()
    await terminal.drained()
  }
}

/** Resolves after everything that is already on its way, a failed write's error among it. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve))
}

function openTerminal(switches: ParsedArguments['switches']): Terminal {
  const terminal = createTerminal({
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    quiet: switches.quiet === true,
    verbose: switches.verbose === true,
    json: switches.json === true,
    onClosed: (error) => process.exit(error === undefined ? EXIT.done : complain(error, terminal)),
  })
  return terminal
}

/** A TiptoeError says what happened and what to do; anything else is a bug, and says where. */
function complain(error: unknown, terminal: Terminal): number {
  terminal.done()
  if (error instanceof TiptoeError) terminal.error(error.message, error.hint)
  else {
    const words = error instanceof Error ? (error.stack ?? error.message) : String(error)
    terminal.error(
      `this is a bug in tiptoe: ${words}`,
      'nothing recorded is lost; please report it with the lines above',
    )
  }
  return exitCodeOf(error)
}
