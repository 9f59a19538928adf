/** What a process and a folder take up. */
import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

export interface Memory {
  readonly rssBytes: number
  /** The most since the process began. */
  readonly peakBytes: number
  /** Of which objects, those that may be garbage among them, and buffers; the rest is code, stacks and native memory. */
  readonly heapBytes: number
  readonly bufferBytes: number
}

export function memoryOfProcess(): Memory {
  const { rss, heapTotal, arrayBuffers } = process.memoryUsage()
  const peakBytes = Math.max(rss, process.resourceUsage().maxRSS * 1024)
  return { rssBytes: rss, peakBytes, heapBytes: heapTotal, bufferBytes: arrayBuffers }
}

/** What the files take on the disk, those in folders below among them: a file may have holes. */
export function diskBytes(folder: string): number {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => lstatSync(join(folder, name)))
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + entry.blocks * 512, 0)
}
