/**
 * What of a crawl is not in its tables yet, brought into memory: the generations from the log, and the places in the
 * orders that follow from them and from the youngest URLs. Takes time by how much that is, never by the size of the
 * crawl.
 */
import type { DatabaseSync } from 'node:sqlite'
import { createFacts, type Facts } from './facts.ts'
import {
  createGeneration,
  createGenerations,
  lookUp,
  markChanged,
  type Generation,
  type Generations,
} from './generation.ts'
import { createLog, readBounds, readLog, type Log } from './log.ts'
import { createMarks, type Marks } from './marks.ts'
import { createOrders, placeOf, type OrderLimits, type Orders } from './orders.ts'
import { createWriting, type Writing, type WritingLimits } from './writing.ts'

/** With four rows changed for each task, some 12,000 tasks; opening reads two generations at most. */
const LIMITS: WritingLimits = { changes: 49_152, newUrls: 32_768, steps: 8 }

export interface Changes {
  readonly generations: Generations
  readonly orders: Orders
  readonly facts: Facts
  readonly marks: Marks
  readonly log: Log
  readonly writing: Writing
  /** What is to be added to the stored times of visits. */
  readonly visitOffsetMs: number
  /** The youngest URL. */
  lastUrl: number
}

/** `limits` are other than usual where given. */
export function openChanges(
  db: DatabaseSync,
  limits?: { readonly writing: WritingLimits; readonly orders: OrderLimits },
): Changes {
  const visitOffsetMs = readVisitOffset(db)
  const bounds = readBounds(db)
  const generations = createGenerations()
  let written = bounds.written.url
  const marks = createMarks(db)
  const orders = createOrders(db, { generations, marks, visitOffsetMs, isNew: (id) => id > written }, limits?.orders)
  const facts = createFacts(db)
  const log = createLog(db, visitOffsetMs)
  const { last } = db.prepare('SELECT max(id) AS last FROM url').get() as { last: number | null }

  if (bounds.frozen !== undefined) {
    generations.frozen = { ...createGeneration(), lastLog: bounds.frozen.log, lastUrl: bounds.frozen.url }
    readLog(db, bounds.written.log, bounds.frozen.log, generations.frozen, visitOffsetMs)
    markChanged(generations, generations.frozen)
  }
  readLog(db, bounds.frozen?.log ?? bounds.written.log, Infinity, generations.young, visitOffsetMs)
  markChanged(generations, generations.young)
  placeChanged(generations.frozen)
  placeChanged(generations.young)
  placeNew()

  const changes: Changes = {
    generations,
    orders,
    facts,
    marks,
    log,
    visitOffsetMs,
    lastUrl: last ?? 0,
    writing: createWriting(db, limits?.writing ?? LIMITS, {
      generations,
      orders,
      facts,
      marks,
      log,
      visitOffsetMs,
      lastUrl: () => changes.lastUrl,
      onWritten: (url) => (written = url),
    }),
  }
  return changes

  function placeChanged(generation: Generation | undefined): void {
    if (generation === undefined) return
    for (const change of generation.urls.values()) {
      if (lookUp(generations, 'urls', change.id) === change) orders.enter(change)
      facts.setDepth(change.id, change.depth)
      generation.depthBlocks.add(facts.blockOf(change.id))
    }
    for (const row of generation.hosts.values()) orders.hosts.set(row)
  }

  function placeNew(): void {
    const rows = db.prepare('SELECT id, lane, slot, rank, state, 0 AS at FROM url WHERE id > ?').iterate(written)
    for (const row of rows as unknown as Iterable<Parameters<typeof placeOf>[0] & { id: number }>) {
      const { id } = row
      const { frozen, young } = generations
      const generation = frozen !== undefined && id <= frozen.lastUrl ? frozen : young
      generation.newUrls += 1
      if (lookUp(generations, 'urls', id) !== undefined) continue
      const url = { ...placeOf(row), id }
      orders.enter(url)
      if (url.state === 'queued') generation.newLanes.add(url.lane)
      else generation.newHeld.push(id)
    }
  }
}

/** Writes everything to the tables, in one transaction. */
export function writeChanges(db: DatabaseSync): void {
  const { writing } = openChanges(db)
  db.exec('BEGIN')
  try {
    writing.finish()
    db.exec('COMMIT')
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

/** Times of visits are stored less this, so that a clock that was set moves all of them at once. */
export function readVisitOffset(db: DatabaseSync): number {
  const row = db.prepare("SELECT value FROM meta WHERE key = 'visit_offset'").get() as { value: number } | undefined
  return row?.value ?? 0
}
