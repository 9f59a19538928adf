/**
 * The bare store: as many puts and gets as the frontier's work comes to, on the same number of rows, with the same
 * settings of the same library and one commit for each batch; no rule, no order and no memory of its own beside them.
 *
 *   node bench/frontier/bare.ts FOLDER
 *
 * One process fills it up to a mark, in the order of its keys, and another one is measured.
 */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { diskBytes, memoryOfProcess } from '../support/footprint.ts'
import { serve } from '../support/worker.ts'
import { createStopwatch, LINKS_PER_CALL, SEED, WARM_UP, type Figures, type Mark, type Timed } from './measured.ts'
import { DRAWS, growTo, PAGES_PER_CALL, replay } from './replay.ts'
import { mix } from './url-text.ts'
import { createWorld, depthOf, urlOf, type Draw, type Link, type World } from './world.ts'

/** Those of src/frontier/embedded/database.ts. */
const SETTINGS = `PRAGMA page_size = 2048; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
  PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 2000`
/** For filling, which nobody measures: nothing of it has to survive a power cut. */
const SETTINGS_TO_FILL =
  'PRAGMA page_size = 2048; PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA cache_size = -262144'
const TABLES = `
  CREATE TABLE IF NOT EXISTS seen (fingerprint INTEGER PRIMARY KEY, url INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS url (
    id INTEGER PRIMARY KEY, url TEXT NOT NULL, lane INTEGER NOT NULL, kind INTEGER NOT NULL, via INTEGER NOT NULL,
    referrer INTEGER NOT NULL, redirects INTEGER NOT NULL, nesting INTEGER NOT NULL, found_at REAL NOT NULL,
    slot INTEGER NOT NULL, depth INTEGER NOT NULL, state INTEGER NOT NULL, rank INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS queue (
    lane INTEGER, slot INTEGER, rank INTEGER, url INTEGER, PRIMARY KEY (lane, slot, rank, url)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS host (id INTEGER PRIMARY KEY, name TEXT NOT NULL, due REAL, answered_at REAL)`
const INSERT_SEEN = 'INSERT INTO seen VALUES (?, ?)'
const INSERT_URL = 'INSERT INTO url VALUES (?, ?, ?, 0, 1, 1, 0, 0, 1800000000000, 3, ?, 0, ?)'
const INSERT_HOST = 'INSERT INTO host VALUES (?, ?, 0, NULL)'

const [folder = ''] = process.argv.slice(2)
const file = join(folder, 'bare.db')

/** A 64-bit key for each URL, one to one and as good as random: four rounds of a Feistel network. */
function keyOf({ host, number }: Link): readonly [high: number, low: number] {
  let [high, low] = [host, number]
  low = (low ^ mix(high ^ 0x243f6a88)) >>> 0
  high = (high ^ mix(low ^ 0x13198a2e)) >>> 0
  low = (low ^ mix(high ^ 0x03707344)) >>> 0
  high = (high ^ mix(low ^ 0x299f31d0)) >>> 0
  return [high, low]
}

const words = new Uint32Array(2)
const key = new BigInt64Array(words.buffer)
function keyForStore(link: Link): bigint {
  ;[words[1], words[0]] = keyOf(link)
  return key[0] as bigint
}

/** What a key is for is not followed here: a number of the usual size stands for it. */
const valueOf = (key: bigint): number => Number(BigInt.asUintN(24, key))
/** Of the size that ranks have. */
const rankOf = (link: Link): number => 40_000_000 + 1_000 * depthOf(link)

/** Everything up to so many URLs, each table in the order of its keys. */
function fill(db: DatabaseSync, world: World, urls: number): void {
  const known = world.urls
  db.exec(`${TABLES}; BEGIN`)
  const insertUrl = db.prepare(INSERT_URL)
  const insertHost = db.prepare(INSERT_HOST)
  const keys = new BigInt64Array(Math.max(0, urls - known))
  const keyWords = new Uint32Array(keys.buffer)
  let id = known
  growTo(world, urls, (pages) => {
    for (const link of pages.flatMap(({ fresh }) => fresh)) {
      const at = 2 * (id - known)
      ;[keyWords[at + 1], keyWords[at]] = keyOf(link)
      id += 1
      insertUrl.run(id, urlOf(link), link.host + 1, depthOf(link), rankOf(link))
      if (link.number === 0) insertHost.run(link.host + 1, urlOf(link))
    }
  })
  keys.sort()
  const insertSeen = db.prepare(INSERT_SEEN)
  for (const key of keys) insertSeen.run(key, valueOf(key))
  db.exec(`INSERT INTO queue SELECT lane, slot, rank, id FROM url WHERE id > ${known} ORDER BY lane, slot, rank, id;
    COMMIT`)
}

