/**
 * The program as a user starts it: a process of its own, with real signals, pipes and files. What it printed and how
 * it ended is all that a test sees of it, beside the folder it leaves.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { LoopbackWeb } from './loopback-web.ts'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
export const LAUNCHER: string = join(root, 'bin', 'tiptoe.mjs')

/**
 * A Node on this machine that is too old for the program, so that its launcher must hand over; the one that runs the
 * tests where there is none.
 */
export function oldNode(): string {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'))
  for (const candidate of folders.map((folder) => join(folder, 'node')).filter((path) => existsSync(path))) {
    const [major = 0, minor = 0] = execFileSync(candidate, ['--version'], { encoding: 'utf8' })
      .slice(1)
      .split('.')
      .map(Number)
    if (major < 22 || (major === 22 && minor < 19)) return candidate
  }
  return process.execPath
}

export interface Ending {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface Program {
  readonly child: ChildProcess
  /** What it has printed so far. */
  readonly stdout: string
  readonly stderr: string
  readonly ended: Promise<Ending>
  /** Resolves when `condition` holds; rejects when the program ends before. */
  until(condition: () => boolean): Promise<void>
}

export interface StartOptions {
  /** The Node that runs it; the one that runs the tests unless given. */
  readonly node?: string
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  readonly input?: string
  /** Leave its input open, to type into. */
  readonly keepInput?: true
}

/** Settings that a test sets itself must not come from the machine that it runs on. */
function environment(extra: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(TIPTOE_|NODE_|VITEST|CI$|NO_COLOR$|FORCE_COLOR$|npm_)/.test(name),
  )
  return { ...Object.fromEntries(kept), ...extra }
}

export function startTiptoe(words: readonly string[], options: StartOptions = {}): Program {
  return startCommand(options.node ?? process.execPath, [LAUNCHER, ...words], options)
}

export function startCommand(command: string, words: readonly string[], options: StartOptions = {}): Program {
  const child = spawn(command, words, {
    env: environment(options.env),
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  })
  let stdout = ''
  let stderr = ''
  let over = false
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  // A program that does not read its input may be gone before it is written.
  child.stdin.on('error', () => {})
  if (options.keepInput !== true) child.stdin.end(options.input ?? '')
  const ended = new Promise<Ending>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      over = true
      resolve({ code, signal, stdout, stderr })
    })
  })
  return {
    child,
    get stdout() {
      return stdout
    },
    get stderr() {
      return stderr
    },
    ended,
    async until(condition) {
      while (!condition()) {
        if (over) throw new Error(`the program ended first, with: ${stderr}`)
        await nextMoment()
      }
    },
  }
}

export function runTiptoe(words: readonly string[], options: StartOptions = {}): Promise<Ending> {
  return startTiptoe(words, options).ended
}

/** Lets sockets and processes get on; for loops that wait for something to have happened. */
export function nextMoment(ms = 5): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** The flags by which the program finds the hosts of a loopback web. */
export function reach(...webs: readonly LoopbackWeb[]): string[] {
  return [
    '--allow-address',
    '127.0.0.0/8',
    ...webs.flatMap((web) => web.resolveFlags().flatMap((flag) => ['--resolve', flag])),
  ]
}

/** An empty folder, and how to remove it. */
export function temporaryFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'tiptoe-test-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}
