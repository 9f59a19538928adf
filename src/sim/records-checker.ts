/**
 * One record for each URL, from what is on the disk: everything up to the committed position is read once, as it is
 * committed, and the whole of it again at the end.
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
  /** The fate of each URL that has a record. */
  readonly fates: ReadonlyMap<string, Fate>
  /** Reads all of it again and compares; whatever lies beyond the committed end is a violation. */
  finish(position: OutputPosition): void
}

export function createRecordsChecker(disk: SimDisk, folder: string): RecordsChecker {
  const fates = new Map<string, Fate>()
  const read = new Map<string, number>()

  const take = (name: string, from: number, to: number, into: Map<string, Fate>): void => {
    const text = disk.read(`${folder}/${name}`, from, to).toString('utf8')
    if (Buffer.byteLength(text) !== to - from) {
      throw new Violation(
        'records',
        name,
        `${to} bytes are committed, and only ${from + Buffer.byteLength(text)} are there`,
      )
    }
    if (text !== '' && !text.endsWith('\n'))
      throw new Violation('records', name, `the committed end ${to} is inside a record`)
    for (const line of text.split('\n')) {
      if (line === '') continue
      const { url, fate } = parse(name, line)
      if (into.has(url)) throw new Violation('records', url, `a second record: ${into.get(url)}, then ${fate}`)
      into.set(url, fate)
    }
  }

  return {
    fates,
    committed(position) {
      for (const [name, to] of Object.entries(position)) {
        const from = read.get(name) ?? 0
        if (to < from) throw new Violation('records', name, `the committed end went back from ${from} to ${to}`)
        if (to > from) take(name, from, to, fates)
        read.set(name, to)
      }
    },
    finish(position) {
      const again = new Map<string, Fate>()
      for (const name of Object.values(RECORD_FILES)) {
        const to = position[name] ?? 0
        const size = disk.sizeOf(`${folder}/${name}`) ?? 0
        if (size !== to) throw new Violation('records', name, `${size} bytes at the end, and ${to} of them committed`)
        take(name, 0, to, again)
      }
      if (again.size !== fates.size)
        throw new Violation('records', folder, `${again.size} records, ${fates.size} were committed`)
    },
  }
}

function parse(name: string, line: string): { url: string; fate: Fate } {
  let record: { url: string; reason?: string; error?: string }
  try {
    record = JSON.parse(line) as { url: string; reason?: string; error?: string }
  } catch {
    throw new Violation('records', name, `a torn record: ${line.slice(0, 100)}`)
  }
  if (name === RECORD_FILES.page) return { url: record.url, fate: 'page' }
  return { url: record.url, fate: name === RECORD_FILES.skip ? `skip ${record.reason}` : `fail ${record.error}` }
}
