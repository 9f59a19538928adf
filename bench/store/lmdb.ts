/** The pattern on LMDB: one B-tree for each table, one write transaction for each commit. */
import { join } from 'node:path'
import type { Engine, EngineOptions, Leased, NewUrl } from './engine.ts'
import { hostBytes, numberKey, readRow, rowBytes, rowWithReferrer, settledRow } from './keys.ts'

interface Tree {
  get(key: Buffer): Buffer | undefined
  putSync(key: Buffer, value: Buffer): void
  removeSync(key: Buffer): void
  getKeys(range: { start: Buffer; limit: number; snapshot?: boolean }): Iterable<Buffer>
}
interface Environment {
  openDB(options: { name: string; keyEncoding: 'binary'; encoding: 'binary' }): Tree
  transactionSync(work: () => void): void
  close(): Promise<void>
}
export interface LmdbModule {
  open(options: Record<string, unknown>): Environment
}

const EMPTY = Buffer.alloc(0)

export function openLmdbEngine(module: LmdbModule, { folder, durability }: EngineOptions): Engine {
  // Without `overlappingSync: false` a commit returns before it is on the disk.
  const durable = durability === 'full' ? { overlappingSync: false } : { noSync: true, overlappingSync: false }
  const env = module.open({ path: join(folder, 'crawl'), maxDbs: 8, ...durable })
  const tree = (name: string): Tree => env.openDB({ name, keyEncoding: 'binary', encoding: 'binary' })
  const [meta, url, seen, queue] = [tree('meta'), tree('url'), tree('seen'), tree('queue')]
  const [host, due, lane] = [tree('host'), tree('due'), tree('lane')]
  const need = (bytes: Buffer | undefined): Buffer => {
    if (bytes === undefined) throw new Error('a row is missing')
    return bytes
  }
  const insert = (item: NewUrl): void => {
    url.putSync(numberKey(item.id), rowBytes(item))
    seen.putSync(numberKey(item.hi, item.lo), numberKey(item.id))
    queue.putSync(numberKey(item.lane, item.rank, item.id), EMPTY)
  }
  return {
    seed(urls) {
      env.transactionSync(() => {
        for (const item of urls) {
          host.putSync(numberKey(item.lane), hostBytes(item.lane, 0))
          due.putSync(numberKey(item.lane, item.lane), EMPTY)
          lane.putSync(numberKey(item.lane), hostBytes(1, 0))
          insert(item)
        }
      })
    },
    lease(count) {
      const leased: Leased[] = []
      for (const key of due.getKeys({ start: numberKey(0, 0), limit: count })) {
        const hostId = key.readUInt32BE(4)
        for (const entry of queue.getKeys({ start: numberKey(hostId, 0, 0), limit: 1 })) {
          const id = entry.readUInt32BE(8)
          leased.push({ row: readRow(need(url.get(numberKey(id))), id), due: key.readUInt32BE(0) })
        }
      }
      return leased
    },
    settle(pages, counters) {
      env.transactionSync(() => {
        for (const page of pages) {
          const { row, at } = page
          url.putSync(numberKey(row.id), settledRow(need(url.get(numberKey(row.id))), at))
          queue.removeSync(numberKey(row.lane, row.rank, row.id))
          host.putSync(numberKey(row.lane), hostBytes(page.due, at))
          due.removeSync(numberKey(page.wasDue, row.lane))
          due.putSync(numberKey(page.due, row.lane), EMPTY)
          lane.putSync(numberKey(row.lane), hostBytes(row.id, 0))
          for (const { hi, lo, id } of page.known) {
            if (need(seen.get(numberKey(hi, lo))).readUInt32BE(0) !== id) throw new Error(`lost ${id}`)
          }
          for (const id of page.referrers) url.putSync(numberKey(id), rowWithReferrer(need(url.get(numberKey(id)))))
          for (const item of page.found) {
            if (seen.get(numberKey(item.hi, item.lo)) !== undefined) throw new Error(`twice ${item.id}`)
            insert(item)
          }
        }
        meta.putSync(numberKey(0), Buffer.from(counters))
      })
    },
    close: () => env.close(),
  }
}
