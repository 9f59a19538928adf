import { randomUUID } from 'node:crypto'
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sharedRedis } from '../../../test/support/redis/shared.ts'
import { makeWorker } from '../../export/test-support/hand-made-worker.ts'
import type { LoopbackWeb } from '../demo/index.ts'
import { flagsFor, runCommand } from '../test-support/run-command.ts'
import { createSmallTown } from '../test-support/small-town.ts'

let root: string
let web: LoopbackWeb
let folder: string

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'tiptoe-export-'))
  web = await createSmallTown()
  folder = join(root, 'town')
  await runCommand([web.url('a.test'), '-o', folder, '--delay', '10ms', '--fail-on', '100%', ...flagsFor(web)])
})
afterAll(async () => {
  await web.close()
  rmSync(root, { recursive: true })
})

const exported = (...words: string[]): ReturnType<typeof runCommand> => runCommand(['export', folder, ...words])

describe('tiptoe export', () => {
  test('writes a document of the pages that were crawled, and says so', async () => {
    const out = join(root, 'town.md')
    const { code, stdout } = await exported('--format', 'markdown', '-o', out)
    expect(code).toBe(0)
    expect(stdout).toMatch(/^wrote .*town\.md: 6 pages, \d/)
    const text = readFileSync(out, 'utf8')
    expect(text).toContain('This is deeper.')
    expect(text).toMatch(/\[\/two\]\(#p\d+-two\)/)
  })

  test('prints what was written as JSON', async () => {
    const out = join(root, 'parts')
    const { json } = await exported('--format', 'markdown', '--max-tokens', '2,000', '-o', out, '--json')
    expect(json()).toEqual({
      folder,
      format: 'markdown',
      path: out,
      files: 1,
      bytes: expect.any(Number),
      pages: 6,
      leftOut: {},
      doubled: 0,
    })
    expect(existsSync(join(out, 'part-000001.md'))).toBe(true)
  })

  test('prints a table to standard output, and nothing else there', async () => {
    const { stdout, stderr } = await exported('--format', 'csv', '-o', '-', '--fields', 'url,title', '--include', 'two')
    expect(stdout).toBe(`url,title\r\n${web.url('a.test', '/two')},two\r\n`)
    expect(stderr).toMatch(/^wrote csv: 1 page, \d+ B; left out: 5 pattern\n$/)
  })

  test('names what it writes after the crawl', async () => {
    const before = process.cwd()
    process.chdir(root)
    try {
      const { json } = await exported('--format', 'text', '--json')
      expect(json()).toMatchObject({ path: `${basename(folder)}-text`, files: 6 })
      await expect(exported('--format', 'text')).rejects.toMatchObject({
        code: 'usage',
        hint: expect.stringContaining('--force'),
      })
      expect((await exported('--format', 'text', '--force')).code).toBe(0)
    } finally {
      process.chdir(before)
    }
  })

  test.each([
    [['--format', 'pdf'], 'expected one of wacz, csv, jsonl, text, markdown; found "pdf"'],
    [[], 'needs a format'],
    [['--format', 'csv', '--format', 'text'], 'one format at a time'],
    [['--format', 'csv', '--max-tokens', '5000'], '--max-tokens is not for csv'],
    [['--format', 'wacz', '--exclude', '/a'], '--exclude is not for wacz'],
    [['--format', 'csv', '--fields', 'url,nope'], 'found "nope"'],
    [['--format', 'text', '--permitted', 'all'], 'found "all"'],
    [['--format', 'markdown', '--max-tokens', '100'], 'from 2000 to'],
    [['--format', 'text', '-o', '-'], 'standard output'],
    [['--format', 'csv', '-o', '-', '--json'], 'standard output'],
    [['--format', 'wacz', '-o', join(tmpdir(), 'never.wacz')], 'no archive'],
  ])('refuses %j', async (words, message) => {
    await expect(exported(...words)).rejects.toMatchObject({ code: 'usage', message: expect.stringContaining(message) })
  })

  test('merges the folders of workers, and says what was left out for being there twice', async () => {
    const parent = join(root, 'fleet')
    const page = { url: 'https://example.com/a', markdown: 'a\n' }
    await makeWorker(join(parent, 'w1'), { worker: 'w1', pages: [page, { ...page, url: 'https://example.com/b' }] })
    await makeWorker(join(parent, 'w2'), { worker: 'w2', pages: [page], uncommitted: true })
    const { json, stderr } = await runCommand([
      'export',
      parent,
      '--format',
      'csv',
      '-o',
      join(root, 'f.csv'),
      '--json',
    ])
    expect(json()).toMatchObject({ folders: [join(parent, 'w1'), join(parent, 'w2')], pages: 2, doubled: 1 })
    expect(stderr).toContain('left out 1 record of which there is another, of the same page and visit')
    expect(stderr).toMatch(/warning: .*w2 does not say how much of it was committed/)
  })

  test('asks the store of the fleet how much counts', async () => {
    const place = ['--store', await sharedRedis(), '--crawl', `x-${randomUUID()}`]
    const worker = join(root, 'stored', 'w1')
    await runCommand([web.url('a.test'), ...place, '-o', worker, '--delay', '10ms', ...flagsFor(web)])
    // As it is after a kill: nothing says how much counts, and the last records were never committed.
    const pages = readFileSync(join(worker, 'pages.jsonl'), 'utf8')
    appendFileSync(join(worker, 'pages.jsonl'), pages.split('\n')[0]?.replace('a.test', 'uncommitted.test') + '\n')
    rmSync(join(worker, 'state', 'committed.json'))
    const run = async (...words: string[]): Promise<string> => {
      const ran = await runCommand(['export', worker, '--format', 'csv', '--fields', 'url', '-o', '-', ...words])
      return ran.stdout
    }
    expect(await run()).toContain('uncommitted.test')
    const counted = await run(...place)
    expect(counted).not.toContain('uncommitted.test')
    expect(counted.trim().split('\n')).toHaveLength(pages.trim().split('\n').length + 1)
    await expect(run('--store', 'redis://127.0.0.1')).rejects.toMatchObject({ code: 'usage' })
  })

  test('needs a crawl', async () => {
    await expect(runCommand(['export', root, '--format', 'csv'])).rejects.toMatchObject({ code: 'usage' })
  })
})
