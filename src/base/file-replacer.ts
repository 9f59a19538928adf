/**
 * Writes files whole or not at all: beside their place, then moved there. Not synced.
 *
 * As long as the file system takes a file quickly, it is written at once: that goes to the memory of the system, and
 * trips to another thread for each step cost three times as much. Where it takes its time (a disk far away; ext4 while it
 * passes over the inodes of many files that were just removed), other threads wait for it, and a file now and then is
 * written at once to see whether that is over.
 */
import { rename, renameSync, rm, rmSync, writeFile, writeFileSync } from 'node:fs'
import type { Clock } from './clock.ts'

/** A file takes some 0.06 ms; from here on the trips are the lesser evil. */
const SLOW_MS = 0.2
/** Of the average, what the last file counts; and how much of its time, since one may wait for the disk. */
const WEIGHT = 1 / 8
const MOST_MS = 2 * SLOW_MS
/** Files that others wait for before one is tried again. */
const SLOW_FILES = 64

export type FileReplacer = (path: string, content: string | Uint8Array) => Promise<void>

export function createFileReplacer({ now }: Pick<Clock, 'now'>): FileReplacer {
  let averageMs = 0
  /** Of the files that others wait for. */
  let left = 0
  return async (path, content) => {
    if (left > 0) {
      left--
      return replaceElsewhere(path, content)
    }
    const begunAt = now()
    replaceAtOnce(path, content)
    const tookMs = Math.min(now() - begunAt, MOST_MS)
    averageMs = averageMs > SLOW_MS ? tookMs : averageMs + WEIGHT * (tookMs - averageMs)
    if (averageMs > SLOW_MS) left = SLOW_FILES
  }
}

/** A draft may be left by a crash, or be a link that somebody put there: nothing is written through one. */
const NEW = { flag: 'wx' } as const

function draftOf(path: string): string {
  return `${path}.part`
}

function replaceAtOnce(path: string, content: string | Uint8Array): void {
  const draft = draftOf(path)
  const bytes = typeof content === 'string' ? encoded(content) : content
  try {
    writeFileSync(draft, bytes, NEW)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    rmSync(draft, { force: true })
    writeFileSync(draft, bytes, NEW)
  }
  renameSync(draft, path)
}

/** Room for a text, used again for each: to be measured first and given memory of its own takes as long again. */
const room = Buffer.allocUnsafeSlow(512 * 1024)
/** A unit of UTF-16 has no more than so many bytes as UTF-8. */
const MOST_BYTES_OF_UNIT = 3

/** Good until the next call. */
function encoded(text: string): Uint8Array {
  if (text.length * MOST_BYTES_OF_UNIT > room.length) return Buffer.from(text)
  return room.subarray(0, room.write(text))
}

/** With callbacks, since a page for every file makes the cost of a promise at each step add up. */
function replaceElsewhere(path: string, content: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    const draft = draftOf(path)
    const done = (error: Error | null): void => (error === null ? resolve() : reject(error))
    const write = (isLast: boolean): void =>
      writeFile(draft, content, NEW, (error) => {
        if (error === null) return rename(draft, path, done)
        if (error.code !== 'EEXIST' || isLast) return reject(error)
        rm(draft, { force: true }, () => write(true))
      })
    write(false)
  })
}
