import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { createSystemDisk } from '../../base/index.ts'
import { archiveFiles, openOutputFolder, type ArchivedExchange, type OutputRecord } from '../index.ts'
import { archiveOptions, exchange, STARTED_AT } from './test-support/exchanges.ts'
import { digestOf, readWarc, splitHttp, type ReadRecord } from './test-support/strict-reader.ts'

const root = mkdtempSync(join(tmpdir(), 'tiptoe-archive-'))
afterAll(() => rmSync(root, { recursive: true }))
let serial = 0
const folder = (): string => join(root, String(serial++))
const disk = createSystemDisk()

type Position = Record<string, number>
const of = (...exchanges: ArchivedExchange[]): OutputRecord[] =>
  exchanges.map((each) => ({ kind: 'exchange', exchange: each }))
const warcNames = (at: string): string[] => readdirSync(join(at, 'archive')).filter((name) => name.endsWith('.warc.gz'))
const bytesOf = (at: string, name: string): Buffer => readFileSync(join(at, 'archive', name))
const recordsIn = (at: string): ReadRecord[] =>
  warcNames(at)
    .toSorted()
    .flatMap((name) => readWarc(bytesOf(at, name)))
const typesIn = (at: string): string[] => recordsIn(at).map(({ type }) => type)
const ofType = (at: string, type: string): ReadRecord[] => recordsIn(at).filter((record) => record.type === type)
const indexOf = (at: string): Record<string, string>[] =>
  readFileSync(join(at, 'archive', 'index.cdxj'), 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line.slice(line.indexOf('{'))) as Record<string, string>)

/** Writes the batches and closes. */
function archive(
  at: string,
  from: Position,
  batches: OutputRecord[][],
  choice: Parameters<typeof archiveOptions>[0] = {},
): Position {
  const output = openOutputFolder(at, from, { archive: archiveOptions(choice) })
  let position = from
  for (const batch of batches) position = output.append(batch)
  output.close()
  return position
}

