import { createHash, randomUUID } from 'node:crypto'
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sharedRedis } from '../../../test/support/redis/shared.ts'
import { createRng, createSystemClock } from '../../base/index.ts'
import { connectRedis, createCrawlRecord, type MovingStore } from '../../frontier/index.ts'
import type { LoopbackWeb } from '../demo/index.ts'
import { urlKey } from '../../url/index.ts'
import { openCrawlView } from '../crawl-view.ts'
import { keptSettings, openCrawlOnStore } from '../store-operand.ts'
import { flagsFor, runCommand, type Ran } from '../test-support/run-command.ts'
import { createSmallTown } from '../test-support/small-town.ts'

const root = mkdtempSync(join(tmpdir(), 'tiptoe-migrate-'))
const whole = join(root, 'whole')
const links: ReturnType<typeof connectRedis>[] = []
let web: LoopbackWeb
let store: string
let common: string[]

beforeAll(async () => {
  web = await createSmallTown()
  store = await sharedRedis()
  common = [web.url('a.test'), web.url('b.test'), '--delay', '10ms', '--fail-on', '100%', ...flagsFor(web)]
  await runCommand([...common, '-o', whole])
})
afterAll(async () => {
  for (const link of links) await link.close()
  await web.close()
  rmSync(root, { recursive: true })
})

const urlsIn = (folder: string, name: string): string[] =>
  existsSync(join(folder, name))
    ? readFileSync(join(folder, name), 'utf8')
        .split('\n')
        .slice(0, -1)
        .map((line) => (JSON.parse(line) as { url: string }).url)
        .sort()
    : []
const failure = (ran: Promise<Ran>): Promise<string> =>
  ran.then(
    () => 'nothing was refused',
    (error: Error) => error.message,
  )

/** A worker that has ended is remembered for a few seconds: nobody wants to wait for that. */
async function forgetWorkers(crawl: string): Promise<void> {
  const record = createCrawlRecord(await storeOf(crawl))
  for (const member of await record.members()) await record.beat(member, 0)
}

async function storeOf(crawl: string): Promise<MovingStore> {
  const clock = createSystemClock()
  const link = connectRedis(store, { clock, rng: createRng(1) })
  links.push(link)
  return openCrawlOnStore(crawl, keptSettings(undefined, crawl, '0.0.0'), { link, clock })
}

