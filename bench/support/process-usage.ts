/** What a running process uses, as the system has it in /proc: read from outside, so that it costs the process nothing. */
import { readFileSync } from 'node:fs'

export interface ProcessUsage {
  /** Of all its threads, since it began. */
  readonly cpuSeconds: number
  /** Of the thread that it began with. */
  readonly mainCpuSeconds: number
  /** How long that thread could have run but others had the processor; 0 where the system does not say. */
  readonly mainStarvedSeconds: number
  readonly rssBytes: number
}

/** The system counts CPU time in ticks of a hundredth of a second. */
const TICKS_PER_SECOND = 100
/** Fields of `stat` after the name of the program, which ends with the last parenthesis. */
const USER_TICKS = 11
const SYSTEM_TICKS = 12

export function usageOfProcess(pid: number): ProcessUsage {
  const rss = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return {
    cpuSeconds: cpuSecondsIn(`/proc/${pid}/stat`),
    mainCpuSeconds: cpuSecondsIn(`/proc/${pid}/task/${pid}/stat`),
    mainStarvedSeconds: starvedSeconds(`/proc/${pid}/task/${pid}/schedstat`),
    rssBytes: 1_024 * Number(rss ?? 0),
  }
}

function cpuSecondsIn(file: string): number {
  const stat = readFileSync(file, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[USER_TICKS]) + Number(fields[SYSTEM_TICKS])) / TICKS_PER_SECOND
}

/** Nanoseconds on a processor, nanoseconds in the queue for one, turns. */
function starvedSeconds(file: string): number {
  try {
    return Number(readFileSync(file, 'utf8').split(' ')[1]) / 1e9
  } catch {
    return 0
  }
}