describe('an archive', () => {
  test('has the description of the file, then answer, request and facts of every exchange', () => {
    const at = folder()
    const facts = { via: 'link', referrer: 'https://a.test/', depth: 2, charset: 'utf-8', tls: '1.3' } as const
    archive(at, {}, [of(exchange('https://a.test/x', { ...facts, protocol: 'h2', address: '2001:db8::1' }))])
    const [info, response, request, metadata, ...more] = recordsIn(at)
    expect(more).toEqual([])
    expect(info?.block.toString()).toMatch(
      /^software: tiptoe\/\S+\r\nformat: WARC File Format 1\.1\r\nconformsTo: .*\r\nrobots: obey\r\nhttp-header-user-agent: Tester\/1\.0 \(\+https:\/\/tester\.test\/\)\r\n$/,
    )
    expect(info?.field('warc-filename')).toBe('tiptoe-20260102030405-00001.warc.gz')
    expect(Object.fromEntries(response?.fields ?? [])).toMatchObject({
      'warc-type': ['response'],
      'warc-target-uri': ['https://a.test/x'],
      'warc-date': ['2026-01-02T03:04:05.678Z'],
      'warc-ip-address': ['2001:db8::1'],
      'warc-protocol': ['h2', 'tls/1.3'],
      'warc-payload-digest': [digestOf(Buffer.from('Hello'))],
      'content-type': ['application/http; msgtype=response'],
    })
    expect(splitHttp(response!.block).body.toString()).toBe('Hello')
    expect(request?.block.toString()).toBe('GET /x HTTP/1.1\r\nHost: a.test\r\nUser-Agent: Tester\r\n\r\n')
    expect(metadata?.block.toString()).toBe(
      'via: https://a.test/\r\nfoundBy: link\r\ndepth: 2\r\nfetchTimeMs: 12\r\ncharset: utf-8\r\n',
    )
    for (const companion of [request, metadata]) {
      expect(companion?.field('warc-concurrent-to')).toBe(response?.field('warc-record-id'))
      expect(companion?.field('warc-date')).toBe(response?.field('warc-date'))
    }
  })

  test('takes the exchange of any record, whether it was prepared or not', async () => {
    const at = folder()
    const output = openOutputFolder(at, {}, { archive: archiveOptions() })
    const skip = {
      kind: 'skip',
      record: {
        schema: 1,
        url: 'https://a.test/1',
        reason: 'redirect',
        detail: null,
        depth: 0,
        referrer: null,
        via: 'seed',
        at: '',
      },
      exchange: exchange('https://a.test/1', { body: 'one' }),
    } as const
    const prepared: OutputRecord = { kind: 'exchange', exchange: exchange('https://a.test/2', { body: 'two' }) }
    await output.prepare(prepared)
    const never: OutputRecord = { kind: 'exchange', exchange: exchange('https://a.test/3', { body: 'three' }) }
    await output.prepare(never)
    const position = output.append([skip, prepared])
    output.close()
    expect(ofType(at, 'response').map((record) => record.field('warc-target-uri'))).toEqual([
      'https://a.test/1',
      'https://a.test/2',
    ])
    expect(position['skipped.jsonl']).toBe(readFileSync(join(at, 'skipped.jsonl')).length)
    expect(position['pages.jsonl']).toBe(0)
  })

  test('is the same whether an exchange was prepared or not', async () => {
    const [plain, ahead] = [folder(), folder()]
    const batch = of(
      exchange('https://a.test/1'),
      exchange('https://a.test/2'),
      exchange('https://a.test/3', { body: 'x' }),
    )
    archive(plain, {}, [batch])
    const output = openOutputFolder(ahead, {}, { archive: archiveOptions() })
    for (const item of batch) await output.prepare(item)
    output.append(batch)
    output.close()
    // Identifiers are drawn in another order, and nothing else differs.
    const told = (at: string): string[] =>
      recordsIn(at).map(({ type, block, field }) => `${type} ${field('warc-target-uri')} ${block.toString('latin1')}`)
    expect(told(ahead)).toEqual(told(plain))
  })

  test('frames a body that came compressed, and compresses any other', () => {
    const at = folder()
    const text = 'Text that says the same again and again. '.repeat(2_000)
    const body = gzipSync(text)
    const responseHead = `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\nContent-Length: ${body.length}\r\n\r\n`
    archive(at, {}, [
      of(exchange('https://a.test/1', { body, responseHead }), exchange('https://a.test/2', { body: text })),
    ])
    const [framed, compressed] = ofType(at, 'response')
    expect(splitHttp(framed!.block).body.equals(body)).toBe(true)
    expect(bytesOf(at, warcNames(at)[0]!).includes(body)).toBe(true)
    expect(splitHttp(compressed!.block).body.toString()).toBe(text)
    expect(compressed!.length).toBeLessThan(text.length / 20)
  })

  test('names a body that it has instead of writing it again', () => {
    const at = folder()
    const body = 'the same '.repeat(100)
    const later = { body, startedAt: STARTED_AT + 60_000, endedAt: STARTED_AT + 60_001 }
    archive(at, {}, [of(exchange('https://a.test/1', { body }), exchange('https://b.test/2', later))])
    const [original] = ofType(at, 'response')
    const [revisit, ...more] = ofType(at, 'revisit')
    expect(more).toEqual([])
    expect(Object.fromEntries(revisit?.fields ?? [])).toMatchObject({
      'warc-profile': ['http://netpreserve.org/warc/1.1/revisit/identical-payload-digest'],
      'warc-target-uri': ['https://b.test/2'],
      'warc-payload-digest': [digestOf(Buffer.from(body))],
      'warc-refers-to': [original?.field('warc-record-id')],
      'warc-refers-to-target-uri': ['https://a.test/1'],
      'warc-refers-to-date': [original?.field('warc-date')],
      'warc-truncated': ['length'],
    })
    expect(splitHttp(revisit!.block)).toMatchObject({ head: expect.stringContaining('Content-Length: 900') as string })
    expect(splitHttp(revisit!.block).body).toHaveLength(0)
  })

  test('still knows a body after it was opened again, and a URL of any length', () => {
    const at = folder()
    const url = `https://a.test/${'x'.repeat(8000)}`
    const first = archive(at, {}, [of(exchange(url))])
    archive(at, first, [of(exchange('https://b.test/'))], { seed: 1 })
    const [revisit] = ofType(at, 'revisit')
    expect(revisit?.field('warc-refers-to')).toBe(ofType(at, 'response')[0]?.field('warc-record-id'))
    expect(revisit?.field('warc-refers-to-target-uri')).toBe(url)
  })

  test('refers to nothing that was never committed', () => {
    const at = folder()
    const first = archive(at, {}, [of(exchange('https://a.test/1', { body: 'one' }))])
    archive(at, first, [of(exchange('https://a.test/2', { body: 'two' }))])
    archive(at, first, [of(exchange('https://a.test/3', { body: 'two' }))], { seed: 1 })
    expect(typesIn(at).filter((type) => type === 'revisit')).toEqual([])
  })

  test('writes what is empty or cut as it is, and lets nothing refer to it', () => {
    const at = folder()
    const cut = exchange('https://a.test/1', { body: 'half', truncated: 'disconnect' })
    const empty = exchange('https://a.test/2', { body: '' })
    archive(at, {}, [of(cut, { ...cut }, empty, { ...empty }, exchange('https://a.test/3', { body: 'half' }))])
    const responses = ofType(at, 'response')
    expect(responses.map((record) => record.field('warc-truncated'))).toEqual([
      'disconnect',
      'disconnect',
      undefined,
      undefined,
      undefined,
    ])
    expect(ofType(at, 'revisit')).toEqual([])
    expect(indexOf(at).map(({ truncated }) => truncated)).toEqual([
      'disconnect',
      'disconnect',
      undefined,
      undefined,
      undefined,
    ])
  })

  test('keeps a 304 as a revisit, and leaves it out of the index', () => {
    const at = folder()
    const responseHead = 'HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\nETag: "x"\r\n\r\n'
    archive(at, {}, [of(exchange('https://a.test/', { status: 304, responseHead, body: '' }))])
    const [revisit] = ofType(at, 'revisit')
    expect(revisit?.field('warc-profile')).toBe('http://netpreserve.org/warc/1.1/revisit/server-not-modified')
    expect(revisit?.block.toString()).toBe(responseHead)
    expect(indexOf(at)).toEqual([])
  })

  test('has an index that leads to every answer', () => {
    const at = folder()
    const urls = [
      'https://www.b.test/?b=2&a=1',
      'http://a.test:8080/B',
      'https://a.test/',
      'https://a.test/a%22%2C%22digest',
    ]
    archive(at, {}, [of(...urls.map((url) => exchange(url, { body: url.slice(0, 14) })))], { maxFileBytes: 1 })
    for (const { url, filename, offset, length, digest, mime, status } of indexOf(at)) {
      const member = bytesOf(at, filename!).subarray(Number(offset), Number(offset) + Number(length))
      const info = bytesOf(at, filename!).subarray(0, readWarc(bytesOf(at, filename!))[0]!.length)
      const [, record] = readWarc(Buffer.concat([info, member]))
      expect(record?.field('warc-target-uri')).toBe(url)
      expect(record?.field('warc-payload-digest')).toBe(digest)
      expect([mime, status]).toEqual([record?.type === 'revisit' ? 'warc/revisit' : 'text/html', '200'])
    }
    const lines = readFileSync(join(at, 'archive/index.cdxj'), 'latin1').split('\n').slice(0, -1)
    expect(lines.toSorted().map((line) => line.split(' ', 2).join(' '))).toEqual([
      'test,a)/ 20260102030405',
      'test,a)/a%22%2c%22digest 20260102030405',
      'test,a:8080)/b 20260102030405',
      'test,b)/?a=1&b=2 20260102030405',
    ])
  })
})