describe('a crawl that moves to a store and back', () => {
  const crawl = `m-${randomUUID()}`
  const laptop = join(root, 'laptop')
  const worker = join(root, 'worker')
  const back = join(root, 'back')

  test('is on the store with all that is known of it', async () => {
    await runCommand([...common, '-o', laptop, '--max-pages', '3'])
    const before = (await runCommand(['status', laptop, '--json'])).json() as Record<string, unknown>
    const ran = await runCommand(['migrate', laptop, store, '--crawl', crawl, '--partitions', '4', '--json'])
    expect(ran.code).toBe(0)
    const after = (await runCommand(['status', store, '--crawl', crawl, '--json'])).json() as Record<string, unknown>
    for (const part of ['urls', 'requests', 'robots', 'bytes', 'tokens', 'sitemapsQueued', 'seeds']) {
      expect(after[part]).toEqual(before[part])
    }
    expect(after['fleet']).toMatchObject({ crawl, barred: null, members: [], partitions: { count: 4 } })
  })

  test('is told to be there when it is moved once more', async () => {
    expect((await runCommand(['migrate', laptop, store, '--crawl', crawl])).code).toBe(0)
  })

  test('is refused in the folder that it came from, which says where it went', async () => {
    expect(await failure(runCommand(['-o', laptop]))).toContain(`--crawl ${crawl}`)
    expect(await failure(runCommand(['migrate', laptop, store, '--crawl', `${crawl}-2`]))).toContain(`--crawl ${crawl}`)
  })

  test('is not written over by another crawl of that name', async () => {
    expect(await failure(runCommand(['migrate', whole, store, '--crawl', crawl]))).toContain('is there already')
  })

  test('passes the audit on the store, with the records of the folder', async () => {
    const alone = await runCommand(['audit', store, '--crawl', crawl])
    expect(alone.stdout).toContain('no violation')
    const both = await runCommand(['audit', store, laptop, '--crawl', crawl, '--json'])
    expect(both.json()).toMatchObject({ ok: true, moving: false, missingWorkers: [], violations: [] })
    expect(both.code).toBe(0)
  })

  test('tells the story of a URL that is open, of one that is settled, and of a stranger', async () => {
    const settled = urlsIn(laptop, 'pages.jsonl')[0] as string
    const why = async (url: string, ...more: string[]): Promise<Record<string, unknown>> =>
      (await runCommand(['why', url, store, ...more, '--crawl', crawl, '--json'])).json()
    expect(await why(settled)).toMatchObject({ known: 'page', state: 'final' })
    expect(await why(settled, laptop)).toMatchObject({ known: 'page', state: 'done', record: { url: settled } })
    const all = [...urlsIn(whole, 'pages.jsonl'), ...urlsIn(whole, 'skipped.jsonl'), ...urlsIn(whole, 'failed.jsonl')]
    const done = new Set(['pages', 'skipped', 'failed'].flatMap((name) => urlsIn(laptop, `${name}.jsonl`)))
    const open: Record<string, unknown>[] = []
    for (const url of all) if (!done.has(url)) open.push(await why(url))
    expect(open.filter(({ state }) => state === 'queued').length).toBeGreaterThan(0)
    expect(open.find(({ state }) => state === 'queued')).toMatchObject({ known: 'page', host: expect.anything() })
    expect(await why(`${web.url('a.test')}nowhere`)).toMatchObject({ known: null })
    const words = await runCommand(['why', settled, store, laptop, '--crawl', crawl])
    expect(words.stdout).toContain('fetched and saved')
  })

  test('comes back to a folder as if it had never been away', async () => {
    const from = ['--from', laptop]
    const begunAt = Date.now()
    const ran = await runCommand(['migrate', store, back, '--crawl', crawl, ...from, '--json'])
    expect(ran.json()).toMatchObject({ doubled: 0 })
    const view = openCrawlView(back, '0.0.0')
    const answered = [...view.inspector.hosts()].flatMap(({ answeredAt }) => answeredAt ?? [])
    view.inspector.close()
    expect(answered.filter((at) => at < begunAt)).toEqual([])
    expect(answered.length).toBeGreaterThan(0)
    const audit = await runCommand(['audit', back, '--json'])
    expect(audit.json()).toMatchObject({ ok: true, violations: [] })
    expect(audit.code).toBe(0)
    for (const name of ['pages.jsonl', 'skipped.jsonl', 'failed.jsonl']) {
      expect(urlsIn(back, name)).toEqual(urlsIn(laptop, name))
    }
    const before = (await runCommand(['status', laptop, '--json'])).json() as Record<string, unknown>
    const after = (await runCommand(['status', back, '--json'])).json() as Record<string, unknown>
    for (const part of ['urls', 'requests', 'robots', 'bytes', 'tokens']) expect(after[part]).toEqual(before[part])
  })

  test('is told to be there when it is moved back once more', async () => {
    const again = await runCommand(['migrate', store, back, '--crawl', crawl, '--from', laptop, '--json'])
    expect([again.code, again.json()]).toEqual([0, expect.objectContaining({ doubled: 0 })])
    const elsewhere = ['migrate', store, `${back}-2`, '--crawl', crawl, '--from', laptop]
    expect(await failure(runCommand(elsewhere))).toContain(`was moved to ${back}`)
  })

  test('is refused on the store then, which says where it went', async () => {
    const refused = await failure(runCommand(['worker', '--store', store, '--crawl', crawl, '-o', worker]))
    expect(refused).toContain(`was moved to ${back}`)
    expect((await runCommand(['status', store, '--crawl', crawl])).stdout).toContain(`was moved to ${back}`)
  })

  test('goes on in the folder to the same end as an undisturbed one', async () => {
    await runCommand(['-o', back, '--max-pages', 'none'])
    expect((await runCommand(['audit', back])).code).toBe(0)
    for (const name of ['pages.jsonl', 'skipped.jsonl', 'failed.jsonl']) {
      expect(urlsIn(back, name)).toEqual(urlsIn(whole, name))
    }
  })
})