/** A get for each link; for a new one a put into the set, the rows and the queue. */
async function addLinks(db: DatabaseSync, world: World, count: number, draw: Draw): Promise<Timed> {
  const [begin, commit] = [db.prepare('BEGIN'), db.prepare('COMMIT')]
  const find = db.prepare('SELECT url FROM seen WHERE fingerprint = ?')
  const insertSeen = db.prepare(INSERT_SEEN)
  const insertUrl = db.prepare(INSERT_URL)
  const enqueue = db.prepare('INSERT INTO queue VALUES (?, 3, ?, ?)')
  const insertHost = db.prepare(INSERT_HOST)
  const watch = createStopwatch()
  for (let left = count; left > 0; left -= LINKS_PER_CALL) {
    let id = world.urls
    const links = world
      .pages(PAGES_PER_CALL, draw)
      .flatMap(({ known, fresh }) => [
        ...known.map((link) => ({ link, key: keyForStore(link), url: undefined })),
        ...fresh.map((link) => ({ link, key: keyForStore(link), url: urlOf(link) })),
      ])
    await watch.time(links.length, () => {
      begin.run()
      for (const { link, key, url } of links) {
        if ((find.get(key) === undefined) !== (url !== undefined)) throw new Error(`${key} is lost or there twice`)
        if (url === undefined) continue
        id += 1
        insertSeen.run(key, valueOf(key))
        insertUrl.run(id, url, link.host + 1, depthOf(link), rankOf(link))
        enqueue.run(link.host + 1, rankOf(link), id)
        if (link.number === 0) insertHost.run(link.host + 1, url)
      }
      commit.run()
    })
  }
  return watch.read()
}

/** For each task: the head of a queue and its row are read, the entry is deleted, row and host are written. */
async function leaseAndSettle(db: DatabaseSync, hosts: number, tasks: number, batch: number): Promise<Timed> {
  const [begin, commit] = [db.prepare('BEGIN'), db.prepare('COMMIT')]
  const head = db.prepare('SELECT slot, rank, url FROM queue WHERE lane = ? ORDER BY slot, rank, url LIMIT 1')
  const row = db.prepare('SELECT * FROM url WHERE id = ?')
  const dequeue = db.prepare('DELETE FROM queue WHERE lane = ? AND slot = ? AND rank = ? AND url = ?')
  const update = db.prepare('UPDATE url SET state = 3, found_at = ? WHERE id = ?')
  const updateHost = db.prepare('UPDATE host SET due = ?, answered_at = ? WHERE id = ?')
  const watch = createStopwatch()
  let settled = 0
  for (let lane = 1, at = 1_800_000_000_000; settled < tasks; at += 10) {
    settled += await watch.time(0, () => {
      let found = 0
      begin.run()
      // Hosts come round in turn, and those without work are passed by.
      for (let looked = 0; found < batch && looked < hosts; looked++) {
        const first = head.get(lane) as { slot: number; rank: number; url: number } | undefined
        if (first !== undefined) {
          found += 1
          row.get(first.url)
          dequeue.run(lane, first.slot, first.rank, first.url)
          update.run(at, first.url)
          updateHost.run(at + 1_000, at, lane)
        }
        lane = lane < hosts ? lane + 1 : 1
      }
      commit.run()
      return found
    })
  }
  return { ...watch.read(), operations: settled }
}

const openStore = (): DatabaseSync => {
  const db = new DatabaseSync(file)
  db.exec(SETTINGS)
  return db
}

/** All of it once on a small store in memory, so that no mark is measured with code that was never run. */
async function warmUp(): Promise<void> {
  const world = createWorld(SEED)
  const db = new DatabaseSync(':memory:')
  fill(db, world, WARM_UP.urls)
  for (const draw of DRAWS) await addLinks(db, world, WARM_UP.links, draw)
  await leaseAndSettle(db, world.hosts, WARM_UP.tasks, WARM_UP.tasks / 20)
  db.close()
}

const verbs = {
  fill({ done, mark }: { readonly done: readonly Mark[]; readonly mark: Mark }): void {
    const world = replay(createWorld(SEED), done)
    const db = new DatabaseSync(file)
    db.exec(SETTINGS_TO_FILL)
    fill(db, world, mark.urls)
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    db.close()
  },
  async measure(asked: {
    readonly done: readonly Mark[]
    readonly mark: Mark
    /** Tasks of one batch, as the frontier's had. */
    readonly batch: number
  }): Promise<Figures> {
    const { done, mark, batch } = asked
    await warmUp()
    const world = replay(createWorld(SEED), done)
    growTo(world, mark.urls, () => {})
    const db = openStore()
    const skewed = await addLinks(db, world, mark.links, 'skewed')
    const uniform = await addLinks(db, world, mark.links, 'uniform')
    const tasks = await leaseAndSettle(db, world.hosts, mark.tasks, batch)
    const memory = memoryOfProcess()
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    db.close()
    const started = performance.now()
    const reopened = openStore()
    reopened.prepare('SELECT * FROM queue LIMIT 1').get()
    const openMs = performance.now() - started
    reopened.close()
    return { skewed, uniform, tasks, memory, diskBytes: diskBytes(folder), openMs }
  },
}

export type BareVerbs = typeof verbs
serve(verbs)
