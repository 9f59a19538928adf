/**
 * Messages between partitions. A script writes them down with whatever causes them; whoever called it delivers them before
 * its verb is over. If that process dies, any other finds them undelivered. Each is taken once, however often it comes.
 * Delivered ones are kept for a while, for a partition whose server changed and may have lost what it took.
 */
import type { Chosen, Intake, IntakeBatch } from './intake.ts'
import { listOf } from './replies.ts'
import { loadScript } from './scripts.ts'
import type { Partition, Store } from './store.ts'

/** What one script call takes: entries, and characters of their bodies unless a single one has more. */
const ENTRIES_AT_ONCE = 64
const CHARACTERS_AT_ONCE = 100_000
/** Entries that are read at once. */
const READ_AT_ONCE = 256
/** How long an entry is kept after it was delivered: longer than writes can be lost by in a failover. */
const KEPT_MS = 30_000
/** What was sent this long ago and is not delivered has lost its sender. */
const ABANDONED_MS = 5_000

/** id, target, epoch, number, body. */
type Entry = readonly [string, number, string, number, string]

/** What a script's reply calls `sent`: entries, or nothing. */
export type Sent = unknown

type Message =
  | { readonly kind: 'found'; readonly urls: unknown }
  | { readonly kind: 'better'; readonly row: string; readonly referrers: number; readonly hour: number }
  | { readonly kind: 'shorter'; readonly url: string; readonly depth: number; readonly children: unknown }
  | { readonly kind: 'robots' | 'errand' }

export interface Outbox {
  /** Takes what a script's reply calls `sent` to its partitions, and what that leads to. */
  deliver(from: Partition, sent: Sent): Promise<void>
  /** The same for several at once: a partition that many of them write to is called once. */
  deliverMany(letters: readonly (readonly [from: Partition, sent: Sent])[]): Promise<void>
  /** Delivers what others left behind or, with 0, whatever is not delivered. */
  flush(from: Partition, sentBeforeMs?: number): Promise<void>
  /** Tells a partition again what it was told lately by all. */
  tellAgain(to: Partition): Promise<void>
}

const DELIVER = loadScript('deliver')
const ACK = loadScript('ack')
const READ = loadScript('outbox')

