/**
 * Write-behind: changed rows are durable in the log, and come to their tables later, in order of their keys, so that a
 * page of the file is written once for many of them. When enough has changed, the generation is closed and the next one
 * opened; the closed one is written in steps, a few in each transaction, so that no verb waits for all of it.
 *
 * It keeps true that all of this can be done again from the beginning: after a crash the generations are as they were,
 * and writing starts over. Therefore orders are put right before the rows that say where an entry was before. Log
 * entries are dropped, and new URLs counted as written, when the last step is done.
 */
import type { DatabaseSync } from 'node:sqlite'
import { isFinal } from '../storage.ts'
import type { Facts } from './facts.ts'
import { changesOf, createGeneration, type Generation, type Generations } from './generation.ts'
import { readBounds, type Log } from './log.ts'
import type { Marks } from './marks.ts'
import { placeOf, type Orders } from './orders.ts'
import {
  changeValues,
  hostValues,
  laneValues,
  SAVE_BOTH,
  SAVE_CHANGE,
  SAVE_VISIT,
  UPDATE_HOST,
  UPDATE_LANE,
  visitValues,
  type Place,
  type UrlChange,
} from './rows.ts'

export interface WritingLimits {
  /** Changed rows, and new URLs, that close a generation. */
  readonly changes: number
  readonly newUrls: number
  /** Steps in each transaction, beside two for each row that changed in it. */
  readonly steps: number
}

/** A change of a URL takes up to two steps, any other one. */
const STEPS_FOR_CHANGE = 2

export interface Writing {
  /** Some steps, for so many rows that changed since the last time. */
  work(changes: number): void
  /** All steps there are. */
  finish(): void
}

export interface WritingDeps {
  readonly generations: Generations
  readonly orders: Orders
  readonly facts: Facts
  readonly marks: Marks
  readonly log: Log
  readonly visitOffsetMs: number
  /** The youngest URL. */
  lastUrl(): number
  /** Told up to which URL the tables have everything. */
  onWritten(url: number): void
}

