/**
 * Ctrl-C and its kin. The first lets what runs end, the second aborts it, the third leaves at once. Nothing recorded
 * is lost in any of them: what was not settled is still queued when the crawl is opened again.
 */
import { formatDuration } from '../base/index.ts'
import type { Crawl } from '../engine/index.ts'
import { EXIT } from './exit-code.ts'
import type { Terminal } from './terminal.ts'

/** After the second signal the process is gone by then, whatever hangs. */
const ABORT_MS = 4_500

export interface Signals {
  /** Of the first signal received; undefined when there was none. */
  readonly exitCode: number | undefined
  /** Stops listening. */
  release(): void
}

export function listenForSignals(
  crawl: Pick<Crawl, 'stop' | 'abort'>,
  { drainMs, resumeCommand }: { readonly drainMs: number; readonly resumeCommand: string },
  terminal: Terminal,
): Signals {
  let received = 0
  let exitCode: number | undefined
  let deadline: NodeJS.Timeout | undefined
  const leave = (): never => {
    terminal.done()
    terminal.report([resumeCommand], { evenQuiet: true })
    return process.exit(exitCode)
  }
  const listener = (signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP'): void => {
    received += 1
    exitCode ??= signal === 'SIGINT' ? EXIT.interrupt : EXIT.terminate
    if (received === 1) {
      terminal.note(`stopping: what runs may end within ${formatDuration(drainMs)}; once more to abort it`)
      crawl.stop()
    } else if (received === 2) {
      terminal.note('aborting what still runs; once more to leave at once')
      crawl.stop()
      crawl.abort()
      deadline = setTimeout(leave, ABORT_MS) // real time: the last resort depends on nothing
    } else leave()
  }
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const name of names) process.on(name, listener)
  return {
    get exitCode() {
      return exitCode
    },
    release() {
      clearTimeout(deadline)
      for (const name of names) process.removeListener(name, listener)
    },
  }
}