describe('a crawl whose records go to streams', () => {
  const place = ['--crawl', `m-${randomUUID()}`]
  const worker = join(root, 'worker-streams')

  test('is not held to have lost them', async () => {
    await runCommand([...common, '--store', store, ...place, '-o', worker, '--sink', 'redis-stream'])
    const audit = await runCommand(['audit', store, worker, ...place])
    expect([audit.code, audit.stdout]).toEqual([0, expect.stringContaining('in the streams of the store')])
    const { stdout } = await runCommand(['why', web.url('a.test'), store, worker, ...place])
    expect(stdout).toContain('Its record is in a stream of the store.')
    expect(stdout).toContain('a seed of the crawl')
  })

  test('is neither exported nor moved to a folder as if it had none', async () => {
    const exported = runCommand(['export', worker, '--format', 'csv', '-o', join(root, 'streams.csv')])
    expect(await failure(exported)).toContain('they went to streams')
    const moved = runCommand(['migrate', store, join(root, 'back-streams'), ...place])
    expect(await failure(moved)).toContain('are in streams')
  })
})

describe('a crawl on a store', () => {
  test('is named by the flag as by the place, and by the variable where nothing else is', async () => {
    const crawl = `m-${randomUUID()}`
    const worker = join(root, 'worker-flag')
    const named = ['--store', store, '--crawl', crawl]
    await runCommand([...common, ...named, '-o', worker, '--max-pages', '1'])
    const heading = `${store} --crawl ${crawl}: `
    expect((await runCommand(['status', ...named])).stdout).toContain(heading)
    expect((await runCommand(['audit', worker, ...named])).stdout).toContain(`${heading}no violation`)
    const saved = urlsIn(worker, 'pages.jsonl')[0] as string
    expect((await runCommand(['why', saved, worker, ...named])).stdout).toContain('fetched and saved')
    const env = { TIPTOE_STORE: store, TIPTOE_CRAWL: crawl }
    expect((await runCommand(['status'], env)).stdout).toContain(heading)
    expect((await runCommand(['audit', worker], env)).stdout).toContain('1 folder: no violation')
    expect(await failure(runCommand(['status']))).toContain('needs a folder or a store')
  })
})

describe('a crawl on a store that has reached its limit', () => {
  test('goes on to exactly another one that it is given', async () => {
    const named = ['--store', store, '--crawl', `m-${randomUUID()}`]
    const worker = ['worker', ...named, '-o', join(root, 'worker-limit'), '--json']
    await runCommand(['seed', ...common, ...named, '--max-pages', '2'])
    expect((await runCommand(worker)).json()).toMatchObject({ end: 'limit', saved: 2 })
    const raised = await runCommand(['seed', ...named, '--max-pages', '5', '--json'])
    expect(raised.json()).toMatchObject({ added: 0, limits: [{ label: '--max-pages', before: '2', after: '5' }] })
    expect((await runCommand(worker)).json()).toMatchObject({ end: 'limit', saved: 5 })
    await runCommand(['seed', ...named, '--max-pages', 'none'])
    expect((await runCommand(worker)).json()).toMatchObject({ end: 'finished' })
  })
})

describe('the folder of a worker', () => {
  test('leads to the store when it is asked how the crawl stands', async () => {
    const crawl = `m-${randomUUID()}`
    const worker = join(root, 'worker-asked')
    await runCommand([...common, '--store', store, '--crawl', crawl, '-o', worker, '--max-pages', '1'])
    await expect(runCommand(['status', worker])).rejects.toMatchObject({
      message: expect.stringContaining('is the folder of a worker'),
      hint: expect.stringContaining(`${store} --crawl ${crawl}`),
    })
  })
})

