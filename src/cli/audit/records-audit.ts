/**
 * Exactly one record for each visit of a page and for each URL that was settled otherwise, in the right file, whole, and
 * with its content in place. Files are read as a stream up to their committed end; what is remembered of each URL is how
 * many records of visits it has, and whether it has one of another end.
 */
import { join } from 'node:path'
import { createSystemDisk, fileLines, parseObject } from '../../base/index.ts'
import type { Change, NormalizedUrl } from '../../model/index.ts'
import { RECORD_FILES } from '../../sink/index.ts'
import { urlKey } from '../../url/index.ts'
import type { CrawlView } from '../crawl-view.ts'
import { createContentCheck } from './content-check.ts'
import type { Findings } from './findings.ts'
import type { PaceAudit } from './pace-audit.ts'
import { timesOf } from './visit.ts'

export interface RecordCounts {
  page: number
  revisit: number
  skip: number
  fail: number
  /** Pages whose content file was found in its place. */
  content: number
  /** Bytes after the committed end, which the next run cuts off. */
  beyond: number
}

type Kind = keyof typeof RECORD_FILES
type Parsed = Readonly<Record<string, unknown>>

const SETTLED = { skip: 'skipped', fail: 'failed' } as const
const REASON_FIELD = { skip: 'reason', fail: 'error' } as const
/** Records of visits that are counted of one URL; nobody has so many. */
const MAX_VISITS = 0xffff

export function auditRecords(view: CrawlView, highestId: number, pace: PaceAudit, findings: Findings): RecordCounts {
  const { inspector, folder } = view
  const counters = inspector.counters()
  const visited = new Uint16Array(highestId + 1)
  const ended = new Uint8Array((highestId >> 3) + 1)
  const disk = createSystemDisk()
  const checkContent = createContentCheck(folder)
  const counts: RecordCounts = { page: 0, revisit: 0, skip: 0, fail: 0, content: 0, beyond: 0 }
  const revisits: Record<Exclude<Change, 'new'>, number> = { changed: 0, unchanged: 0, gone: 0, missed: 0 }
  let bytes = 0
  let tokens = 0
  let refreshing = 0

  // Those of an archive, too.
  for (const name of new Set([...Object.values(RECORD_FILES), ...Object.keys(counters.output)])) {
    const committed = counters.output[name] ?? 0
    const size = disk.sizeOf(join(folder, name)) ?? 0
    if (size < committed) findings.add('short-file', `${name} has ${size} bytes, ${committed} were committed`)
    if (size > committed) counts.beyond += size - committed
  }
  for (const kind of Object.keys(RECORD_FILES) as Kind[]) {
    const name = RECORD_FILES[kind]
    const path = join(folder, name)
    const committed = counters.output[name] ?? 0
    for (const line of fileLines(path, committed)) {
      const where = `${name} line ${line.number}`
      const record = line.complete ? parseObject(line.bytes) : undefined
      if (record === undefined || typeof record['url'] !== 'string') {
        findings.add('torn-record', where)
        continue
      }
      counts[kind] += 1
      judge(kind, record, `${where}: ${record['url']}`)
    }
  }

  for (const row of inspector.pages()) {
    const visits = inspector.visit(row.id)?.visits ?? 0
    const isSettled = row.state === 'failed' || row.state === 'skipped'
    if (visits > 0 && !isSettled && row.state !== 'done') refreshing += 1
    if (Math.min(visits, MAX_VISITS) > (visited[row.id] ?? 0)) {
      findings.add('missing-record', `${row.url} has ${visited[row.id]} for ${visits} visits`)
    }
    if (isSettled && !hasEnded(row.id)) findings.add('missing-record', `${row.url} is ${row.state}`)
    if (row.state === 'done' && visits === 0) findings.add('counter', `${row.url} is done without a visit`)
  }
  const compare = (name: string, stored: number, counted: number): void => {
    if (stored !== counted) findings.add('totals', `${name}: the store says ${stored}, the records ${counted}`)
  }
  compare('bytes', counters.bytes, bytes)
  compare('tokens', counters.tokens, tokens)
  for (const change of Object.keys(revisits) as (keyof typeof revisits)[]) {
    compare(`fetched again and ${change}`, counters.revisits[change], revisits[change])
  }
  if (refreshing !== counters.refreshing) {
    findings.add('counter', `refreshing: the store says ${counters.refreshing}, its rows are ${refreshing}`)
  }
  return counts

  function judge(kind: Kind, record: Parsed, where: string): void {
    const url = record['url'] as NormalizedUrl
    const place = inspector.place(urlKey(url))
    if (place === undefined || place.url !== url) return findings.add('unknown-url', where)
    if (kind === 'skip' || kind === 'fail') return judgeEnd(kind, record, place, where)
    judgeVisit(kind, record, place, where)
  }

  type Place = NonNullable<ReturnType<typeof inspector.place>>

  function judgeEnd(kind: 'skip' | 'fail', record: Parsed, place: Place, where: string): void {
    if (hasEnded(place.id)) return findings.add('doubled-record', where)
    end(place.id)
    if (place.state !== SETTLED[kind]) return findings.add('wrong-state', `${where} is ${place.state}`)
    const said = record[REASON_FIELD[kind]]
    if (said !== place.reason) findings.add('wrong-state', `${where} says ${String(said)}, the store ${place.reason}`)
  }

  function judgeVisit(kind: 'page' | 'revisit', record: Parsed, place: Place, where: string): void {
    const { id, url } = place
    const visits = inspector.visit(id)?.visits ?? 0
    if (visits === 0) return findings.add('wrong-state', `${where} is ${place.state}`)
    if ((visited[id] ?? 0) >= Math.min(visits, MAX_VISITS)) return findings.add('doubled-record', where)
    visited[id] = (visited[id] ?? 0) + 1
    const change = record['change'] as Change
    if (change !== 'new') revisits[change] += 1
    if (record['retired'] === true) {
      end(id)
      if (place.reason !== 'gone') return findings.add('wrong-state', `${where} is ${place.state}`)
    }
    bytes += Number(record['bytes'] ?? 0)
    tokens += Number(record['tokens'] ?? 0)
    if (kind === 'page') {
      const problem = checkContent(url, record['markdownPath'], 'md') ?? checkContent(url, record['htmlPath'], 'html')
      if (problem !== undefined) findings.add('content', `${url}: ${problem}`)
      else if (record['markdownPath'] !== undefined) counts.content += 1
    }
    const times = timesOf(record)
    if (times !== undefined) pace.add({ id, host: place.host, lane: place.lane, ...times })
    else if (kind === 'page') findings.add('torn-record', `${where} has no times`)
  }

  function hasEnded(id: number): boolean {
    return ((ended[id >> 3] ?? 0) & (1 << (id & 7))) !== 0
  }
  function end(id: number): void {
    ended[id >> 3] = (ended[id >> 3] ?? 0) | (1 << (id & 7))
  }
}
