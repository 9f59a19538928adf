/**
 * A file of the crawl, as far as it was committed. One that is shorter than that was tampered with, and nothing is made
 * of it.
 */
import { openSync } from 'node:fs'
import { fileLines, type FileLine } from '../base/index.ts'
import { TiptoeError } from '../model/index.ts'

export function* committedLines(path: string, end: number): Generator<FileLine> {
  const reached = yield* fileLines(path, end)
  if (reached < end) throw shortFile(path, reached, end)
}

export function openToRead(path: string, end: number): number {
  try {
    return openSync(path, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw shortFile(path, 0, end)
    throw error
  }
}

export function shortFile(path: string, present: number, committed: number): TiptoeError {
  return new TiptoeError('output', `${path} has ${present} bytes, but ${committed} were committed`, {
    hint: 'something was removed from it: put the file back, or crawl again with --fresh',
  })
}
