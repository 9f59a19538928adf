import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { createSystemClock } from '../../base/index.ts'
import { createMemoryFleet, type MemoryFleet } from '../../engine/test-support/memory-fleet.ts'
import { flagsFor, runCommand } from '../test-support/run-command.ts'
import { createSmallTown } from '../test-support/small-town.ts'

const root = mkdtempSync(join(tmpdir(), 'tiptoe-worker-'))
afterAll(() => rmSync(root, { recursive: true }))

const PLACE = ['--store', 'redis://user:secret@store.test', '--crawl', 'town']
const MEMBER = { role: 'worker', host: 'here', pid: 1, slots: 1, inFlight: 0, startedAt: 0, done: 0 } as const
const POLITE = ['--delay', '0', '--scope', 'host']

async function setup() {
  const web = await createSmallTown()
  const fleet: MemoryFleet = createMemoryFleet(createSystemClock())
  onTestFinished(() => web.close())
  const folder = mkdtempSync(join(root, 'w-'))
  const runWith = (env: Record<string, string>, ...words: string[]) =>
    runCommand(words, env, { connect: fleet.connect })
  const run = (...words: string[]) => runWith({}, ...words)
  const seed = (...more: string[]) =>
    run('seed', web.url('a.test'), web.url('b.test'), ...PLACE, ...POLITE, ...flagsFor(web), ...more)
  return { web, fleet, folder, run, runWith, seed }
}

const pagesOf = (folder: string): string[] =>
  existsSync(join(folder, 'pages.jsonl'))
    ? readFileSync(join(folder, 'pages.jsonl'), 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => (JSON.parse(line) as { url: string }).url)
    : []

describe('a crawl on a store', () => {
  test('is seeded, worked on by several, and ends for all of them', async () => {
    const { folder, run, seed } = await setup()
    const seeded = await seed()
    expect([seeded.code, seeded.stdout.trim()]).toEqual([0, '2 seeds added to the crawl town'])
    const folders = ['one', 'two'].map((name) => join(folder, name))
    const ran = await Promise.all([
      ...folders.map((out) => run('worker', ...PLACE, '-o', out, '--json')),
      run('coordinator', ...PLACE, '--json'),
    ])
    expect(ran.map(({ code }) => code)).toEqual([0, 0, 0])
    expect(ran[0]?.json()).toMatchObject({ end: 'finished', saved: 8 })
    const pages = folders.flatMap(pagesOf)
    expect([pages.length, new Set(pages).size]).toEqual([8, 8])
    expect(ran[2]?.stdout).toContain('{"event":"end","reason":"finished"}')
  })

  test('keeps no password anywhere', async () => {
    const { fleet, folder, run, seed } = await setup()
    const seeded = await seed()
    const out = join(folder, 'one')
    const ran = await run('worker', ...PLACE, '-o', out)
    const kept = [
      await fleet.crawl.config(),
      ...['crawl.yaml', 'state/worker.json', 'stats.json'].map((name) => readFileSync(join(out, name), 'utf8')),
    ]
    const shown = await run('config', ...PLACE, '--json')
    const printed = [seeded, ran, shown].flatMap(({ stdout, stderr }) => [stdout, stderr])
    expect([...kept, ...printed].join('\n')).not.toContain('secret')
    expect(kept[2]).toContain('redis://user@store.test')
  })

  test('seeds that are known are counted as such', async () => {
    const { run, seed, web } = await setup()
    await seed()
    const again = await run('seed', web.url('a.test'), ...PLACE, '--json')
    expect(again.json()).toEqual({
      crawl: 'town',
      store: 'redis://user@store.test',
      added: 0,
      known: 1,
      limits: [],
      resumed: null,
    })
  })

  test('is begun and worked on alone by the plain command, and gone on with in its folder', async () => {
    const { web, folder, run } = await setup()
    const out = join(folder, 'alone')
    const words = [web.url('a.test'), ...PLACE, ...POLITE, ...flagsFor(web), '-o', out]
    const ran = await run(...words, '--json')
    expect([ran.code, ran.json()]).toMatchObject([0, { end: 'finished', saved: 6 }])
    const again = await run('-o', out, '--json')
    expect([again.code, again.json()]).toMatchObject([0, { end: 'finished', saved: 6 }])
    expect(pagesOf(out).length).toBe(6)
  })

  test('is resumed by a command without its password', async () => {
    const { folder, run, seed } = await setup()
    await seed()
    const ran = await run('worker', ...PLACE, '-o', join(folder, 'one'), '--max-time', '1ms')
    expect(ran.stderr.trimEnd().split('\n').at(-1)).toContain('worker --store redis://user@store.test --crawl town')
    expect(ran.code).toBe(4)
  })

  test('ends with the code of a limit when it was ended for all', async () => {
    const { fleet, folder, run, seed } = await setup()
    await seed()
    await fleet.crawl.halt('time')
    const ran = await run('worker', ...PLACE, '-o', join(folder, 'late'))
    expect(ran.code).toBe(4)
    expect(ran.stderr).toContain('the crawl was ended for all of its workers: time')
  })
})