describe('a crawl that a fleet went on with', () => {
  const crawl = `m-${randomUUID()}`
  const worker = join(root, 'worker-2')
  const back = join(root, 'back-2')

  test('has every URL once in the folders of its workers', async () => {
    await runCommand(['seed', ...common, '--store', store, '--crawl', crawl])
    const ran = await runCommand(['worker', '--store', store, '--crawl', crawl, '-o', worker])
    expect(ran.code).toBe(0)
    const audit = await runCommand(['audit', store, worker, '--crawl', crawl, '--json'])
    expect(audit.json()).toMatchObject({ ok: true, missingWorkers: [], violations: [] })
    for (const name of ['pages.jsonl', 'skipped.jsonl', 'failed.jsonl']) {
      expect(urlsIn(worker, name)).toEqual(urlsIn(whole, name))
    }
  })

  test('is not moved into the folder of another crawl, nor barred for the attempt', async () => {
    const refused = await failure(runCommand(['migrate', store, whole, '--crawl', crawl, '--from', worker]))
    expect(refused).toMatch(/holds (?:another crawl|a crawl with another scope)/)
    const { fleet } = (await runCommand(['status', store, '--crawl', crawl, '--json'])).json() as Record<
      string,
      unknown
    >
    expect(fleet).toMatchObject({ barred: null })
  })

  test('is not moved without the records of all its workers', async () => {
    const refused = await failure(runCommand(['migrate', store, back, '--crawl', crawl]))
    expect(refused).toContain('are missing: the folder of worker')
    expect(existsSync(back)).toBe(false)
  })

  test('that lacks a record does not pass the audit', async () => {
    const copy = join(root, 'worker-short')
    cpSync(worker, copy, { recursive: true })
    const [, ...rest] = readFileSync(join(copy, 'pages.jsonl'), 'utf8').split('\n')
    writeFileSync(join(copy, 'pages.jsonl'), rest.join('\n'))
    const ran = await runCommand(['audit', store, copy, '--crawl', crawl, '--json'])
    expect(ran.code).toBe(1)
    const { violations } = ran.json() as unknown as { violations: { kind: string }[] }
    expect(violations.map(({ kind }) => kind)).toContain('missing-record')
  })

  test('whose sums are not what is there does not pass the audit', async () => {
    const { partitions } = await storeOf(crawl)
    const [meta = ''] = partitions[0]?.keys.fixed ?? []
    await change(meta, 1)
    const ran = await runCommand(['audit', store, '--crawl', crawl, '--json'])
    await change(meta, -1)
    expect(ran.code).toBe(1)
    const { violations } = ran.json() as unknown as { violations: { kind: string }[] }
    expect(violations.map(({ kind }) => kind)).toEqual(['counter'])
  })

  test('that cannot be moved to its end is barred at both ends, and goes on when it can', async () => {
    await forgetWorkers(crawl)
    const content = join(worker, 'content')
    renameSync(content, `${content}-away`)
    const move = ['migrate', store, back, '--crawl', crawl, '--from', worker]
    expect(await failure(runCommand(move))).toContain('cannot be had')
    renameSync(`${content}-away`, content)
    expect(await failure(runCommand(['-o', back]))).toContain('not all of it has come')
    expect((await runCommand(['status', back])).stdout).toContain('not all of it has come')
    expect((await runCommand(['status', store, '--crawl', crawl])).stdout).toContain('is being moved to')
    expect(
      await failure(runCommand(['migrate', store, `${back}-other`, '--crawl', crawl, '--from', worker])),
    ).toContain('is being moved to')
    expect((await runCommand(move)).code).toBe(0)
  })

  test('that was cut short at the very end is told to be where it is', async () => {
    const moving = await storeOf(crawl)
    const { barred = '' } = moving.record
    await moving.note({ set: { barred: 'is being moved', move: `${store} --crawl ${crawl} → ${back}` } })
    expect((await runCommand(['migrate', store, back, '--crawl', crawl, '--from', worker])).code).toBe(0)
    expect((await storeOf(crawl)).record).toMatchObject({ barred })
  })

  test('comes to a folder that passes the audit', async () => {
    const audit = await runCommand(['audit', back, '--json'])
    expect(audit.json()).toMatchObject({ ok: true, violations: [] })
    for (const name of ['pages.jsonl', 'skipped.jsonl', 'failed.jsonl']) {
      expect(urlsIn(back, name)).toEqual(urlsIn(whole, name))
    }
  })

  test('is audited by its folders alone, where a record that is there twice is found', async () => {
    expect((await runCommand(['audit', worker])).stdout).toContain('no violation')
    const copy = join(root, 'worker-copy')
    cpSync(worker, copy, { recursive: true })
    const name = join(copy, 'pages.jsonl')
    const [first = ''] = readFileSync(name, 'utf8').split('\n')
    appendFileSync(name, `${first}\n`)
    rmSync(join(copy, 'state', 'committed.json'), { force: true })
    const ran = await runCommand(['audit', copy, '--json'])
    expect(ran.code).toBe(1)
    expect(ran.json()).toMatchObject({ ok: false, violations: [{ kind: 'doubled-record', count: 1 }] })
  })
})

