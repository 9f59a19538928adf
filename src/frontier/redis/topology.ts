/**
 * Which node of a cluster has which slot, as some node said last. A single server has every slot. What is stale here is
 * put right by the redirections of the nodes themselves; this only makes most requests go straight.
 */
import type { Reply } from './link.ts'
import { SLOTS } from './hash-slot.ts'
import { addressText, type StoreAddress } from './store-url.ts'

export interface NodePlace {
  readonly address: StoreAddress
  readonly primary: boolean
}

export interface SlotRange {
  readonly first: number
  readonly last: number
  /** The primary first. */
  readonly nodes: readonly StoreAddress[]
}

const MOST_RANGES = SLOTS
const MOST_REPLICAS = 64

/** Reads CLUSTER SLOTS. A node that does not know its own address leaves it out: then it is the one that was asked. */
export function readSlots(reply: Reply, asked: StoreAddress): SlotRange[] {
  if (!Array.isArray(reply)) return []
  return (reply as readonly Reply[]).slice(0, MOST_RANGES).flatMap((entry) => {
    if (!Array.isArray(entry)) return []
    const [first, last, ...nodes] = entry as readonly Reply[]
    if (!isSlot(first) || !isSlot(last)) return []
    const addresses = nodes.slice(0, MOST_REPLICAS).flatMap((node) => readNode(node, asked))
    return addresses.length === 0 ? [] : [{ first, last, nodes: addresses }]
  })
}

/** Reads the `host:port` of a redirection. An empty host is that of the node which sent it. */
export function readAddress(text: string, asked: StoreAddress): StoreAddress | undefined {
  const colon = text.lastIndexOf(':')
  const port = Number(text.slice(colon + 1))
  if (colon === -1 || !isPort(port)) return undefined
  const host = text.slice(0, colon).replace(/^\[(.*)\]$/, '$1')
  return { host: host === '' || host === '?' ? asked.host : host, port }
}

export interface SlotTable {
  /** Replaces what was known. */
  fill(ranges: readonly SlotRange[]): void
  /** One slot moved, said the node that had it. */
  move(slot: number, address: StoreAddress): void
  primaryOf(slot: number): StoreAddress | undefined
  /** Every node that was named, each once. */
  nodes(): readonly NodePlace[]
  readonly covered: number
}

export function createSlotTable(): SlotTable {
  let owners: (StoreAddress | undefined)[] = []
  let places = new Map<string, NodePlace>()
  let covered = 0
  return {
    fill(ranges) {
      owners = Array.from({ length: SLOTS }, () => undefined)
      places = new Map()
      covered = 0
      for (const { first, last, nodes } of ranges) {
        for (let slot = first; slot <= last; slot++) {
          if (owners[slot] === undefined) covered++
          owners[slot] = nodes[0]
        }
        for (const [index, address] of nodes.entries())
          places.set(addressText(address), { address, primary: index === 0 })
      }
    },
    move(slot, address) {
      if (!isSlot(slot)) return
      owners[slot] = address
      places.set(addressText(address), { address, primary: true })
    },
    primaryOf: (slot) => owners[slot],
    nodes: () => [...places.values()],
    get covered() {
      return covered
    },
  }
}

function readNode(node: Reply, asked: StoreAddress): StoreAddress[] {
  if (!Array.isArray(node)) return []
  const [host, port] = node as readonly Reply[]
  if (!isPort(port)) return []
  return [{ host: typeof host === 'string' && host !== '' && host !== '?' ? host : asked.host, port }]
}

const isSlot = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < SLOTS
const isPort = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value > 0 && value < 65_536
