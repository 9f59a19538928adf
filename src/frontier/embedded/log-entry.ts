/**
 * One entry of the log: the rows that a commit changed, as a list of 64-bit floating point numbers in the byte order of
 * the machine, and the few texts among their values as JSON. Most values are numbers, and saying them in decimals is the
 * dearest part of a text.
 *
 * For each table there is a number of rows, then these one after the other. A text is its place among the texts, or -1
 * for none; a number that there is not is NaN. Times of visits are as the table keeps them, less the offset.
 */
import { TIERS, type HostKey } from '../../model/index.ts'
import { SLOTS, type HostRow, type VisitRow } from '../storage.ts'
import type { Generation, Touched } from './generation.ts'
import { STATES, type LaneChange, type UrlChange } from './rows.ts'

export interface LogEntry {
  readonly numbers: Uint8Array
  readonly texts: string
}

/** Numbers that there is room for at first. */
const FIRST_ROOM = 1_024
const NO_TEXT = -1

export interface EntryWriter {
  /** The rows that were touched, as the generation has them. What is returned is good until the next call. */
  write(touched: Touched, from: Generation): LogEntry
}

export function createEntryWriter(offsetMs: number): EntryWriter {
  let numbers = new Float64Array(FIRST_ROOM)
  let length = 0
  let texts: string[] = []

  const put = (value: number): void => {
    if (length === numbers.length) {
      const longer = new Float64Array(2 * length)
      longer.set(numbers)
      numbers = longer
    }
    numbers[length] = value
    length += 1
  }
  const putIfAny = (value: number | null): void => put(value ?? NaN)
  const putText = (text: string | null): void => {
    if (text === null) return put(NO_TEXT)
    put(texts.length)
    texts.push(text)
  }

  const putUrl = (row: UrlChange): void => {
    put(row.id)
    put(row.lane)
    put(SLOTS.indexOf(row.slot))
    put(row.depth)
    put(STATES.indexOf(row.state))
    put(row.rank)
    put(row.attempts)
    putText(row.reason)
    put(row.at)
  }
  const putVisit = (row: VisitRow): void => {
    put(row.id)
    putIfAny(row.dueAt === null ? null : row.dueAt - offsetMs)
    put(row.visits)
    put(row.changes)
    put(row.misses)
    put(row.firstAt - offsetMs)
    put(row.checkedAt - offsetMs)
    put(row.changedAt - offsetMs)
    put(row.changeShape)
    put(row.changeTimeMs)
    put(row.intervalMs)
    putText(row.hash)
    putText(row.etag)
    putText(row.lastModified)
  }
  const putHost = (row: HostRow): void => {
    put(row.id)
    putText(row.key)
    putIfAny(row.due)
    put(row.order)
    put(TIERS.indexOf(row.tier))
    put(row.pages)
    put(row.cash)
    put(row.credit)
    put(row.depth)
    put(row.changePages)
    put(row.changeRate)
    put(row.revisitRate)
    putIfAny(row.answeredAt)
    put(row.blockedUntil)
    putText(row.blockedReason)
    put(row.health.strikes)
    put(row.health.streak)
    put(row.health.streakSince)
    put(row.health.blockedAt)
    put(row.health.latencyMs)
    putText(row.address)
    putIfAny(row.closestMs)
  }
  const putLane = (row: LaneChange): void => {
    put(row.id)
    for (const slot of SLOTS) put(row.queued[slot])
    put(row.robotsNotBefore)
    put(row.robotsAttempts)
    put(row.robotsMoved ? 1 : 0)
  }
  const putAll = <T>({ ids }: Touched['urls'], rows: ReadonlyMap<number, T>, putRow: (row: T) => void): void => {
    put(ids.length)
    for (const id of ids) putRow(rows.get(id) as T)
  }

  return {
    write(touched, from) {
      length = 0
      texts = []
      putAll(touched.urls, from.urls, putUrl)
      putAll(touched.visits, from.visits, putVisit)
      putAll(touched.hosts, from.hosts, putHost)
      putAll(touched.lanes, from.lanes, putLane)
      return { numbers: new Uint8Array(numbers.buffer, 0, 8 * length), texts: JSON.stringify(texts) }
    },
  }
}

/** Lays the rows of an entry over a generation. */
export function readEntry(entry: LogEntry, into: Generation, offsetMs: number): void {
  const numbers = new Float64Array(entry.numbers.slice().buffer)
  const texts = JSON.parse(entry.texts) as readonly string[]
  let at = 0
  /**
   * V8 keeps a small whole number within its object, and any other in a box of 16 bytes. What comes out of a list of
   * floating point numbers is of the other sort whatever it is, and one such row makes boxes of that field in all later
   * rows of its kind.
   */
  const next = (): number => {
    const number = numbers[at++] as number
    const small = number | 0
    return Object.is(small, number) ? small : number
  }
  const nextIfAny = (): number | null => {
    const value = next()
    return Number.isNaN(value) ? null : value
  }
  const nextText = (): string | null => {
    const place = next()
    return place === NO_TEXT ? null : (texts[place] as string)
  }

  for (let left = next(); left > 0; left--) {
    const row: UrlChange = {
      id: next(),
      lane: next(),
      slot: SLOTS[next()] as UrlChange['slot'],
      depth: next(),
      state: STATES[next()] as UrlChange['state'],
      rank: next(),
      attempts: next(),
      reason: nextText(),
      at: next(),
    }
    into.urls.set(row.id, row)
  }
  for (let left = next(); left > 0; left--) {
    const [id, dueAt] = [next(), nextIfAny()]
    into.visits.set(id, {
      id,
      visits: next(),
      changes: next(),
      misses: next(),
      firstAt: next() + offsetMs,
      checkedAt: next() + offsetMs,
      changedAt: next() + offsetMs,
      changeShape: next(),
      changeTimeMs: next(),
      intervalMs: next(),
      dueAt: dueAt === null ? null : dueAt + offsetMs,
      hash: nextText(),
      etag: nextText(),
      lastModified: nextText(),
    })
  }
  for (let left = next(); left > 0; left--) {
    const row: HostRow = {
      id: next(),
      key: nextText() as HostKey,
      due: nextIfAny(),
      order: next(),
      tier: TIERS[next()] as HostRow['tier'],
      pages: next(),
      cash: next(),
      credit: next(),
      depth: next(),
      changePages: next(),
      changeRate: next(),
      revisitRate: next(),
      answeredAt: nextIfAny(),
      blockedUntil: next(),
      blockedReason: nextText(),
      health: {
        strikes: next(),
        streak: next(),
        streakSince: next(),
        blockedAt: next(),
        latencyMs: next(),
      },
      address: nextText(),
      closestMs: nextIfAny(),
    }
    into.hosts.set(row.id, row)
  }
  for (let left = next(); left > 0; left--) {
    const row: LaneChange = {
      id: next(),
      queued: { high: next(), medium: next(), low: next(), auto: next() },
      robotsNotBefore: next(),
      robotsAttempts: next(),
      robotsMoved: next() === 1,
    }
    into.lanes.set(row.id, row)
  }
}