describe('files of an archive', () => {
  const batches = Array.from({ length: 6 }, (_, index) =>
    of(exchange(`https://a.test/${index}`, { body: `body ${index}` })),
  )

  test('are ended when they are large enough, and numbered', () => {
    const at = folder()
    const position = archive(at, {}, batches, { maxFileBytes: 2_000 })
    const names = warcNames(at).toSorted()
    expect(names.length).toBeGreaterThan(1)
    expect(names.length).toBeLessThan(6)
    expect(names).toEqual(names.map((_, index) => `tiptoe-20260102030405-0000${index + 1}.warc.gz`))
    for (const name of names) expect(readWarc(bytesOf(at, name))[0]?.field('warc-filename')).toBe(name)
    for (const name of names.slice(0, -1)) expect(bytesOf(at, name).length).toBeGreaterThanOrEqual(2_000)
    expect(ofType(at, 'response')).toHaveLength(6)
    expect(archiveFiles(at, position, disk)).toEqual(
      names.map((name) => ({ name, path: `archive/${name}`, length: bytesOf(at, name).length })),
    )
  })

  test('of which the position names the last alone', () => {
    const at = folder()
    const position = archive(at, {}, batches, { maxFileBytes: 1 })
    expect(Object.keys(position).filter((name) => name.startsWith('archive/'))).toEqual([
      'archive/index.cdxj',
      'archive/tiptoe-20260102030405-00006.warc.gz',
    ])
  })

  test('go on where they were when the crawl is opened again', () => {
    const at = folder()
    const first = archive(at, {}, batches.slice(0, 3))
    const second = archive(at, first, batches.slice(3), { seed: 1 })
    expect(warcNames(at)).toHaveLength(1)
    expect(typesIn(at).filter((type) => type === 'warcinfo')).toHaveLength(1)
    expect(ofType(at, 'response')).toHaveLength(6)
    expect(archiveFiles(at, second, disk).map(({ length }) => length)).toEqual([bytesOf(at, warcNames(at)[0]!).length])
  })

  test('begun after the last commit are removed on opening; what is not ours is left', () => {
    const at = folder()
    const committed = archive(at, {}, batches.slice(0, 2), { maxFileBytes: 1 })
    archive(at, committed, batches.slice(2), { maxFileBytes: 1, clock: { now: () => STARTED_AT + 5_000 } })
    writeFileSync(join(at, 'archive', 'notes.txt'), 'mine')
    writeFileSync(join(at, 'archive', 'other-20260102030405-00009.warc.gz'), 'mine')
    expect(warcNames(at)).toHaveLength(7)
    archive(at, committed, [])
    expect(readdirSync(join(at, 'archive')).toSorted()).toEqual([
      'index.cdxj',
      'notes.txt',
      'other-20260102030405-00009.warc.gz',
      'tiptoe-20260102030405-00001.warc.gz',
      'tiptoe-20260102030405-00002.warc.gz',
    ])
    expect(archiveFiles(at, committed, disk)).toHaveLength(2)
  })

  test('of a first moment that was never committed are removed', () => {
    const at = folder()
    archive(at, {}, batches)
    archive(at, {}, [])
    expect(warcNames(at)).toEqual([])
    expect(indexOf(at)).toEqual([])
  })

  test('are whole after a crash at any byte', () => {
    const at = folder()
    const committed = archive(at, {}, [of(exchange('https://a.test/1', { body: 'one' }))])
    archive(at, committed, [of(exchange('https://a.test/2', { body: 'two' }))])
    const [name = ''] = warcNames(at)
    const [warc, index] = [bytesOf(at, name), readFileSync(join(at, 'archive', 'index.cdxj'))]
    const [whole, wholeIndex] = [committed[`archive/${name}`]!, committed['archive/index.cdxj']!]
    for (let end = whole; end <= warc.length; end++) {
      writeFileSync(join(at, 'archive', name), warc.subarray(0, end))
      writeFileSync(
        join(at, 'archive', 'index.cdxj'),
        index.subarray(0, Math.min(index.length, wholeIndex + end - whole)),
      )
      const again = openOutputFolder(at, committed, { archive: archiveOptions({ seed: 1 }) })
      expect(bytesOf(at, name)).toEqual(warc.subarray(0, whole))
      if (end % 16 === 0) again.append(of(exchange('https://a.test/3', { body: 'two' })))
      again.close()
      expect(ofType(at, 'response')).toHaveLength(end % 16 === 0 ? 2 : 1)
      expect(indexOf(at)).toHaveLength(end % 16 === 0 ? 2 : 1)
    }
  })

  test('that have lost what was committed are an error, and are not touched', () => {
    const at = folder()
    const committed = archive(at, {}, batches)
    const path = join(at, 'archive', warcNames(at)[0]!)
    writeFileSync(path, readFileSync(path).subarray(0, -1))
    const length = readFileSync(path).length
    expect(() => archive(at, committed, [])).toThrow(/were committed/)
    expect(readFileSync(path)).toHaveLength(length)
  })

  test('stay as they were committed when the crawl goes on without them, and can be gone on with later', () => {
    const at = folder()
    const committed = archive(at, {}, batches.slice(0, 3), { maxFileBytes: 1 })
    const last = join(at, 'archive', 'tiptoe-20260102030405-00003.warc.gz')
    appendFileSync(last, 'torn')
    const output = openOutputFolder(at, committed)
    const position = output.append(batches[3]!)
    output.close()
    expect(position).toEqual(committed)
    expect(readFileSync(last)).toHaveLength(committed['archive/tiptoe-20260102030405-00003.warc.gz']!)
    archive(at, position, batches.slice(4), { seed: 1 })
    expect(ofType(at, 'response')).toHaveLength(5)
  })

  test('may be moved away when the crawl goes on without them', () => {
    const at = folder()
    const committed = archive(at, {}, batches)
    rmSync(join(at, 'archive'), { recursive: true })
    const output = openOutputFolder(at, committed)
    expect(output.append([])).toEqual(committed)
    output.close()
    expect(existsSync(join(at, 'archive'))).toBe(false)
  })

  test('are not written through a link', () => {
    const [at, outside] = [folder(), folder()]
    mkdirSync(at)
    mkdirSync(outside)
    symlinkSync(outside, join(at, 'archive'))
    expect(() => archive(at, {}, batches)).toThrow(/is a link/)
    expect(readdirSync(outside)).toEqual([])
  })
})

