/**
 * One record for each time that a page ended, from what is on the disk: everything up to the committed position is read
 * once, as it is committed, and the whole of it again at the end. Of files that hold no records it is checked that they
 * are as long as was committed.
 */
import type { OutputPosition } from '../frontier/index.ts'
import { RECORD_FILES } from '../sink/index.ts'
import type { SimDisk } from './sim-disk.ts'
import { Violation } from './violation.ts'

/** The final state of a URL, in one word: `page`, `skip robots`, `fail http`. */
export type Fate = string

export interface RecordsChecker {
  /** The output was committed up to here. */
  committed(position: OutputPosition): void
  /** Records in all files. */
  readonly count: number
  /** Reads all of it again and compares; whatever lies beyond the committed end is a violation. */
  finish(position: OutputPosition): void
}

const RECORDS: ReadonlySet<string> = new Set(Object.values(RECORD_FILES))

/** What is known of a page apart from its records: how often it ended, and how the last time. */
export type KnownEnds = (url: string) => { readonly ends: number; readonly fate: Fate | undefined } | undefined

interface Told {
  count: number
  /** Of these, in the file of pages that were fetched: the first, and those that had changed. */
  whole: number
  fate: Fate
}

export function createRecordsChecker(disk: SimDisk, folder: string, known: KnownEnds): RecordsChecker {
  const told = new Map<string, Told>()
  const read = new Map<string, number>()
  let count = 0

  const take = (name: string, from: number, to: number, into: Map<string, Told>): number => {
    const bytes = disk.read(`${folder}/${name}`, from, to)
    if (bytes.length !== to - from) {
      throw new Violation('records', name, `${to} bytes are committed, and only ${from + bytes.length} are there`)
    }
    if (!RECORDS.has(name)) return 0
    const text = bytes.toString('utf8')
    if (text !== '' && !text.endsWith('\n'))
      throw new Violation('records', name, `the committed end ${to} is inside a record`)
    const lines = text.split('\n').slice(0, -1)
    for (const line of lines) add(name, line, into)
    return lines.length
  }

  const add = (name: string, line: string, into: Map<string, Told>): void => {
    const { url, fate } = parse(name, line)
    const before = into.get(url)
    const times = (before?.count ?? 0) + 1
    const ends = known(url)?.ends ?? 0
    if (times > ends)
      throw new Violation('records', url, `${times} records, the last as ${fate}; it ended ${ends} times`)
    const whole = (before?.whole ?? 0) + Number(name === RECORD_FILES.page)
    if (name === RECORD_FILES.revisit && into === told && whole === 0)
      throw new Violation('records', url, 'a visit of a page that was never saved')
    into.set(url, { count: times, whole, fate })
  }

  return {
    get count() {
      return count
    },
    committed(position) {
      for (const [name, to] of Object.entries(position)) {
        const from = read.get(name) ?? 0
        if (to < from) throw new Violation('records', name, `the committed end went back from ${from} to ${to}`)
        if (to === from) continue
        count += take(name, from, to, told)
        read.set(name, to)
      }
    },
    finish(position) {
      const again = new Map<string, Told>()
      for (const name of new Set([...RECORDS, ...Object.keys(position)])) {
        const to = position[name] ?? 0
        const size = disk.sizeOf(`${folder}/${name}`) ?? 0
        if (size !== to) throw new Violation('records', name, `${size} bytes at the end, and ${to} of them committed`)
        take(name, 0, to, again)
      }
      for (const [url, { count: times, fate }] of told) {
        if (again.get(url)?.count !== times)
          throw new Violation('records', url, `${again.get(url)?.count ?? 0} records, ${times} were committed`)
        const page = known(url)
        if (page?.ends !== times || (page.ends === 1 && page.fate !== fate))
          throw new Violation('records', url, `recorded as ${fate}, ended as ${page?.fate ?? 'nothing'}`)
      }
    },
  }
}

function parse(name: string, line: string): { url: string; fate: Fate } {
  let record: { url: string; reason?: string; error?: string; retired?: boolean }
  try {
    record = JSON.parse(line) as typeof record
  } catch {
    throw new Violation('records', name, `a torn record: ${line.slice(0, 100)}`)
  }
  if (name === RECORD_FILES.skip) return { url: record.url, fate: `skip ${record.reason}` }
  if (name === RECORD_FILES.fail) return { url: record.url, fate: `fail ${record.error}` }
  return { url: record.url, fate: record.retired === true ? 'skip gone' : 'page' }
}
