/**
 * The files of page records, to be read at any place. As many are open at once as a system surely allows, however many
 * workers there were.
 */
import { closeSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { createLru } from '../base/index.ts'
import type { TiptoeError } from '../model/index.ts'
import { RECORD_FILES } from '../sink/index.ts'
import { openToRead, shortFile } from './committed-file.ts'
import type { ExportSource } from './source.ts'

const OPEN_FILES = 64

export interface RecordFiles {
  /** `folder` is the place of one among those of the source. */
  read(folder: number, start: number, length: number): Buffer
  /** What to throw when what was read there is not what was there before. */
  damaged(folder: number, start: number): TiptoeError
  close(): void
}

export function openRecordFiles({ folders }: ExportSource): RecordFiles {
  const open = createLru<number, number>(OPEN_FILES, (_folder, descriptor) => closeSync(descriptor))
  const fileOf = (folder: number): { path: string; end: number } => {
    const { path = '', output = {} } = folders[folder] ?? {}
    return { path: join(path, RECORD_FILES.page), end: output[RECORD_FILES.page] ?? 0 }
  }
  const descriptorOf = (folder: number): number => {
    const known = open.get(folder)
    if (known !== undefined) return known
    const { path, end } = fileOf(folder)
    const descriptor = openToRead(path, end)
    open.set(folder, descriptor)
    return descriptor
  }
  const damaged = (folder: number, start: number): TiptoeError => {
    const { path, end } = fileOf(folder)
    return shortFile(path, start, end)
  }
  return {
    read(folder, start, length) {
      const bytes = Buffer.allocUnsafe(length)
      if (readSync(descriptorOf(folder), bytes, 0, length, start) < length) throw damaged(folder, start)
      return bytes
    },
    damaged,
    close() {
      while (open.size > 0) open.dropOldest()
    },
  }
}
