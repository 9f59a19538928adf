/**
 * Exactly one record for each settled URL, in the right file, whole, and with its content in place. Files are read as
 * a stream up to their committed end, and what is remembered of each URL is one bit.
 */
import { join } from 'node:path'
import type { NormalizedUrl } from '../../model/index.ts'
import { RECORD_FILES } from '../../sink/index.ts'
import { urlKey } from '../../url/index.ts'
import type { CrawlView } from '../crawl-view.ts'
import { fileSize, parseRecord, recordLines } from '../record-lines.ts'
import { createContentCheck } from './content-check.ts'
import type { Findings } from './findings.ts'
import type { PaceAudit } from './pace-audit.ts'

export interface RecordCounts {
  page: number
  skip: number
  fail: number
  /** Pages whose content file was found in its place. */
  content: number
  /** Bytes after the committed end, which the next run cuts off. */
  beyond: number
}

const SETTLED = { page: 'done', skip: 'skipped', fail: 'failed' } as const
const REASON_FIELD = { page: undefined, skip: 'reason', fail: 'error' } as const
type Kind = keyof typeof RECORD_FILES

export function auditRecords(view: CrawlView, highestId: number, pace: PaceAudit, findings: Findings): RecordCounts {
  const { inspector, folder } = view
  const counters = inspector.counters()
  const recorded = new Uint8Array((highestId >> 3) + 1)
  const checkContent = createContentCheck(folder)
  const counts: RecordCounts = { page: 0, skip: 0, fail: 0, content: 0, beyond: 0 }
  let bytes = 0
  let tokens = 0

  for (const kind of Object.keys(RECORD_FILES) as Kind[]) {
    const name = RECORD_FILES[kind]
    const path = join(folder, name)
    const committed = counters.output[name] ?? 0
    const size = fileSize(path)
    if (size < committed) findings.add('short-file', `${name} has ${size} bytes, ${committed} were committed`)
    if (size > committed) counts.beyond += size - committed
    for (const line of recordLines(path, committed)) {
      const where = `${name} line ${line.number}`
      const record = line.complete ? parseRecord(line.bytes) : undefined
      if (record === undefined || typeof record['url'] !== 'string') {
        findings.add('torn-record', where)
        continue
      }
      counts[kind] += 1
      judge(kind, record, `${where}: ${record['url']}`)
    }
  }

  for (const row of inspector.pages()) {
    const isSettled = row.state === 'done' || row.state === 'failed' || row.state === 'skipped'
    if (isSettled && !isMarked(row.id)) findings.add('missing-record', `${row.url} is ${row.state}`)
  }
  if (bytes !== counters.bytes) findings.add('totals', `bytes: the store says ${counters.bytes}, the records ${bytes}`)
  if (tokens !== counters.tokens)
    findings.add('totals', `tokens: the store says ${counters.tokens}, the records ${tokens}`)
  return counts

  function judge(kind: Kind, record: Readonly<Record<string, unknown>>, where: string): void {
    const url = record['url'] as NormalizedUrl
    const place = inspector.place(urlKey(url))
    if (place === undefined || place.url !== url) return findings.add('unknown-url', where)
    if (isMarked(place.id)) return findings.add('doubled-record', where)
    mark(place.id)
    const field = REASON_FIELD[kind]
    if (place.state !== SETTLED[kind]) return findings.add('wrong-state', `${where} is ${place.state}`)
    if (field !== undefined && record[field] !== place.reason) {
      return findings.add('wrong-state', `${where} says ${String(record[field])}, the store ${place.reason}`)
    }
    if (kind !== 'page') return
    bytes += Number(record['bytes'])
    tokens += Number(record['tokens'])
    const problem = checkContent(url, record['markdownPath'])
    if (problem !== undefined) findings.add('content', `${url}: ${problem}`)
    else if (record['markdownPath'] !== undefined) counts.content += 1
    const [startedAt, answerMs, durationMs] = [
      Date.parse(String(record['fetchedAt'])),
      record['answerMs'],
      record['durationMs'],
    ]
    if (Number.isNaN(startedAt) || typeof answerMs !== 'number' || typeof durationMs !== 'number') {
      return findings.add('torn-record', `${where} has no times`)
    }
    pace.add({ id: place.id, host: place.host, lane: place.lane, startedAt, answerMs, durationMs })
  }

  function isMarked(id: number): boolean {
    return ((recorded[id >> 3] ?? 0) & (1 << (id & 7))) !== 0
  }
  function mark(id: number): void {
    recorded[id >> 3] = (recorded[id >> 3] ?? 0) | (1 << (id & 7))
  }
}
