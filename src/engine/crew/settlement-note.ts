/**
 * A settlement as it goes from a thread to the frontier. Lease and task are named, not repeated: who granted them has
 * them. The record is a line of JSON already, so that the thread of the frontier only has to write it.
 */
import type { Lease, Settlement } from '../../frontier/index.ts'
import type { Task } from '../../model/index.ts'
import { recordLine, type OutputRecord } from '../../sink/index.ts'
import type { LinkReader, LinkWriter, NumberedLinks } from './link-book.ts'

export interface SettlementNote extends Omit<Settlement, 'lease' | 'task' | 'links' | 'numbering' | 'record'> {
  readonly fence: number
  /** Which task of the lease. */
  readonly index: number
  readonly links?: NumberedLinks
  readonly record?: RecordNote
}

export interface RecordNote {
  readonly kind: OutputRecord['kind']
  /** Absent for an exchange, which has no record. */
  readonly line?: string
  readonly markdown?: string | null
  readonly exchange?: NonNullable<OutputRecord['exchange']>
}

/** `wantsMarkdown`: somebody beside the folder is to have it. */
export function noteOf(
  settlement: Settlement,
  { tasks }: Pick<Lease, 'tasks'>,
  deps: { readonly links: LinkWriter; readonly wantsMarkdown: boolean },
): SettlementNote {
  // Numbers of URLs mean nothing in another thread.
  const { lease, task, links, numbering: _numbering, record, ...rest } = settlement
  return {
    ...rest,
    fence: lease.fence,
    index: indexOf(tasks, task),
    ...(links === undefined || links.length === 0 ? {} : { links: deps.links.write(links) }),
    ...(record === undefined ? {} : { record: recordNote(record as OutputRecord, deps.wantsMarkdown) }),
  }
}

export function settlementOf(note: SettlementNote, lease: Lease, links: LinkReader): Settlement {
  const { fence: _fence, index, links: numbered, record, ...rest } = note
  return {
    ...rest,
    lease,
    task: lease.tasks[index] as Task,
    ...(numbered === undefined ? {} : { links: links.read(numbered) }),
    ...(record === undefined ? {} : { record: recordFrom(record) }),
  }
}

function recordNote(record: OutputRecord, wantsMarkdown: boolean): RecordNote {
  const { kind, exchange } = record
  return {
    kind,
    ...(kind === 'exchange' ? {} : { line: recordLine(record.record) }),
    ...(kind === 'page' && wantsMarkdown ? { markdown: record.markdown } : {}),
    ...(exchange === undefined ? {} : { exchange }),
  }
}

function recordFrom(note: RecordNote): OutputRecord {
  return (note.kind === 'exchange' ? note : new WrittenRecord(note)) as OutputRecord
}

/** What only listeners look at is read from the line when they do. */
class WrittenRecord {
  readonly kind: RecordNote['kind']
  readonly line: string
  readonly markdown: string | null
  readonly exchange: RecordNote['exchange']
  #record: unknown

  constructor({ kind, line = '', markdown = null, exchange }: RecordNote) {
    this.kind = kind
    this.line = line
    this.markdown = markdown
    this.exchange = exchange
  }

  get record(): unknown {
    return (this.#record ??= JSON.parse(this.line))
  }
}

function indexOf(tasks: readonly Task[], task: Task): number {
  const index = tasks.indexOf(task)
  return index === -1 ? tasks.findIndex(({ id, url }) => id === task.id && url === task.url) : index
}
