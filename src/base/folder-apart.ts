/**
 * Makes a folder for very many files in a part of the disk of its own, where the file system can be told to.
 *
 * ext4 puts files near their folder, and a folder near the one above it. Without a journal it does not use inodes again
 * that were freed in the last minutes, and passes over them one by one for each new file: where an earlier crawl was
 * removed a moment ago, a file takes 0.4 to 0.8 ms instead of 0.02. Below a folder that is marked as one of trees that
 * have nothing to do with each other (`chattr +T`), a new folder is placed by its name instead. So it is made there, under
 * a name of chance, and moved: its files are put where it was made. On any other file system it is a folder like others.
 */
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { Clock } from './clock.ts'
import { makeFolder } from './make-folder.ts'

const EXT4 = 0xef53
/** The program takes a millisecond; a machine that cannot run it in this time has other worries. */
const MARKING_MS = 1000

/** Places that are tried; one of them may be where something else was removed. */
const PLACES = 4
/** What their names begin with. */
const PLACE = 'folder-'

/** Like `makeFolder`. Nobody else may be making it, or anything in it, at the same time. */
export function makeFolderApart(path: string, { now }: Pick<Clock, 'now'>): void {
  const marked = `${path}.apart`
  removeMarked(marked)
  if (existsSync(path)) return
  const above = dirname(path)
  makeFolder(above)
  if (statfsSync(above).type === EXT4) {
    try {
      makeBelowMark(path, marked, now)
    } catch {
      // It cannot be had apart: its place is as good as any.
    }
    removeMarked(marked)
  }
  makeFolder(path)
}

/** `marked` must not be there. */
function makeBelowMark(path: string, marked: string, now: () => number): void {
  mkdirSync(marked)
  const { spawnSync } = process.getBuiltinModule('node:child_process')
  spawnSync('chattr', ['+T', marked], { stdio: 'ignore', timeout: MARKING_MS })
  const places = Array.from({ length: PLACES }, () => mkdtempSync(join(marked, PLACE)))
  const tookMs = new Map(places.map((folder) => [folder, fillingMs(folder, now)]))
  const best = places.reduce((one, other) => ((tookMs.get(one) ?? 0) <= (tookMs.get(other) ?? 0) ? one : other))
  chmodSync(best, statSync(marked).mode)
  renameSync(best, path)
}

/** Also what a crash has left of it. What is a link, or has something of somebody else in it, stays. */
function removeMarked(marked: string): void {
  if (lstatSync(marked, { throwIfNoEntry: false })?.isDirectory() !== true) return
  const names = readdirSync(marked)
  if (!names.every((name) => name.startsWith(PLACE))) return
  rmSync(marked, { recursive: true, force: true })
}

/** How long it takes to make something in the folder. */
function fillingMs(folder: string, now: () => number): number {
  const inside = join(folder, 'new')
  const begunAt = now()
  mkdirSync(inside)
  const tookMs = now() - begunAt
  rmdirSync(inside)
  return tookMs
}
