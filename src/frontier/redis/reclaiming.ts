/**
 * What is done in a partition before anything is granted: leases that ran out are taken back, retries and visits whose
 * time has come are queued. Whoever asks for leases does it, and whoever tends.
 */
import { hostKey, originOf } from '../../url/index.ts'
import type { Origin } from '../../model/index.ts'
import type { Slot } from '../storage.ts'
import type { HeldLeases } from './held-leases.ts'
import { readLook, type Look, type LookAsked } from './look.ts'
import { listOf } from './replies.ts'
import { readRow } from './row.ts'
import { loadScript } from './scripts.ts'
import type { Store } from './store.ts'
import type { Visits } from './visits.ts'

const RECLAIM = loadScript('reclaim')
/** Portions of one partition in one go. */
const MOST_PORTIONS = 16

export interface Reclaiming {
  /** Does what the look shows to be due, and looks again; the same look where there was nothing. */
  tidy(look: Look, asked: LookAsked): Promise<Look>
  /** Until when visits are made now, by the server's time. */
  visitsUntil(look: Look): number
}

export function createReclaiming(store: Store, visits: Visits, held: HeldLeases): Reclaiming {
  const { mode } = store.settings.recrawl
  /** Visits that are due until then are made; those due later, by whoever opens the crawl then. */
  const openedAt = store.clock.now()
  const visitsUntil = ({ now, partition }: Look): number =>
    mode === 'off' ? -Infinity : mode === 'once' ? partition.times.toServer(openedAt) : now

  const reclaim = async (look: Look, asked: LookAsked): Promise<Look> => {
    const { partition } = look
    const keys = partition.keyList()
    const expired = look.expired.map(([fence, lists]) => [
      fence,
      listOf<readonly [Origin, Slot, number]>(lists).map((list) => keys.at(partition.keys.queue(...list))),
    ])
    const retries = look.retries.map((text) => {
      const { url, slot, rank } = readRow(text)
      const [host, origin] = [hostKey(url), originOf(url)]
      const list = keys.at(partition.keys.queue(origin, slot, rank))
      return [text, host, origin, slot, rank, list, store.policyFor(host)]
    })
    const reply = await partition.call(RECLAIM, keys.names, { expired, retries, look: asked })
    for (const [fence] of look.expired) held.ranOut(Number(fence))
    return readLook(partition, reply, asked.count)
  }

  return {
    visitsUntil,
    async tidy(first, asked) {
      let look = first
      for (let portion = 0; portion < MOST_PORTIONS; portion++) {
        const isVisitDue = look.visit !== undefined && look.visit <= visitsUntil(look)
        if (look.expired.length === 0 && look.retries.length === 0 && !isVisitDue) return look
        if (isVisitDue) await visits.promote(look.partition, visitsUntil(look))
        look = await reclaim(look, asked)
      }
      return look
    },
  }
}
