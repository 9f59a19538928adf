/**
 * Runs a command to its end or until it is told to stop, and says what it used, by GNU time: processor time and peak
 * memory as the kernel counts them for the process and its children. A program that hangs is stopped too, and its time
 * ends with its last sign of life.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from './contestant.ts'
import { unpackPackages } from './debian.ts'

export interface Used {
  readonly seconds: number
  readonly cpuSeconds: number
  readonly peakBytes: number
  /** How it ended: by itself, because there was enough of it, or because nothing came of it any more. */
  readonly end: 'ended' | 'stopped' | 'hung'
  /** Undefined when a signal ended it. */
  readonly exitCode: number | undefined
  /** The end of what it said, for when it fails. */
  readonly said: string
}

export interface Progress {
  /** Requests so far. */
  readonly requests: number
  readonly enough: boolean
}

export interface Stopwatch {
  /** Starts the command in an empty folder `out`, and asks now and then how it gets on. */
  time(command: Command, out: string, look: (seconds: number) => Progress): Promise<Used>
  /** Removes what all of them have written. */
  cleanUp(): void
}

/** Characters kept of what a program says. */
const SAID = 2_000
const LOOK_MS = 100
/** Neither a request nor processor time nor a wait for the disk for so long: it hangs. */
const HUNG_SECONDS = 6

/** `removes`: what a run has written is removed before the next one. */
export function createStopwatch(home: string, removes: boolean): Stopwatch {
  const unpacked = unpackPackages(join(home, 'time'), ['time'])
  if (typeof unpacked === 'string') throw new Error(`GNU time is needed: ${unpacked}`)
  const program = unpacked.path('usr/bin/time')
  const report = join(home, 'time.txt')
  const written = join(home, 'written')
  let runs = 0
  return {
    cleanUp: () => rmSync(written, { recursive: true, force: true }),
    async time(command, out, look) {
      // Put aside unless told: a file system that has just lost thousands of files takes ten times as long for each new one.
      mkdirSync(written, { recursive: true })
      if (removes) rmSync(out, { recursive: true, force: true })
      else if (existsSync(out)) renameSync(out, join(written, String(++runs)))
      mkdirSync(out, { recursive: true })
      rmSync(report, { force: true })
      const started = performance.now()
      const elapsed = (): number => (performance.now() - started) / 1_000
      const words = ['-q', '-o', report, '-f', '%U %S %M', command.program, ...command.words]
      const env = { ...process.env, ...command.env }
      const child = spawn(program, words, { cwd: out, env, stdio: ['ignore', 'pipe', 'pipe'] })
      let said = ''
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('latin1').on('data', (text: string) => (said = (said + text).slice(-SAID)))
      }
      let end = 'ended' as Used['end']
      let alive = { signs: '', seconds: 0 }
      const looking = setInterval(() => {
        if (end !== 'ended') return
        const seconds = elapsed()
        const { requests, enough } = look(seconds)
        const signs = `${requests} ${processorTicks(child.pid)}`
        if (signs !== alive.signs || waitsForDisk(child.pid)) alive = { signs, seconds }
        const hung = seconds - alive.seconds > HUNG_SECONDS
        if ((enough || hung) && killChildOf(child.pid)) end = hung ? 'hung' : 'stopped'
      }, LOOK_MS)
      const abandon = (): void => void killChildOf(child.pid)
      process.on('exit', abandon)
      const [code] = (await once(child, 'close')) as [number | null]
      process.off('exit', abandon)
      clearInterval(looking)
      const seconds = end === 'hung' ? alive.seconds : elapsed()
      const [user = 0, system = 0, kilobytes = 0] = readFileSync(report, 'utf8').trim().split(' ').map(Number)
      const exitCode = end === 'ended' ? (code ?? undefined) : undefined
      return { seconds, cpuSeconds: user + system, peakBytes: kilobytes * 1024, end, exitCode, said }
    },
  }
}

/** The command that GNU time runs; GNU time itself must live on to say what it has used. */
function childOf(pid: number | undefined): number | undefined {
  try {
    const child = Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0])
    return child > 0 ? child : undefined
  } catch {
    return undefined
  }
}

function killChildOf(pid: number | undefined): boolean {
  const child = childOf(pid)
  try {
    return child !== undefined && process.kill(child, 'SIGKILL')
  } catch {
    return false
  }
}

/** What the command has had of the processor, user and system, as the kernel writes it: fields 14 and 15 of its stat. */
function processorTicks(pid: number | undefined): string {
  return statFields(`/proc/${childOf(pid)}`)
    .slice(12, 14)
    .join(' ')
}

/** Whether one of its threads is in the state that the kernel calls D. */
function waitsForDisk(pid: number | undefined): boolean {
  const threads = `/proc/${childOf(pid)}/task`
  try {
    return readdirSync(threads).some((thread) => statFields(join(threads, thread))[1] === 'D')
  } catch {
    return false
  }
}

/** The name of a program is in brackets and may hold anything, so fields are counted from its end. */
function statFields(folder: string): string[] {
  try {
    const stat = readFileSync(join(folder, 'stat'), 'utf8')
    return stat.slice(stat.lastIndexOf(')')).split(' ')
  } catch {
    return []
  }
}
