/**
 * The archive of a crawl as strangers find it: read by warcio, and by a strict reader that must agree with it to the
 * byte, with an index that must lead to every answer that can be shown.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { WARCParser } from 'warcio'
import { digestOf, readWarc, type ReadRecord } from '../../src/sink/warc/test-support/strict-reader.ts'

/** An answer in the archive: a `response`, or a `revisit` that stands for one. */
export interface ArchivedAnswer {
  readonly url: string
  readonly status: number
  readonly type: string
  /** The payload with its transfer encoding undone and still compressed; of the original for a `revisit`, if it has one. */
  readonly payload: Buffer
  readonly record: ReadRecord
  readonly request: ReadRecord
  readonly metadata: ReadRecord
}

export interface ReadArchive {
  /** In order. */
  readonly files: readonly string[]
  readonly answers: readonly ArchivedAnswer[]
}

/** Throws at the first thing that is not right. */
export async function readArchive(folder: string): Promise<ReadArchive> {
  const root = join(folder, 'archive')
  const files = readdirSync(root)
    .filter((name) => name.endsWith('.warc.gz'))
    .toSorted((one, other) => numberOf(one) - numberOf(other))
  const answers: ArchivedAnswer[] = []
  const places: string[] = []
  const originals = new Map<string, Buffer>()
  for (const [at, name] of files.entries()) {
    demand(numberOf(name) === at + 1, `${name} is file ${at + 1}`)
    const bytes = readFileSync(join(root, name))
    const [, ...records] = readWarc(bytes)
    const payloads = await payloadsByWarcio(bytes)
    for (let each = 0; each < records.length; each += 3) {
      const [record, request, metadata] = records.slice(each, each + 3)
      if (record === undefined || request?.type !== 'request' || metadata?.type !== 'metadata')
        throw new Error(`${name}: three records belong together, from byte ${record?.offset} on`)
      const id = record.field('warc-record-id') ?? ''
      const original = record.field('warc-refers-to')
      const payload = originals.get(original ?? id) ?? payloads.get(id)
      if (payload === undefined) throw new Error(`${name}: warcio and the index know nothing of ${original ?? id}`)
      if (record.type === 'response') originals.set(id, payload)
      if (original !== undefined) {
        demand(record.field('warc-payload-digest') === digestOf(payload), `${id} repeats ${original}`)
      }
      const url = record.field('warc-target-uri') ?? ''
      const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(record.block.toString('latin1'))?.[1])
      answers.push({ url, status, type: record.type, payload, record, request, metadata })
      if (status !== 304) places.push([url, name, record.offset, record.length].join(' '))
    }
  }
  const index = readFileSync(join(root, 'index.cdxj'), 'latin1').split('\n')
  demand(index.pop() === '', 'the index ends with a line end')
  const led = index.map((line) => {
    const entry = JSON.parse(line.slice(line.indexOf('{'))) as Record<string, string>
    return [entry['url'], entry['filename'], entry['offset'], entry['length']].join(' ')
  })
  demand(led.join('\n') === places.join('\n'), 'the index leads to each answer once, in order')
  return { files, answers }
}

async function payloadsByWarcio(bytes: Buffer): Promise<Map<string, Buffer>> {
  const payloads = new Map<string, Buffer>()
  const parser = new WARCParser([bytes])
  for (let record = await parser.parse(); record !== null; record = await parser.parse()) {
    payloads.set(record.warcHeader('WARC-Record-ID') ?? '', Buffer.from(await record.readFully(false)))
  }
  return payloads
}

function numberOf(name: string): number {
  return Number(/-(\d+)\.warc\.gz$/.exec(name)?.[1])
}

function demand(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(`it is not so that ${what}`)
}
