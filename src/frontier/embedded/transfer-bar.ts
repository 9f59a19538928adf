/**
 * A crawl that must not be worked on, with the reason: it was moved to another home, or it is being moved here and not
 * all of it has come. The bar is part of the store, so whoever opens the crawl meets it, whichever way they come.
 */
import type { DatabaseSync } from 'node:sqlite'
import { TiptoeError } from '../../model/index.ts'

export interface Bar {
  readonly message: string
  readonly hint: string
  /** Names the move that it is for, so that the same one may go on. */
  readonly move?: string
  /** All has been moved: there is nothing to go on with. */
  readonly isOver?: boolean
}

const KEY = 'barred'

export function readBar(db: DatabaseSync): Bar | undefined {
  const row = db.prepare('SELECT value FROM meta WHERE key = ?').get(KEY) as { value: string } | undefined
  return row === undefined ? undefined : (JSON.parse(row.value) as Bar)
}

export function writeBar(db: DatabaseSync, bar: Bar): void {
  db.prepare('INSERT OR REPLACE INTO meta VALUES (?, ?)').run(KEY, JSON.stringify(bar))
}

export function liftBar(db: DatabaseSync): void {
  db.prepare('DELETE FROM meta WHERE key = ?').run(KEY)
}

export function refuseBarred(db: DatabaseSync): void {
  const bar = readBar(db)
  if (bar !== undefined) throw new TiptoeError('usage', bar.message, { hint: bar.hint })
}
