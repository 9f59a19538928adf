/**
 * The pattern on LevelDB: one key space with a letter before each key, one synced batch for each commit. A batch
 * cannot be read before it is written, so rows that it changes twice are kept at hand until then.
 */
import { join } from 'node:path'
import type { Engine, EngineOptions, Leased, NewUrl } from './engine.ts'
import { hostBytes, numberKey, readRow, rowBytes, rowWithReferrer, settledRow } from './keys.ts'

type Operation = { type: 'put'; key: Buffer; value: Buffer } | { type: 'del'; key: Buffer }
interface Level {
  open(): Promise<void>
  close(): Promise<void>
  getSync(key: Buffer): Buffer | undefined
  batch(operations: Operation[], options: { sync: boolean }): Promise<void>
  keys(range: { gte: Buffer; limit: number }): AsyncIterable<Buffer>
}
export interface LevelModule {
  ClassicLevel: new (path: string, options: Record<string, unknown>) => Level
}

const EMPTY = Buffer.alloc(0)

const key = (table: string, ...parts: readonly number[]): Buffer =>
  Buffer.concat([Buffer.from(table), numberKey(...parts)])

export async function openLevelEngine(module: LevelModule, { folder, durability }: EngineOptions): Promise<Engine> {
  const db = new module.ClassicLevel(join(folder, 'crawl'), {
    keyEncoding: 'buffer',
    valueEncoding: 'buffer',
    // What SQLite is allowed as well.
    cacheSize: 64 * 2 ** 20,
  })
  await db.open()
  const sync = durability === 'full'
  let operations: Operation[] = []
  const changed = new Map<number, Buffer>()
  const put = (where: Buffer, value: Buffer): void => void operations.push({ type: 'put', key: where, value })
  const urlRow = (id: number): Buffer => {
    const row = changed.get(id) ?? db.getSync(key('u', id))
    if (row === undefined) throw new Error(`row ${id} is missing`)
    return row
  }
  const putUrl = (id: number, row: Buffer): void => void changed.set(id, row)
  const insert = (item: NewUrl, recent: Map<string, number>): void => {
    putUrl(item.id, rowBytes(item))
    put(key('s', item.hi, item.lo), numberKey(item.id))
    put(key('q', item.lane, item.rank, item.id), EMPTY)
    recent.set(`${item.hi} ${item.lo}`, item.id)
  }
  const commit = async (): Promise<void> => {
    for (const [id, row] of changed) put(key('u', id), row)
    changed.clear()
    const batch = operations
    operations = []
    await db.batch(batch, { sync })
  }
  return {
    async seed(urls) {
      const recent = new Map<string, number>()
      for (const item of urls) {
        put(key('h', item.lane), hostBytes(item.lane, 0))
        put(key('d', item.lane, item.lane), EMPTY)
        put(key('l', item.lane), hostBytes(1, 0))
        insert(item, recent)
      }
      await commit()
    },
    async lease(count) {
      const leased: Leased[] = []
      for await (const entry of db.keys({ gte: key('d', 0, 0), limit: count })) {
        const hostId = entry.readUInt32BE(5)
        for await (const queued of db.keys({ gte: key('q', hostId, 0, 0), limit: 1 })) {
          const id = queued.readUInt32BE(9)
          leased.push({ row: readRow(urlRow(id), id), due: entry.readUInt32BE(1) })
        }
      }
      return leased
    },
    async settle(pages, counters) {
      const recent = new Map<string, number>()
      for (const page of pages) {
        const { row, at } = page
        putUrl(row.id, settledRow(urlRow(row.id), at))
        operations.push({ type: 'del', key: key('q', row.lane, row.rank, row.id) })
        put(key('h', row.lane), hostBytes(page.due, at))
        operations.push({ type: 'del', key: key('d', page.wasDue, row.lane) })
        put(key('d', page.due, row.lane), EMPTY)
        put(key('l', row.lane), hostBytes(row.id, 0))
        for (const { hi, lo, id } of page.known) {
          const found = recent.get(`${hi} ${lo}`) ?? db.getSync(key('s', hi, lo))?.readUInt32BE(0)
          if (found !== id) throw new Error(`lost ${id}`)
        }
        for (const id of page.referrers) putUrl(id, rowWithReferrer(urlRow(id)))
        for (const item of page.found) {
          if (db.getSync(key('s', item.hi, item.lo)) !== undefined) throw new Error(`twice ${item.id}`)
          insert(item, recent)
        }
      }
      put(key('m', 0), Buffer.from(counters))
      await commit()
    },
    close: () => db.close(),
  }
}
