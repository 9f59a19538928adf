import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createFrontier } from '../../frontier/index.ts'
import type { PageRecord } from '../../model/index.ts'
import type { Violation } from '../audit/findings.ts'
import type { LoopbackWeb } from '../demo/index.ts'
import { flagsFor, runCommand } from '../test-support/run-command.ts'
import { createSmallTown } from '../test-support/small-town.ts'

const root = mkdtempSync(join(tmpdir(), 'tiptoe-audit-'))
const finished = join(root, 'finished')
const limited = join(root, 'limited')
const archived = join(root, 'archived')
let web: LoopbackWeb
let serial = 0

beforeAll(async () => {
  web = await createSmallTown()
  const common = [web.url('a.test'), web.url('b.test'), '--delay', '10ms', '--fail-on', '100%', ...flagsFor(web)]
  await runCommand([...common, '-o', finished])
  await runCommand([...common, '-o', limited, '--max-pages', '2'])
  await runCommand([...common, '-o', archived, '--format', 'jsonl,html,warc'])
})
afterAll(async () => {
  await web.close()
  rmSync(root, { recursive: true })
})

/** A copy of a crawl, to be tampered with. */
function copyOf(folder: string): string {
  const copy = join(root, `copy-${serial++}`)
  cpSync(folder, copy, { recursive: true })
  return copy
}

async function audit(folder: string): Promise<{ code: number; kinds: string[]; violations: Violation[] }> {
  const ran = await runCommand(['audit', folder, '--json'])
  const { violations } = ran.json() as unknown as { violations: Violation[] }
  return { code: ran.code, kinds: violations.map(({ kind }) => kind), violations }
}

const lines = (folder: string, name: string): string[] =>
  readFileSync(join(folder, name), 'utf8').split('\n').slice(0, -1)
const write = (folder: string, name: string, all: readonly string[]): void =>
  writeFileSync(join(folder, name), all.map((line) => `${line}\n`).join(''))
