/**
 * The bare baseline: what is to be kept goes to the end of one file, with one sync for each commit. Nothing can be
 * looked up in it, so queues live in memory. No engine can be quicker and as safe.
 */
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Engine, EngineOptions, Leased, NewUrl, Row } from './engine.ts'
import { hostBytes, numberKey, rowBytes } from './keys.ts'

export function openAppendEngine({ folder, durability }: EngineOptions): Engine {
  const file = openSync(join(folder, 'log'), 'a')
  const queues = new Map<number, { rows: Row[]; next: number }>()
  const due: { lane: number; due: number }[] = []
  let nextDue = 0
  const queueOf = (lane: number): { rows: Row[]; next: number } => {
    const queue = queues.get(lane) ?? { rows: [], next: 0 }
    queues.set(lane, queue)
    return queue
  }
  const insert = (item: NewUrl): Buffer[] => {
    queueOf(item.lane).rows.push(item)
    return [numberKey(item.id), rowBytes(item), numberKey(item.hi, item.lo)]
  }
  const write = (parts: readonly Buffer[]): void => {
    writeSync(file, Buffer.concat(parts))
    if (durability === 'full') fdatasyncSync(file)
  }
  return {
    seed(urls) {
      for (const { lane } of urls) due.push({ lane, due: lane })
      write(urls.flatMap(insert))
    },
    lease(count) {
      const leased: Leased[] = []
      for (const entry of due.slice(nextDue, nextDue + count)) {
        const row = queueOf(entry.lane).rows[queueOf(entry.lane).next]
        if (row !== undefined) leased.push({ row, due: entry.due })
      }
      return leased
    },
    settle(pages, counters) {
      const parts: Buffer[] = [Buffer.from(counters)]
      for (const page of pages) {
        queueOf(page.row.lane).next += 1
        due.push({ lane: page.row.lane, due: page.due })
        nextDue += 1
        parts.push(numberKey(page.row.id), hostBytes(page.due, page.at), ...page.found.flatMap(insert))
        parts.push(...page.referrers.map((id) => numberKey(id)))
      }
      write(parts)
    },
    close: () => closeSync(file),
  }
}
