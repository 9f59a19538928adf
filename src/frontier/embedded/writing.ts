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
import { isFinal, type HostRow } from '../storage.ts'
import type { Facts } from './facts.ts'
import {
  changesOf,
  createGeneration,
  dropRow,
  lookUp,
  type ChangedUrl,
  type Generation,
  type Generations,
} from './generation.ts'
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
  type LaneChange,
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

/** Does the next bit, and answers false when there is none left. */
type Step = () => boolean
/** Of what a closed generation has to write, one part: from its beginning, in steps. */
type Part = (frozen: Generation) => Step

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
  /** A step of the part that is being written, and the part behind it. */
  let step: Step | undefined
  let nextPart = 0

  const isFull = (young: Generation): boolean => changesOf(young) >= limits.changes || young.newUrls >= limits.newUrls

  const freeze = (): void => {
    const frozen = generations.young
    frozen.lastUrl = deps.lastUrl()
    frozen.lastLog = log.last
    generations.frozen = frozen
    generations.young = createGeneration()
    const bound = { log: frozen.lastLog, url: frozen.lastUrl }
    statement.saveMeta.run('bounds', JSON.stringify({ written, frozen: bound }))
    step = undefined
    nextPart = 0
  }

  const thaw = ({ lastLog, lastUrl }: Generation): void => {
    generations.frozen = undefined
    written = { log: lastLog, url: lastUrl }
    statement.saveMeta.run('bounds', JSON.stringify({ written }))
    deps.onWritten(lastUrl)
  }

  const isChanged = (id: number): boolean => lookUp(generations, 'urls', id) !== undefined

  const writeNewQueued: Part = ({ newLanes, lastUrl }) => {
    const lanes = sorted(newLanes)
    let nextLane = 0
    let lane = 0
    let entries: ReturnType<Orders['queues']['entries']> = []
    let next = 0
    return () => {
      while (next === entries.length) {
        if (nextLane === lanes.length) return false
        lane = lanes[nextLane] as number
        entries = orders.queues.entries(lane, written.url, lastUrl)
        nextLane += 1
        next = 0
      }
      const { id, rank, slot } = entries[next] as (typeof entries)[number]
      next += 1
      if (isChanged(id)) return true
      const url = { id, lane, slot, rank, state: 'queued', at: 0 } as const
      orders.enterTables(url)
      orders.stored(url)
      return true
    }
  }

  const writeNewHeld: Part = ({ newHeld }) =>
    oneByOne(
      sortedBy(newHeld, (each) => orders.held.keyOf(each) ?? 0),
      (id) => {
        if (isChanged(id)) return
        const place = statement.place.get(id) as unknown as Parameters<typeof placeOf>[0]
        const url = { ...placeOf(place), id }
        orders.enterTables(url)
        orders.stored(url)
      },
    )

  const writeOrders: Part = ({ urls }) =>
    oneByOne(
      sortedBy(urls.keys(), (each) => (urls.get(each) as ChangedUrl).lane),
      (id) => {
        const change = urls.get(id) as ChangedUrl
        leave(change.before ?? placeOf(statement.place.get(id) as unknown as Parameters<typeof placeOf>[0]), change)
        orders.enterTables(change)
      },
    )

  /** A URL that is done for good leaves its entry in the queue where it is: see marks.ts. */
  const leave = (before: Place, now: UrlChange): void => {
    const { id } = now
    const stays = before.slot === now.slot && before.rank === now.rank
    if (marks.isGone(id)) {
      // It may have come to wait since.
      if (before.state !== 'queued') orders.leaveTables({ ...before, id })
      if (stays && now.state !== 'queued') return
      orders.leaveTables({ ...before, id, state: 'queued' })
      marks.setGone(id, false)
    } else if (stays && before.state === 'queued' && isFinal(now.state)) marks.setGone(id, true)
    else orders.leaveTables({ ...before, id })
  }

  const writeMarks: Part = ({ urls, visits }) => {
    for (const rows of [urls, visits]) for (const id of rows.keys()) marks.setChanged(id)
    return oneByOne(marks.unstored(), marks.store)
  }

  const writeUrls: Part = ({ urls, visits }) =>
    oneByOne(sorted([...urls.keys(), ...[...visits.keys()].filter((id) => !urls.has(id))]), (id) => {
      const change = urls.get(id)
      const visit = visits.get(id)
      if (change === undefined) {
        if (visit !== undefined) statement.visit.run(id, ...visitValues(visit, visitOffsetMs))
      } else if (visit === undefined) statement.change.run(id, ...changeValues(change))
      else statement.both.run(id, ...changeValues(change), ...visitValues(visit, visitOffsetMs))
      if (change !== undefined && dropRow(generations, 'urls', id)) orders.stored(change)
      if (visit !== undefined && dropRow(generations, 'visits', id)) orders.visits.stored(id)
    })

  // A host or lane that has changed again since is in the log as a whole once more, behind the entries that are dropped
  // with this generation: it is written with the next one. Busy hosts are in every generation.
  const writeHosts: Part = ({ hosts }) =>
    oneByOne(sorted(hosts.keys()), (id) => {
      if (generations.young.hosts.has(id)) return
      statement.host.run(...hostValues(hosts.get(id) as HostRow), id)
      if (dropRow(generations, 'hosts', id)) orders.hosts.stored(id)
    })

  const writeLanes: Part = ({ lanes }) =>
    oneByOne(sorted(lanes.keys()), (id) => {
      if (generations.young.lanes.has(id)) return
      statement.lane.run(...laneValues(lanes.get(id) as LaneChange), id)
      dropRow(generations, 'lanes', id)
    })

  const writeDepths: Part = ({ depthBlocks }) => oneByOne(sorted(depthBlocks), facts.write)

  const parts: readonly Part[] = [
    writeNewQueued,
    writeNewHeld,
    writeOrders,
    writeMarks,
    writeUrls,
    writeHosts,
    writeLanes,
    writeDepths,
  ]

  const take = (most: number): void => {
    const { frozen } = generations
    if (frozen === undefined) return
    for (let taken = 0; taken < most; taken++) {
      if (step?.() === true) continue
      const part = parts[nextPart]
      if (part === undefined) return thaw(frozen)
      nextPart += 1
      step = part(frozen)
    }
  }

  return {
    work(changes) {
      log.drop(written.log)
      orders.tidy()
      if (generations.frozen === undefined && isFull(generations.young)) freeze()
      // Behind its time: twice as fast.
      const hurry = isFull(generations.young) ? 2 : 1
      take(hurry * (limits.steps + STEPS_FOR_CHANGE * changes))
    },
    finish() {
      take(Infinity)
      if (changesOf(generations.young) + generations.young.newUrls === 0) return
      freeze()
      take(Infinity)
    },
  }
}

/** One of these in each step. */
function oneByOne(numbers: ArrayLike<number>, write: (number: number) => void): Step {
  let next = 0
  return () => {
    if (next === numbers.length) return false
    write(numbers[next] as number)
    next += 1
    return true
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
  // The remainder, by hand: of numbers beyond 32 bits the operator takes much longer.
  return Array.from(keys, (key) => list[key - Math.floor(key / list.length) * list.length] as number)
}