/** Changes one record of a file. */
/** The file stays as long as it was, so that nothing is wrong with it but what was changed. */
function edit<T>(folder: string, name: string, which: (record: T) => boolean, change: (record: T) => unknown): void {
  const all = lines(folder, name).map((line) => {
    const record = JSON.parse(line) as T
    return which(record) ? asLongAs(line, change(record)) : line
  })
  write(folder, name, all)
}
function asLongAs(line: string, record: unknown): string {
  const text = JSON.stringify(record)
  const excess = text.length - line.length
  if (excess <= 0) return text.padEnd(line.length)
  return text.replace(/"contentHash":"[^"]+"/, (field) => `${field.slice(0, -1 - excess)}"`)
}
function sql(folder: string, statement: string): void {
  const db = new DatabaseSync(join(folder, 'state', 'crawl.db'))
  db.exec(statement)
  db.close()
}
function configure(folder: string, before: string, after: string): void {
  const file = join(folder, 'crawl.yaml')
  const text = readFileSync(file, 'utf8')
  expect(text).toContain(before)
  writeFileSync(file, text.replace(before, after))
}
const isPage =
  (path: string) =>
  ({ url }: PageRecord): boolean =>
    url.endsWith(path)

describe('tiptoe audit', () => {
  test('finds nothing wrong with a crawl that is finished', async () => {
    const ran = await runCommand(['audit', finished])
    expect(ran.stdout).toContain('no violation')
    expect(ran.stdout).toContain('11 discovered = 0 queued + 8 saved + 1 failed + 2 skipped')
    expect(ran.stdout).toMatch(/6 gaps between pages of 2 hosts\n +tightest: a\.test, \d+ ms with a delay of 30ms/)
    expect(ran.stdout).toMatch(
      /watched +14 requests of all kinds as they were sent, no violation\n +closest: [ab]\.test, [\d.]+ ms later/,
    )
    expect(ran.code).toBe(0)
  })

  test('finds nothing wrong with one that has URLs left, or that a process is working on', async () => {
    expect(await audit(limited)).toMatchObject({ code: 0, kinds: [] })
    const busy = copyOf(limited)
    const frontier = createFrontier({ store: join(busy, 'state') })
    writeFileSync(join(busy, 'pages.jsonl'), '{"half a rec', { flag: 'a' })
    const ran = await runCommand(['audit', busy])
    expect(ran.stdout).toContain('no violation (a process is working on it')
    expect(ran.stdout).toContain('12 bytes not committed yet')
    expect(ran.code).toBe(0)
    await frontier.close()
  })

  test('takes what a killed process had not committed for what it is', async () => {
    const folder = copyOf(finished)
    sql(folder, "UPDATE meta SET value = 0 WHERE key = 'clean'")
    writeFileSync(join(folder, 'pages.jsonl'), '{"half a rec', { flag: 'a' })
    expect(await audit(folder)).toMatchObject({ code: 0, kinds: [] })
  })

  test('refuses a folder without a crawl', async () => {
    await expect(runCommand(['audit', root])).rejects.toThrow('holds no crawl')
  })
})

describe('an audit finds', () => {
  test('an archive that was cut, and a page whose HTML is gone', async () => {
    expect(await audit(archived)).toMatchObject({ code: 0, kinds: [] })
    const folder = copyOf(archived)
    const warc = readdirSync(join(folder, 'archive')).find((name) => name.endsWith('.warc.gz')) ?? ''
    truncateSync(join(folder, 'archive', warc), 100)
    const { htmlPath = '' } = JSON.parse(lines(folder, 'pages.jsonl')[0] ?? '{}') as PageRecord
    rmSync(join(folder, htmlPath))
    expect((await audit(folder)).kinds.toSorted()).toEqual(['content', 'short-file'])
  })

  test.each(['pages.jsonl', 'skipped.jsonl', 'failed.jsonl'])('a record removed from %s', async (name) => {
    const folder = copyOf(finished)
    write(folder, name, lines(folder, name).slice(1))
    const { code, kinds } = await audit(folder)
    expect(kinds).toContain('missing-record')
    expect(kinds).toContain('short-file')
    expect(code).toBe(1)
  })

  test('a record that was doubled in place of another', async () => {
    const folder = copyOf(finished)
    const [first = '', , ...rest] = lines(folder, 'pages.jsonl')
    write(folder, 'pages.jsonl', [first, first, ...rest])
    const { code, violations } = await audit(folder)
    expect(violations).toContainEqual(
      expect.objectContaining({ kind: 'doubled-record', count: 1, examples: [expect.stringContaining('line 2')] }),
    )
    expect(violations).toContainEqual(expect.objectContaining({ kind: 'missing-record' }))
    expect(code).toBe(1)
  })

  test('a record that was doubled at the end', async () => {
    const folder = copyOf(finished)
    const all = lines(folder, 'pages.jsonl')
    write(folder, 'pages.jsonl', [...all, all[0] ?? ''])
    expect(await audit(folder)).toMatchObject({ code: 1, kinds: ['long-file'] })
  })

  test('a record in the wrong file', async () => {
    const folder = copyOf(finished)
    const [failure = ''] = lines(folder, 'failed.jsonl')
    const [skip = '', ...skips] = lines(folder, 'skipped.jsonl')
    write(folder, 'failed.jsonl', [skip.padEnd(failure.length)])
    write(folder, 'skipped.jsonl', [failure.padEnd(skip.length), ...skips])
    const { code, kinds } = await audit(folder)
    expect(kinds).toContain('wrong-state')
    expect(code).toBe(1)
  })

  test('a record edited to another URL, known or not', async () => {
    const unknown = copyOf(finished)
    edit<PageRecord>(unknown, 'pages.jsonl', isPage('/two'), (record) => ({
      ...record,
      url: record.url.replace('/two', '/xyz'),
    }))
    expect(await audit(unknown)).toMatchObject({
      code: 1,
      kinds: expect.arrayContaining(['unknown-url', 'missing-record']),
    })
    const known = copyOf(finished)
    edit<PageRecord>(known, 'pages.jsonl', isPage('/two'), (record) => ({
      ...record,
      url: record.url.replace('/two', '/one'),
    }))
    expect(await audit(known)).toMatchObject({
      code: 1,
      kinds: expect.arrayContaining(['doubled-record', 'missing-record']),
    })
  })

  test('a record whose reason was changed', async () => {
    const folder = copyOf(finished)
    edit<{ reason: string }>(
      folder,
      'skipped.jsonl',
      ({ reason }) => reason === 'robots',
      (record) => ({ ...record, reason: 'depth!' }),
    )
    expect(await audit(folder)).toMatchObject({ code: 1, kinds: ['wrong-state'] })
  })

  test('a line that is torn, in the middle or at the end', async () => {
    const middle = copyOf(finished)
    const [first = '', ...rest] = lines(middle, 'pages.jsonl')
    write(middle, 'pages.jsonl', [`${first.slice(0, -1)} `, ...rest])
    expect(await audit(middle)).toMatchObject({ code: 1, kinds: expect.arrayContaining(['torn-record']) })
    const end = copyOf(finished)
    truncateSync(join(end, 'pages.jsonl'), readFileSync(join(end, 'pages.jsonl')).length - 1)
    expect(await audit(end)).toMatchObject({ code: 1, kinds: expect.arrayContaining(['short-file', 'torn-record']) })
  })

  test('numbers that were changed in a record', async () => {
    const folder = copyOf(finished)
    edit<PageRecord>(folder, 'pages.jsonl', isPage('/two'), (record) => ({ ...record, bytes: record.bytes - 1 }))
    expect(await audit(folder)).toMatchObject({ code: 1, kinds: ['totals'] })
  })

  test('a content file that is missing, replaced by a link, or said to be elsewhere', async () => {
    const missing = copyOf(finished)
    const [record] = lines(missing, 'pages.jsonl').map((line) => JSON.parse(line) as PageRecord)
    const path = record?.markdownPath ?? ''
    rmSync(join(missing, path))
    expect(await audit(missing)).toMatchObject({ code: 1, kinds: ['content'] })
    const linked = copyOf(finished)
    rmSync(join(linked, path))
    symlinkSync(join(finished, path), join(linked, path))
    expect(await audit(linked)).toMatchObject({ code: 1, kinds: ['content'] })
    const moved = copyOf(finished)
    rmSync(join(moved, 'content'), { recursive: true })
    symlinkSync(join(finished, 'content'), join(moved, 'content'))
    expect((await audit(moved)).violations).toMatchObject([{ kind: 'content', count: 8 }])
    const elsewhere = copyOf(finished)
    edit<PageRecord>(elsewhere, 'pages.jsonl', isPage('/two'), (page) => ({
      ...page,
      markdownPath: page.markdownPath?.replace('content/', '../../../'),
    }))
    expect((await audit(elsewhere)).kinds).toContain('content')
  })

  test.each([
    [
      'a counter that was changed',
      "UPDATE meta SET value = replace(value, '\"done\":8', '\"done\":9') WHERE key = 'counters'",
    ],
    ['a URL that was removed', 'DELETE FROM url WHERE id = (SELECT max(id) FROM url WHERE kind = 0)'],
    ['changes of URLs that were lost', 'DELETE FROM log'],
    ['a host that was added', "INSERT INTO host (name) VALUES ('c.test')"],
  ])('%s in the store', async (_, statement) => {
    const folder = copyOf(finished)
    sql(folder, statement)
    const { code, kinds } = await audit(folder)
    expect(kinds).toContain('counter')
    expect(code).toBe(1)
  })

  test('a queued URL that nothing would ever bring back', async () => {
    const folder = copyOf(limited)
    sql(folder, `INSERT OR REPLACE INTO meta VALUES ('bounds', '{"written":{"log":0,"url":1000000}}')`)
    expect(await audit(folder)).toMatchObject({ code: 1, kinds: ['queue'] })
  })
})

describe('of the pace an audit finds', () => {
  const time = (record: PageRecord | undefined): number => Date.parse(record?.fetchedAt ?? '')
  /** The first two pages of a host, and the second one started `gapMs` after the answer to the first. */
  function retime(host: string, gapMs: number, change: Partial<PageRecord> = {}): string {
    const folder = copyOf(finished)
    const records = lines(folder, 'pages.jsonl').map((line) => JSON.parse(line) as PageRecord)
    const [first, second] = records
      .filter(({ url }) => url.startsWith(`http://${host}:`))
      .sort((a, b) => time(a) - time(b))
    edit<PageRecord>(
      folder,
      'pages.jsonl',
      ({ url }) => url === second?.url,
      (record) => ({
        ...record,
        fetchedAt: new Date(time(first) + (first?.answerMs ?? 0) + gapMs).toISOString(),
        ...change,
      }),
    )
    return folder
  }

  test('a page asked for two milliseconds before its delay had passed', async () => {
    const { code, violations } = await audit(retime('b.test', 8))
    expect(violations).toMatchObject([
      { kind: 'pace', count: 1, examples: [expect.stringContaining('the delay is 10 ms')] },
    ])
    expect(code).toBe(1)
  })

  test('nothing in a gap that rounding alone can explain', async () => {
    expect(await audit(retime('b.test', 9))).toMatchObject({ code: 0, kinds: [] })
  })

  test('nothing in two that began within one millisecond, whichever of them was found first', async () => {
    const folder = copyOf(finished)
    configure(folder, 'default_delay: 10ms', 'default_delay: 0s')
    const fetchedAt = lines(folder, 'pages.jsonl')
      .map((line) => JSON.parse(line) as PageRecord)
      .find(({ url }) => url === web.url('b.test', '/'))?.fetchedAt
    // The one that was found first was asked for after the other.
    for (const [path, tookMs] of [
      ['/', 3],
      ['/b1', 1],
    ] as const) {
      edit<PageRecord>(
        folder,
        'pages.jsonl',
        ({ url }) => url === web.url('b.test', path),
        (record) => ({ ...record, fetchedAt, answerMs: tookMs, durationMs: tookMs }),
      )
    }
    expect(await audit(folder)).toMatchObject({ code: 0, kinds: [] })
  })

  test('a Crawl-delay that was not kept, though the delay of the configuration was', async () => {
    expect(await audit(retime('a.test', 28))).toMatchObject({ code: 1, kinds: ['pace'] })
  })

  test('nothing where a Crawl-delay is not obeyed because the configuration says so', async () => {
    const folder = retime('a.test', 28)
    configure(folder, 'respect_crawl_delay: true', 'respect_crawl_delay: false')
    expect(await audit(folder)).toMatchObject({ code: 0, kinds: [] })
  })

  test('a domain that was asked before its own delay had passed', async () => {
    const folder = copyOf(finished)
    configure(folder, 'per_domain_delay: 0s', 'per_domain_delay: 1h')
    const { code, violations } = await audit(folder)
    expect(violations).toMatchObject([
      { kind: 'domain-pace', count: 6, examples: expect.arrayContaining([expect.stringContaining('of a.test; the')]) },
    ])
    expect(code).toBe(1)
  })

  test('what the audit that ran with the crawl had seen', async () => {
    const folder = copyOf(finished)
    sql(
      folder,
      `UPDATE meta SET value = json_set(value, '$.impolite', 7, '$.closest', json('{"host":"b.test","spareMs":-3.25}'))
       WHERE key = 'counters'`,
    )
    const { code, violations } = await audit(folder)
    expect(violations).toMatchObject([
      { kind: 'impolite', count: 7, examples: ['b.test: 3.3 ms too early at the worst'] },
    ])
    expect(code).toBe(1)
  })

  test('a page that was asked for while another was still in flight', async () => {
    const folder = copyOf(finished)
    const [first, second] = lines(folder, 'pages.jsonl')
      .map((line) => JSON.parse(line) as PageRecord)
      .filter(({ url }) => url.startsWith('http://b.test:'))
      .sort((a, b) => time(a) - time(b)) as [PageRecord, PageRecord]
    edit<PageRecord>(
      folder,
      'pages.jsonl',
      ({ url }) => url === first.url,
      (record) => ({ ...record, durationMs: time(second) - time(first) + 400 }),
    )
    const { kinds } = await audit(folder)
    expect(kinds).toContain('in-flight')
  })

  test('an answer that the store knows nothing of', async () => {
    const late = retime('b.test', 60_000)
    expect((await audit(late)).violations).toMatchObject([
      { kind: 'pace', examples: [expect.stringContaining('later than the last answer')] },
    ])
  })
})

describe('of a crawl with several requests in flight to one host', () => {
  test('the audit looks at starts and at the number in flight', async () => {
    const folder = join(root, 'wide')
    const flags = ['--delay', '20ms', '--per-host', '3', '--fail-on', '100%', ...flagsFor(web)]
    await runCommand([web.url('b.test'), '-o', folder, ...flags])
    expect(await audit(folder)).toMatchObject({ code: 0, kinds: [] })
    const records = lines(folder, 'pages.jsonl').map((line) => JSON.parse(line) as PageRecord)
    const [first, second] = records.sort((a, b) => Date.parse(a.fetchedAt) - Date.parse(b.fetchedAt))
    const start = Date.parse(first?.fetchedAt ?? '') + 19
    edit<PageRecord>(
      folder,
      'pages.jsonl',
      ({ url }) => url === second?.url,
      (record) => ({ ...record, fetchedAt: new Date(start).toISOString() }),
    )
    const { violations } = await audit(folder)
    expect(violations).toMatchObject([
      { kind: 'pace', examples: [expect.stringContaining('start of the page before')] },
    ])
  })
})
