/**
 * Hosts by their due time, in the sixteen orders that storage.ts of the frontier names. A host that is lent stands in
 * none of them until it is given back; where it will stand then is kept up to date meanwhile.
 */
import { HOST_ORDERS, type DueHost, type HostOrder, type HostRow } from '../storage.ts'
import { createOrderWindow, type OrderTable, type OrderWindow, type WindowLimits } from './order-window.ts'
import type { Pair } from './ordered-pairs.ts'

export interface HostOrders {
  due(of: HostOrder, now: number, count: number): DueHost[]
  upcoming(of: HostOrder, now: number, count: number): DueHost[]
  /** The row changed. */
  set(row: Pick<HostRow, 'id' | 'order' | 'due'>): void
  /** The table has what was set. */
  stored(id: number): void
  lend(id: number): void
  giveBack(id: number): void
}

type Place = Pick<HostRow, 'order' | 'due'>

export function createHostOrders(
  table: Pick<OrderTable, 'isChanged'> & {
    /** Entries of one order behind this one. */
    read(of: HostOrder, behind: Pair, count: number): readonly Pair[]
  },
  limits?: WindowLimits,
): HostOrders {
  const windows: (OrderWindow | undefined)[] = Array.from({ length: HOST_ORDERS })
  /** Where those lent stand, as far as it is known; null when the table has them beyond a horizon, or not at all. */
  const lent = new Map<number, Place | null>()

  const windowOf = (of: HostOrder): OrderWindow => {
    windows[of] ??= createOrderWindow(
      {
        isChanged: table.isChanged,
        read: (behind, count) => table.read(of, behind, count),
        isKeptOut({ id, key }) {
          if (!lent.has(id)) return false
          lent.set(id, { order: of, due: key })
          return true
        },
      },
      limits,
    )
    return windows[of]
  }
  /** The order in whose window it stands; -1 for none. Few of the sixteen have anything in theirs. */
  const orderOfWindow = (id: number): number => {
    for (let order = 0; order < windows.length; order++) {
      const window = windows[order]
      if (window !== undefined && window.size > 0 && window.keyOf(id) !== undefined) return order
    }
    return -1
  }
  /** Takes it out of the window that it stands in; null when it stands in none. */
  const take = (id: number): Place | null => {
    for (let order = 0; order < windows.length; order++) {
      const window = windows[order]
      const due = window === undefined || window.size === 0 ? undefined : window.take(id)
      if (due !== undefined) return { order, due }
    }
    return null
  }
  const dueHosts = (pairs: readonly Pair[]): DueHost[] => pairs.map(({ key, id }) => ({ id, due: key }))

  return {
    due: (of, now, count) => dueHosts(windowOf(of).first(count, now)),
    upcoming: (of, now, count) => dueHosts(windowOf(of).after(count, now)),
    set({ id, order, due }) {
      if (lent.has(id)) return void lent.set(id, { order, due })
      take(id)
      if (due !== null) windowOf(order).set(id, due)
    },
    stored: (id) => windows[orderOfWindow(id)]?.stored(id),
    lend: (id) => void lent.set(id, take(id)),
    giveBack(id) {
      const known = lent.get(id)
      lent.delete(id)
      if (known != null && known.due !== null) windowOf(known.order).set(id, known.due)
    },
  }
}