describe('what a server sends', () => {
  const archived = (choice: Parameters<typeof exchange>[1]): ReadRecord[] => {
    const at = folder()
    archive(at, {}, [of(exchange('https://a.test/', choice))])
    return recordsIn(at)
  }
  const headLines = (choice: Parameters<typeof exchange>[1]): string[] => splitHttp(archived(choice)[1]!.block).lines

  test('is kept in its order and case', () => {
    const responseHead =
      'HTTP/1.1 404 Nicht da\r\nx-B: 2\r\nX-a:1\r\nset-cookie: a=b\r\nSet-Cookie: c=d\r\nx-latin: \xe9\xff\r\n\r\n'
    expect(archived({ status: 404, responseHead, body: '' })[1]?.block.toString('latin1')).toBe(responseHead)
  })

  test('is kept under another name where it does not describe the body that is kept', () => {
    const responseHead = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\ncontent-length: 10\r\nA: b\r\n\r\n'
    expect(headLines({ responseHead, body: '12345' })).toEqual([
      'HTTP/1.1 200 OK',
      'X-Crawler-Transfer-Encoding: chunked',
      'X-Crawler-content-length: 10',
      'A: b',
      'Content-Length: 5',
    ])
  })

  test('is left alone where it does', () => {
    const responseHead = 'HTTP/1.1 200 OK\r\nContent-Length:  5 \r\nContent-Encoding: br\r\n\r\n'
    expect(archived({ responseHead, body: '12345' })[1]?.block.toString()).toBe(`${responseHead}12345`)
  })

  test('has a status line whatever it began with', () => {
    expect(headLines({ responseHead: 'ICY 200 OK\r\nA: b\r\n\r\n' }).slice(0, 2)).toEqual([
      'HTTP/1.1 200 ',
      'X-Crawler-Status-Line: ICY 200 OK',
    ])
    expect(headLines({ responseHead: '' })).toEqual(['HTTP/1.1 200 '])
  })

  test('cannot end its head, its record or its line early', () => {
    const evil = 'X: a\r\n\r\nWARC/1.1\r\nWARC-Type: warcinfo\nB: c\rD: \u010a\u0a0d\u0000\u2028\r\nE: f'
    fc.assert(
      fc.property(
        fc.oneof(
          fc.constant(evil),
          fc.string({ unit: fc.constantFrom('\r', '\n', '\r\n', ':', ' ', 'a', '\0', '\u010a', '\ud800') }),
        ),
        fc.string({ unit: 'binary' }),
        (text, body) => {
          const choice = {
            responseHead: `HTTP/1.1 200 OK\r\n${text}\r\n\r\n`,
            requestHead: text,
            referrer: text,
            charset: text,
            address: text,
            body,
          }
          const records = archived(choice)
          expect(records.map(({ type }) => type)).toEqual(['warcinfo', 'response', 'request', 'metadata'])
          const { head, body: kept } = splitHttp(records[1]!.block)
          expect(kept).toEqual(Buffer.from(body))
          expect(head.replaceAll('\r\n', '')).not.toMatch(/[\r\n\0]/)
          expect(splitHttp(records[2]!.block).body).toHaveLength(0)
          expect(records[3]?.block.toString()).toMatch(/^(?:[a-zA-Z]+: [^\r\n]*\r\n)+$/)
        },
      ),
      { numRuns: 100 },
    )
  })

  test('never includes what we proved ourselves by', () => {
    const requestHead =
      'GET / HTTP/1.1\r\nHost: a.test\r\nCookie: s=1\r\n folded\r\nauthorization : Basic x\r\nAccept: */*\r\n\r\n'
    expect(archived({ requestHead })[2]?.block.toString()).toBe('GET / HTTP/1.1\r\nHost: a.test\r\nAccept: */*\r\n\r\n')
  })

  test('names no address and no type that is none', () => {
    const responseHead = 'HTTP/1.1 200 OK\r\nContent-Type: text/html" evil\r\n\r\n'
    const at = folder()
    archive(at, {}, [of(exchange('https://a.test/', { responseHead, address: 'a.test' }))])
    expect(ofType(at, 'response')[0]?.field('warc-ip-address')).toBeUndefined()
    expect(indexOf(at)[0]?.['mime']).toBe('unk')
  })
})

