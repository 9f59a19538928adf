/** What others make of our archives: warcio, the library behind the tools of Webrecorder. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { WARCParser, type WARCRecord } from 'warcio'
import { getSurt } from 'warcio/utils'
import { normalizeUrl } from '../../url/index.ts'
import { openOutputFolder, type ArchivedExchange } from '../index.ts'
import { surt } from './surt.ts'
import { archiveOptions, exchange } from './test-support/exchanges.ts'
import { digestOf } from './test-support/strict-reader.ts'

const root = mkdtempSync(join(tmpdir(), 'tiptoe-warcio-'))
afterAll(() => rmSync(root, { recursive: true }))
let serial = 0

interface Seen {
  readonly record: WARCRecord
  readonly payload: Buffer
  readonly offset: number
}

/** Everything that warcio finds in the archive, with payloads as they lie there. */
async function archiveAndRead(exchanges: readonly ArchivedExchange[], maxFileBytes = 1024 ** 3): Promise<Seen[]> {
  const at = join(root, String(serial++))
  const output = openOutputFolder(at, {}, { archive: archiveOptions({ maxFileBytes }) })
  const items = exchanges.map((each) => ({ kind: 'exchange', exchange: each }) as const)
  for (const item of items) await output.prepare(item)
  output.append(items)
  output.close()
  const seen: Seen[] = []
  for (const name of readdirSync(join(at, 'archive')).toSorted()) {
    if (!name.endsWith('.warc.gz')) continue
    const bytes = readFileSync(join(at, 'archive', name))
    const parser = new WARCParser([bytes])
    for (let record = await parser.parse(); record !== null; record = await parser.parse()) {
      const payload = Buffer.from(await record.readFully(false))
      seen.push({ record, payload, offset: parser.offset })
    }
  }
  return seen
}

describe('warcio', () => {
  test('reads every record of an archive, and finds digests and lengths right', async () => {
    const html = '<p>hello</p>'.repeat(50)
    const encoded = (coding: string, body: Buffer): ArchivedExchange =>
      exchange(`https://a.test/${coding}`, {
        responseHead: `HTTP/1.1 200 OK\r\nContent-Encoding: ${coding}\r\nTransfer-Encoding: chunked\r\n\r\n`,
        body,
      })
    const seen = await archiveAndRead(
      [
        exchange('https://a.test/'),
        exchange('https://a.test/again'),
        encoded('gzip', gzipSync(html)),
        encoded('br', brotliCompressSync(html)),
        exchange('https://a.test/empty', { body: '' }),
        exchange('https://a.test/chunks', { body: '5\r\nabcde\r\n0\r\n\r\n' }),
      ],
      3_000,
    )
    const types = seen.map(({ record }) => record.warcType)
    expect(types.filter((type) => type !== 'warcinfo')).toEqual(
      ['response', 'revisit', 'response', 'response', 'response', 'response'].flatMap((type) => [
        type,
        'request',
        'metadata',
      ]),
    )
    expect(types.filter((type) => type === 'warcinfo').length).toBeGreaterThan(1)
    for (const { record, payload } of seen) {
      if (record.warcType !== 'response') continue
      expect(record.warcHeader('WARC-Payload-Digest')).toBe(digestOf(payload))
      expect(record.httpHeaders?.statusCode).toBe(200)
    }
    expect(
      seen.filter(({ record }) => record.warcType === 'revisit').map(({ record }) => record.warcRefersToTargetURI),
    ).toEqual(['https://a.test/'])
  })

  test('decodes a body that came in chunks and compressed', async () => {
    const html = '<p>hello</p>'.repeat(50)
    const at = join(root, String(serial++))
    const output = openOutputFolder(at, {}, { archive: archiveOptions() })
    const responseHead = 'HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n'
    output.append([{ kind: 'exchange', exchange: exchange('https://a.test/', { responseHead, body: gzipSync(html) }) }])
    output.close()
    const name = readdirSync(join(at, 'archive')).find((each) => each.endsWith('.warc.gz')) ?? ''
    const texts: string[] = []
    for await (const record of WARCParser.iterRecords([readFileSync(join(at, 'archive', name))])) {
      if (record.warcType === 'response') texts.push(await record.contentText())
    }
    expect(texts).toEqual([html])
  })

  test('is not led astray by hostile heads', async () => {
    const evil = 'X: a\r\n\r\nWARC/1.1\r\nWARC-Type: warcinfo\r\n\nno colon\r\n folded\r\n:empty\r\nB: \u010a\r\n'
    const seen = await archiveAndRead(
      ['HTTP/1.1 200 OK\r\n', 'garbage\r\n', ''].map((start, index) =>
        exchange(`https://a.test/${index}`, { responseHead: `${start}${evil}\r\n`, body: `body ${index}` }),
      ),
    )
    const responses = seen.filter(({ record }) => record.warcType === 'response')
    expect(responses.map(({ payload }) => payload.toString())).toEqual(['body 0', 'body 1', 'body 2'])
    expect(seen).toHaveLength(10)
  })
})

test('the key of a URL is the one that warcio looks it up by', () => {
  const part = fc.string({
    unit: fc.constantFrom('a', 'B', '1', '.', '/', '?', '&', '=', '%20', '-', ',', 'é', '~', '|'),
  })
  const host = fc.constantFrom(
    'a.test',
    'www.a.test',
    'www2.a.b.test',
    'WWW.A.test',
    '127.0.0.1',
    '[::1]',
    'bücher.test',
    'www',
  )
  fc.assert(
    fc.property(
      fc.constantFrom('http', 'https'),
      host,
      fc.constantFrom('', ':80', ':8080'),
      part,
      (scheme, name, port, rest) => {
        const url = normalizeUrl(`${scheme}://${name}${port}/${rest}`)
        if (url !== undefined) expect(surt(url)).toBe(getSurt(url))
      },
    ),
    { numRuns: 1000 },
  )
})