export function createOutbox({ store, intake }: { readonly store: Store; readonly intake: () => Intake }): Outbox {
  /** One entry with its messages as the script takes them. */
  const prepare = ({ from, entry, floor }: Letter, to: Partition, batch: IntakeBatch): unknown => {
    const [, , epoch, number, body] = entry
    const messages = listOf<Message>(JSON.parse(body)).map((message) => {
      switch (message.kind) {
        case 'found':
          return { kind: 'found', items: batch.items(chosenOf(message.urls, to)) }
        case 'shorter': {
          const children = listOf<string>(message.children)
          return { kind: 'found', items: batch.items(intake().fromChildren({ ...message, children })) }
        }
        case 'better': {
          const [item] = batch.items([intake().fromRow(message.row, message)])
          return { kind: 'better', items: item === undefined ? [] : [[...item.slice(0, 5), message.referrers]] }
        }
        case 'robots':
        case 'errand':
          return message
      }
    })
    return [from.index, epoch, number, messages, floor]
  }
  const chosenOf = (urls: unknown, to: Partition): Chosen[] =>
    listOf<readonly [string, number, number]>(urls).map(([row, times, modified]) =>
      intake().fromRow(row, { times, modifiedAt: to.times.toWorker(modified) }),
    )

  /** Answers false when something older has to be delivered first. */
  const take = async (to: Partition, letters: readonly Letter[]): Promise<boolean> => {
    for (;;) {
      const keys = to.keyList()
      const batch = intake().batch(to, keys)
      const entries = letters.map((letter) => prepare(letter, to, batch))
      const asked = { ...batch.tables(), call: intake().callName(), entries }
      const reply = await to.call(DELIVER, keys.names, asked)
      if (intake().isRefused(to, reply)) continue
      const { sent, behind } = reply as { readonly sent?: Sent; readonly behind?: boolean }
      await deliver(to, sent)
      await intake().split(to)
      return behind !== true
    }
  }

  /** In portions, in order. */
  const takeAll = async (to: Partition, letters: readonly Letter[]): Promise<boolean> => {
    for (const portion of portions(letters)) if (!(await take(to, portion))) return false
    return true
  }

  const acknowledge = async (letters: readonly Letter[]): Promise<void> => {
    await Promise.all(
      [...Map.groupBy(letters, ({ from }) => from)].map(([from, group]) =>
        from.call(ACK, from.keys.fixed, { ids: group.map(({ entry }) => entry[0]), keepMs: KEPT_MS }),
      ),
    )
  }

  const deliverAll = async (letters: readonly Letter[]): Promise<boolean> => {
    const all = await Promise.all(
      [...Map.groupBy(letters, ({ entry }) => entry[1])].map(async ([to, group]) => {
        const target = store.partitions[to]
        if (target === undefined) throw new Error(`there is no partition ${to}`)
        return takeAll(target, group)
      }),
    )
    if (all.includes(false)) return false
    await acknowledge(letters)
    return true
  }
  const mustDeliver = async (letters: readonly Letter[]): Promise<void> => {
    if (!(await deliverAll(letters))) throw new Error('messages between partitions cannot be delivered')
  }

  const deliverMany: Outbox['deliverMany'] = async (all) => {
    const letters = all.flatMap(([from, sent]) => listOf<Entry>(sent).map((entry) => ({ from, entry, floor: 0 })))
    if (letters.length === 0 || (await deliverAll(letters))) return
    // Older entries that their senders left behind stand in the way.
    for (const from of new Set(letters.map((letter) => letter.from))) await flush(from, 0)
    await mustDeliver(letters)
  }
  const deliver: Outbox['deliver'] = (from, sent) => deliverMany([[from, sent]])

  const flush: Outbox['flush'] = async (from, sentBeforeMs = ABANDONED_MS) => {
    for (;;) {
      const asked = { before: sentBeforeMs, most: READ_AT_ONCE }
      const { entries } = (await from.call(READ, from.keys.fixed, asked)) as { readonly entries: unknown }
      const list = listOf<Entry>(entries)
      if (list.length === 0) return
      // The oldest come first: whatever is older than they are was delivered.
      await mustDeliver(lettersOf(from, list))
      if (list.length < READ_AT_ONCE) return
    }
  }

  return {
    deliver,
    deliverMany,
    flush,
    async tellAgain(to) {
      await Promise.all(
        store.partitions.map(async (from) => {
          let after: string | undefined
          do {
            const asked = { to: to.index, most: READ_AT_ONCE, ...(after === undefined ? {} : { after }) }
            const reply = (await from.call(READ, from.keys.fixed, asked)) as { entries: unknown; after?: string }
            await takeAll(
              to,
              listOf<Entry>(reply.entries).map((entry) => ({ from, entry, floor: 0 })),
            )
            after = reply.after
          } while (after !== undefined)
        }),
      )
    },
  }
}

/** An entry on its way, with the smallest number of its kind that is not delivered; 0 when that is not known. */
interface Letter {
  readonly from: Partition
  readonly entry: Entry
  readonly floor: number
}

/** From what is not delivered, the oldest first. */
function lettersOf(from: Partition, entries: readonly Entry[]): Letter[] {
  const floors = new Map<string, number>()
  return entries.map((entry) => {
    const [, to, epoch, number] = entry
    const kind = `${to}:${epoch}`
    const floor = floors.get(kind) ?? number
    floors.set(kind, floor)
    return { from, entry, floor }
  })
}

function portions(letters: readonly Letter[]): Letter[][] {
  const all: Letter[][] = []
  let characters = Infinity
  for (const letter of letters) {
    const size = letter.entry[4].length
    const last = all.at(-1)
    if (last === undefined || last.length >= ENTRIES_AT_ONCE || characters + size > CHARACTERS_AT_ONCE) {
      all.push([letter])
      characters = size
    } else {
      last.push(letter)
      characters += size
    }
  }
  return all
}