export function createWriting(db: DatabaseSync, limits: WritingLimits, deps: WritingDeps): Writing {
  const { generations, orders, facts, marks, log, visitOffsetMs } = deps
  const statement = {
    place: db.prepare(
      `SELECT lane, coalesce(state.slot, url.slot) AS slot, coalesce(state.rank, url.rank) AS rank,
         coalesce(state.state, url.state) AS state, coalesce(at, 0) AS at
       FROM url LEFT JOIN state ON state.id = url.id WHERE url.id = ?`,
    ),
    change: db.prepare(SAVE_CHANGE),
    visit: db.prepare(SAVE_VISIT),
    both: db.prepare(SAVE_BOTH),
    host: db.prepare(UPDATE_HOST),
    lane: db.prepare(UPDATE_LANE),
    saveMeta: db.prepare('INSERT OR REPLACE INTO meta VALUES (?, ?)'),
  }
  let { written } = readBounds(db)
  let steps = generations.frozen === undefined ? undefined : write(generations.frozen)

  const isFull = (young: Generation): boolean => changesOf(young) >= limits.changes || young.newUrls >= limits.newUrls

  const freeze = (): Generator<void, void> => {
    const frozen = generations.young
    frozen.lastUrl = deps.lastUrl()
    frozen.lastLog = log.last
    generations.frozen = frozen
    generations.young = createGeneration()
    const bound = { log: frozen.lastLog, url: frozen.lastUrl }
    statement.saveMeta.run('bounds', JSON.stringify({ written, frozen: bound }))
    return write(frozen)
  }

  const thaw = ({ lastLog, lastUrl }: Generation): void => {
    generations.frozen = undefined
    written = { log: lastLog, url: lastUrl }
    statement.saveMeta.run('bounds', JSON.stringify({ written }))
    deps.onWritten(lastUrl)
  }

  function* write(frozen: Generation): Generator<void, void> {
    yield* writeNewQueued(frozen)
    yield* writeNewHeld(frozen)
    yield* writeOrders(frozen)
    yield* writeMarks(frozen)
    yield* writeUrls(frozen)
    yield* writeHosts(frozen)
    yield* writeLanes(frozen)
    for (const block of sorted(frozen.depthBlocks)) {
      facts.write(block)
      yield
    }
  }

  const isChanged = (id: number): boolean => generations.young.urls.has(id) || generations.frozen?.urls.has(id) === true

  function* writeNewQueued({ newLanes, lastUrl }: Generation): Generator<void, void> {
    for (const lane of sorted(newLanes)) {
      for (const { id, rank, slot } of orders.queues.entries(lane, written.url, lastUrl)) {
        if (isChanged(id)) continue
        const url = { id, lane, slot, rank, state: 'queued', at: 0 } as const
        orders.enterTables(url)
        orders.stored(url)
        yield
      }
    }
  }

  function* writeNewHeld({ newHeld }: Generation): Generator<void, void> {
    for (const id of sortedBy(newHeld, (each) => orders.held.keyOf(each) ?? 0)) {
      if (isChanged(id)) continue
      const place = statement.place.get(id) as unknown as Parameters<typeof placeOf>[0]
      const url = { ...placeOf(place), id }
      orders.enterTables(url)
      orders.stored(url)
      yield
    }
  }

  function* writeOrders({ urls, places }: Generation): Generator<void, void> {
    for (const id of sortedBy(urls.keys(), (each) => (urls.get(each) as UrlChange).lane)) {
      const before = places.get(id) ?? placeOf(statement.place.get(id) as unknown as Parameters<typeof placeOf>[0])
      const change = urls.get(id) as UrlChange
      leave({ ...before, id }, change)
      orders.enterTables(change)
      yield
    }
  }

  /** A URL that is done for good leaves its entry in the queue where it is: see marks.ts. */
  const leave = (before: Place & { readonly id: number }, now: UrlChange): void => {
    const stays = before.slot === now.slot && before.rank === now.rank
    if (marks.isGone(before.id)) {
      if (stays && now.state !== 'queued') return
      orders.leaveTables({ ...before, state: 'queued' })
      marks.setGone(before.id, false)
    } else if (stays && before.state === 'queued' && isFinal(now.state)) marks.setGone(before.id, true)
    else orders.leaveTables(before)
  }

  function* writeMarks({ urls, visits }: Generation): Generator<void, void> {
    for (const rows of [urls, visits]) for (const id of rows.keys()) marks.setChanged(id)
    for (const block of marks.unstored()) {
      marks.store(block)
      yield
    }
  }

  function* writeUrls({ urls, visits }: Generation): Generator<void, void> {
    for (const id of sorted(new Set([...urls.keys(), ...visits.keys()]))) {
      const change = urls.get(id)
      const visit = visits.get(id)
      const values = [
        ...(change === undefined ? [] : changeValues(change)),
        ...(visit === undefined ? [] : visitValues(visit, visitOffsetMs)),
      ]
      const save = change === undefined ? statement.visit : visit === undefined ? statement.change : statement.both
      save.run(id, ...values)
      urls.delete(id)
      visits.delete(id)
      if (change !== undefined && !generations.young.urls.has(id)) orders.stored(change)
      if (visit !== undefined && !generations.young.visits.has(id)) orders.visits.stored(id)
      yield
    }
  }

  function* writeHosts({ hosts }: Generation): Generator<void, void> {
    for (const id of sorted(hosts.keys())) {
      const row = hosts.get(id)
      if (row !== undefined) statement.host.run(...hostValues(row), id)
      hosts.delete(id)
      if (!generations.young.hosts.has(id)) orders.hosts.stored(id)
      yield
    }
  }

  function* writeLanes({ lanes }: Generation): Generator<void, void> {
    for (const id of sorted(lanes.keys())) {
      const row = lanes.get(id)
      if (row !== undefined) statement.lane.run(...laneValues(row), id)
      lanes.delete(id)
      yield
    }
  }

  const take = (most: number): void => {
    if (steps === undefined || generations.frozen === undefined) return
    for (let taken = 0; taken < most; taken++) {
      if (steps.next().done !== true) continue
      steps = undefined
      return thaw(generations.frozen)
    }
  }

  return {
    work(changes) {
      log.drop(written.log)
      orders.tidy()
      if (steps === undefined && isFull(generations.young)) steps = freeze()
      // Behind its time: twice as fast.
      const hurry = isFull(generations.young) ? 2 : 1
      take(hurry * (limits.steps + STEPS_FOR_CHANGE * changes))
    },
    finish() {
      take(Infinity)
      if (changesOf(generations.young) + generations.young.newUrls === 0) return
      steps = freeze()
      take(Infinity)
    },
  }
}

/** Whole numbers in order; typed arrays sort them without calling back. */
function sorted(numbers: Iterable<number>): Float64Array {
  return Float64Array.from(numbers).sort()
}

/** Ids in order of a whole number each, those of the same number as they come. */
function sortedBy(ids: Iterable<number>, keyOf: (id: number) => number): number[] {
  const list = [...ids]
  const keys = Float64Array.from(list, (id, index) => keyOf(id) * list.length + index).sort()
  return Array.from(keys, (key) => list[key % list.length] as number)
}