test('a crawl that began in a folder, went on as a fleet and ended in a folder is the same as an undisturbed one', async () => {
  const crawl = `m-${randomUUID()}`
  const [laptop, worker, back] = ['laptop-4', 'worker-4', 'back-4'].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ]
  await runCommand([...common, '-o', laptop, '--max-pages', '3'])
  edit(laptop, /max_pages: 3/, 'max_pages: none')
  await runCommand(['migrate', laptop, store, '--crawl', crawl])
  expect((await runCommand(['worker', '--store', store, '--crawl', crawl, '-o', worker])).code).toBe(0)
  const audit = await runCommand(['audit', store, worker, laptop, '--crawl', crawl, '--json'])
  expect(audit.json()).toMatchObject({ ok: true, missingWorkers: [], violations: [] })
  const before = urlsIn(laptop, 'pages.jsonl')
  expect(urlsIn(worker, 'pages.jsonl').filter((url) => before.includes(url))).toEqual([])

  await forgetWorkers(crawl)
  const move = ['migrate', store, back, '--crawl', crawl, '--from', worker]
  expect(await failure(runCommand(move))).toContain(`${laptop}, in which the crawl was begun`)
  expect((await runCommand([...move, '--from', laptop])).code).toBe(0)
  expect((await runCommand(['audit', back, '--json'])).json()).toMatchObject({ ok: true, violations: [] })
  for (const name of ['pages.jsonl', 'skipped.jsonl', 'failed.jsonl']) {
    expect(urlsIn(back, name)).toEqual(urlsIn(whole, name))
  }
})

/** Changes the configuration of a crawl. */
function edit(folder: string, what: RegExp, to: string): void {
  const path = join(folder, 'crawl.yaml')
  const text = readFileSync(path, 'utf8')
  expect(text).toMatch(what)
  writeFileSync(path, text.replace(what, to))
}

describe('a crawl with a limit of depth that is crawled again', () => {
  const crawl = `m-${randomUUID()}`
  const laptop = join(root, 'laptop-3')
  const back = join(root, 'back-3')

  test('keeps its visits, what is held, and the depths of what it knows, there and back', async () => {
    await runCommand([...common, '--max-depth', '1', '--max-pages', '4', '-o', laptop])
    // A crawl that is told so from the start does not end by itself.
    edit(laptop, /recrawl:\n(\s+)enabled: false/, 'recrawl:\n$1enabled: true')
    const before = openCrawlView(laptop, '0.0.0')
    await runCommand(['migrate', laptop, store, '--crawl', crawl, '--partitions', '2'])
    expect((await runCommand(['audit', store, laptop, '--crawl', crawl, '--json'])).json()).toMatchObject({
      ok: true,
      violations: [],
    })
    await runCommand(['migrate', store, back, '--crawl', crawl, '--from', laptop])
    expect((await runCommand(['audit', back, '--json'])).json()).toMatchObject({ ok: true, violations: [] })
    const after = openCrawlView(back, '0.0.0')
    for (const row of before.inspector.pages()) {
      const there = before.inspector.find('page', urlKey(row.url))
      const here = after.inspector.find('page', urlKey(row.url))
      expect(here).toMatchObject({ state: there?.state, depth: there?.depth, reason: there?.reason })
      const [visit, carried] = [before.inspector.visit(row.id), after.inspector.visit(here?.id ?? 0)]
      expect(carried?.visits).toBe(visit?.visits)
      // Times went to the clock of the server and back.
      expect(carried?.dueAt === null).toBe(visit?.dueAt === null)
      expect(Math.abs((carried?.dueAt ?? 0) - (visit?.dueAt ?? 0))).toBeLessThan(1_000)
    }
    before.inspector.close()
    after.inspector.close()
  })
})

/** Adds to a sum of a partition behind its back. */
async function change(meta: string, by: number): Promise<void> {
  const text = "return redis.call('HINCRBY', KEYS[1], 'done', ARGV[1])"
  const script = { name: 'change', text, sha: createHash('sha1').update(text).digest('hex') }
  await links[0]?.run(script, [meta], [by])
}

test('a folder and a folder, or a store and a store, are no way to move', async () => {
  expect(await failure(runCommand(['migrate', whole, join(root, 'x')]))).toContain('from a folder to a store')
  expect(await failure(runCommand(['migrate', whole, store]))).toContain('which crawl')
  expect(await failure(runCommand(['status', store, '--crawl', 'nobody']))).toContain('there is no crawl nobody')
})
