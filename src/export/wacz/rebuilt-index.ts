/** The index of an archive made anew from its files, for a folder that has lost it: the same lines, to the letter. */
import { join } from 'node:path'
import { ARCHIVE_FOLDER, indexLine, mediaTypeOf, type ArchiveFile } from '../../sink/index.ts'
import { warcRecords, type RecordHead } from './warc-records.ts'

/** Of a body that has no bytes: nothing refers to one. */
const EMPTY_DIGEST = '3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ'

/** Lines of CDXJ with their ends, in the order of the records. */
export async function* rebuiltIndexLines(folder: string, files: readonly ArchiveFile[]): AsyncGenerator<string> {
  for (const { name, length } of files) {
    for await (const record of warcRecords(join(folder, ARCHIVE_FOLDER, name), length)) {
      const line = lineOf(record, name)
      if (line !== undefined) yield line
    }
  }
}

/** Undefined for a record that shows no answer: it is none, or says only that nothing has changed. */
function lineOf({ head, offset, length }: RecordHead, filename: string): string | undefined {
  const fields = fieldsOf(head)
  const field = (name: string): string => fields.get(name) ?? ''
  const type = field('warc-type')
  const isRevisit = type === 'revisit'
  if ((type !== 'response' && !isRevisit) || field('warc-profile').endsWith('/server-not-modified')) return undefined
  const answer = head.slice(head.indexOf('\r\n\r\n') + 4)
  const digest = field('warc-payload-digest').slice('sha1:'.length)
  // A body that was left out is whole in the record that is referred to.
  const truncated = isRevisit ? undefined : fields.get('warc-truncated')
  const isOriginal = !isRevisit && truncated === undefined && digest !== EMPTY_DIGEST
  return indexLine({
    url: field('warc-target-uri'),
    date: field('warc-date'),
    mime: isRevisit ? 'warc/revisit' : mediaTypeOf(answer),
    status: Number(/^HTTP\/[\d.]+ (\d{3})/.exec(answer)?.[1]),
    digest,
    length,
    offset,
    filename,
    ...(truncated === undefined ? {} : { truncated }),
    ...(isOriginal ? { recordId: field('warc-record-id').slice(1, -1) } : {}),
  })
}

/** The named fields of a record, by their names in small letters. */
function fieldsOf(head: string): Map<string, string> {
  const [, ...lines] = head.slice(0, head.indexOf('\r\n\r\n')).split('\r\n')
  return new Map(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
}