describe('the memory of a body', () => {
  /** An exchange whose body is overwritten when it is let go, as by the next page. */
  const lent = (url: string, text: string): { given: ArchivedExchange; isLetGo(): boolean } => {
    const body = Buffer.from(text)
    let isLetGo = false
    const release = (): void => {
      isLetGo = true
      body.fill('#')
    }
    return { given: exchange(url, { body, release }), isLetGo: () => isLetGo }
  }
  const bodiesIn = (at: string): string[] => ofType(at, 'response').map(({ block }) => splitHttp(block).body.toString())
  const page = 'A page that is long enough to be compressed. '.repeat(30)

  test('is let go once the record is packed, and the record does not change by it', async () => {
    const at = folder()
    const output = openOutputFolder(at, {}, { archive: archiveOptions() })
    const pages = [lent('https://a.test/long', page), lent('https://a.test/short', 'Short')]
    const records = of(...pages.map(({ given }) => given))
    for (const record of records) await output.prepare(record)
    expect(pages.map(({ isLetGo }) => isLetGo())).toEqual([true, true])
    output.append(records)
    output.close()
    expect(bodiesIn(at)).toEqual([page, 'Short'])
  })

  test('is not needed when records are taken back and appended once more', async () => {
    const at = folder()
    const output = openOutputFolder(at, {}, { archive: archiveOptions() })
    const begun = output.append([])
    const records = of(lent('https://a.test/1', page).given, lent('https://a.test/2', page).given)
    for (const record of records) await output.prepare(record)
    output.append(records)
    const before = ofType(at, 'response').map((record) => record.field('warc-record-id'))
    output.cut(begun)
    output.append(records)
    output.close()
    expect(bodiesIn(at)).toEqual([page])
    expect(ofType(at, 'response').map((record) => record.field('warc-record-id'))).toEqual(before)
    expect(ofType(at, 'revisit')).toHaveLength(1)
  })

  test('is kept while the record refers to another one that may be taken back', async () => {
    const at = folder()
    const output = openOutputFolder(at, {}, { archive: archiveOptions() })
    const begun = output.append([])
    output.append(of(exchange('https://a.test/first', { body: page })))
    const again = lent('https://a.test/again', page)
    await output.prepare({ kind: 'exchange', exchange: again.given })
    expect(again.isLetGo()).toBe(false)
    output.cut(begun)
    output.append(of(again.given))
    output.close()
    expect(bodiesIn(at)).toEqual([page])
  })

  test('is kept when the record could not be packed', async () => {
    const at = folder()
    const compress = (): Promise<never> => Promise.reject(new Error('no memory'))
    const output = openOutputFolder(at, {}, { archive: archiveOptions({ compress }) })
    const long = lent('https://a.test/long', page.repeat(1_500))
    await expect(output.prepare({ kind: 'exchange', exchange: long.given })).rejects.toThrow('no memory')
    expect(long.isLetGo()).toBe(false)
    output.close()
  })
})