describe('a worker', () => {
  test('keeps its name in its folder', async () => {
    const { folder, run, seed } = await setup()
    await seed()
    const out = join(folder, 'one')
    await run('worker', ...PLACE, '-o', out)
    const before = readFileSync(join(out, 'state/worker.json'), 'utf8')
    await run('worker', ...PLACE, '-o', out)
    expect(readFileSync(join(out, 'state/worker.json'), 'utf8')).toBe(before)
    await expect(run('worker', ...PLACE, '-o', out, '--worker-id', 'another')).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('not another'),
    })
    await expect(run('worker', '--store', 'redis://x', '--crawl', 'other', '-o', out)).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('of the crawl town, not other'),
    })
  })

  test('is refused in a folder that another process works in, or that holds a crawl of its own', async () => {
    const { web, folder, run, seed } = await setup()
    const own = join(folder, 'own')
    await run(web.url('b.test'), ...POLITE, ...flagsFor(web), '-o', own)
    await expect(run('worker', ...PLACE, '-o', own)).rejects.toMatchObject({ code: 'usage' })
    const out = join(folder, 'one')
    const waiting = run('worker', ...PLACE, '-o', out)
    await expect(run('worker', ...PLACE, '-o', out)).rejects.toMatchObject({ code: 'busy' })
    await seed()
    expect((await waiting).code).toBe(0)
  })

  test('with another idea of politeness or scope is refused, by the first difference', async () => {
    const { folder, run, seed } = await setup()
    await seed()
    const out = join(folder, 'one')
    await expect(run('worker', ...PLACE, '-o', out, '--delay', '5s')).rejects.toMatchObject({
      code: 'usage',
      message: 'the crawl town was begun with another configuration: --delay is "0s" there, and "5s" here',
    })
    const file = join(folder, 'fleet.yaml')
    writeFileSync(file, 'crawler: { scope: { mode: any }, workers: { concurrency_per_worker: 3 } }\n')
    await expect(run('worker', ...PLACE, '-o', out, '-c', file)).rejects.toMatchObject({
      message: expect.stringContaining('--scope is "host" there, and "any" here'),
    })
    writeFileSync(file, 'crawler: { workers: { concurrency_per_worker: 3 } }\n')
    expect((await run('worker', ...PLACE, '-o', out, '-c', file)).code).toBe(0)
  })

  test('must be told where the crawl is', async () => {
    const { run } = await setup()
    await expect(run('worker', '--crawl', 'town')).rejects.toMatchObject({ message: 'tiptoe worker needs --store' })
    await expect(run('coordinator', '--store', 'redis://x')).rejects.toMatchObject({
      message: 'tiptoe coordinator needs --crawl',
    })
  })

  test('says how it is while it works', async () => {
    const { web, folder, run, seed } = await setup()
    const words = ['worker', ...PLACE, '-o', join(folder, 'one'), '--health', '127.0.0.1:0']
    const ran = run(...words)
    await seed()
    expect((await ran).stderr).toMatch(/answering \/healthz and \/readyz at 127\.0\.0\.1:\d+/)
    expect(web.log.length).toBeGreaterThan(0)
  })

  test('is not begun with files that its stream would not hold', async () => {
    const { web, run } = await setup()
    const words = ['--sink', 'redis-stream', '--format', 'jsonl,warc']
    await expect(run('seed', web.url('a.test'), ...PLACE, ...words)).rejects.toMatchObject({
      code: 'usage',
      message: '--format warc is written to files, and --sink redis-stream writes none',
    })
  })

  test('is named with its store in the command that goes on with it, wherever that was read from', async () => {
    const { folder, runWith, seed } = await setup()
    await seed()
    const env = { TIPTOE_STORE: 'redis://user:secret@store.test', TIPTOE_CRAWL: 'town', TIPTOE_MAX_TIME: '1ms' }
    const ran = await runWith(env, 'worker', '-o', join(folder, 'one'))
    expect(ran.stderr).toMatch(/worker -o \S+ --store redis:\/\/user@store\.test --crawl town/)
  })

  test('has other limits from the next seeding on, while nobody works on it', async () => {
    const { fleet, folder, run, seed } = await setup()
    await seed('--max-pages', '2')
    const worker = ['worker', ...PLACE, '-o', join(folder, 'one'), '--json']
    expect((await run(...worker)).json()).toMatchObject({ end: 'limit', saved: 2 })
    await fleet.crawl.halt('bytes')
    const raised = await run('seed', ...PLACE, '--max-pages', '5')
    expect(raised.stdout).toContain('--max-pages is 5 now, and was 2')
    expect(raised.stdout).toContain('it was stopped for all (bytes), and workers go on with it again')
    expect(await fleet.crawl.config()).toContain('max_pages: 5')
    expect(await fleet.crawl.halted()).toBeUndefined()
    await fleet.crawl.beat({ ...MEMBER, id: 'busy' }, 60_000)
    await expect(run('seed', ...PLACE, '--max-pages', '6')).rejects.toMatchObject({
      code: 'busy',
      message: expect.stringContaining('while busy'),
    })
    await expect(run('seed', ...PLACE, '--delay', '3s')).rejects.toMatchObject({ code: 'usage' })
    expect((await run('seed', ...PLACE)).stdout).toBe('0 seeds added to the crawl town\n')
  })

  test('is not begun by a seeding without seeds', async () => {
    const { run } = await setup()
    await expect(run('seed', ...PLACE)).rejects.toMatchObject({ code: 'usage', message: 'no URL to seed' })
  })
})
