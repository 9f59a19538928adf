/**
 * The archive on the disk is what was settled, and nothing else: every answer that a settlement came from is there once,
 * in the order of the settlements, with the body that the host sent; every other answer is not. All of it is read as it
 * is committed, and at the end it must be what was read. The index leads to each answer that can be shown.
 */
import { createHash, type Hash } from 'node:crypto'
import type { OutputPosition, Settlement } from '../frontier/index.ts'
import { ARCHIVE_FOLDER, ARCHIVE_INDEX } from '../sink/index.ts'
import type { SimDisk } from './sim-disk.ts'
import { Violation } from './violation.ts'
import { readWarcRecords, type WarcRecord } from './warc-reader.ts'
import type { Reaction, Visit, WebObserver } from './web.ts'
import type { SimProcess } from './world.ts'

export interface ArchiveChecker extends WebObserver {
  /** A settlement was accepted. */
  settled(settlement: Settlement): void
  /** The output was committed up to here. */
  committed(position: OutputPosition): void
  /** Whatever lies beyond the committed end is a violation, and so is a byte that has changed. */
  finish(): void
}

type Answer = Extract<Reaction, { kind: 'answer' }>

/** What a process heard of a URL since it was last settled: an answer, or undefined where there was none, or half of one. */
interface Heard {
  readonly process: SimProcess
  readonly answers: Map<Visit, Answer | undefined>
}

interface Expected {
  readonly url: string
  /** More than one where requests crossed, and nobody knows which of them was settled. */
  readonly answers: readonly (Answer | undefined)[]
}

interface File {
  length: number
  readonly hash: Hash
}

export function createArchiveChecker(disk: SimDisk, folder: string): ArchiveChecker {
  const heard = new Map<string, Heard>()
  let expected: Expected[] = []
  const files = new Map<string, File>()
  /** The body of each `response`, by the name of its record. */
  const bodies = new Map<string, string>()
  /** Answers that the index has not led to yet, oldest first. */
  let unindexed: { readonly file: string; readonly record: WarcRecord }[] = []
  let current = ''

  const fail = (subject: string, detail: string): never => {
    throw new Violation('archive', subject, detail)
  }

  /** The bytes from where the file was read to on; their digest is that of the file. */
  const take = (path: string, to: number): { bytes: Buffer; from: number } => {
    const file = files.get(path) ?? { length: 0, hash: createHash('sha1') }
    files.set(path, file)
    const from = file.length
    if (to < from) fail(path, `the committed end went back from ${from} to ${to}`)
    const bytes = disk.read(`${folder}/${path}`, from, to)
    if (bytes.length !== to - from) fail(path, `${to} bytes are committed, and only ${from + bytes.length} are there`)
    file.length = to
    file.hash.update(bytes)
    return { bytes, from }
  }

  const readFile = (path: string, to: number): void => {
    const { bytes, from } = take(path, to)
    if (bytes.length === 0) return
    let records: readonly WarcRecord[] = []
    try {
      records = readWarcRecords(bytes, from)
    } catch (error) {
      fail(path, `from byte ${from} to ${to}: ${error instanceof Error ? error.message : String(error)}`)
    }
    const types = records.map((record) => record.field('warc-type'))
    if (from === 0 && types.shift() !== 'warcinfo') fail(path, 'it does not begin with its description')
    const exchanges = from === 0 ? records.slice(1) : records
    for (let at = 0; at < exchanges.length; at += 3) {
      const [answer, request, metadata] = exchanges.slice(at, at + 3)
      const together = types.slice(at, at + 3).join(' ')
      if (!/^(?:response|revisit) request metadata$/.test(together)) fail(path, `records out of order: ${together}`)
      const id = (answer as WarcRecord).field('warc-record-id')
      if ([request, metadata].some((record) => record?.field('warc-concurrent-to') !== id))
        fail(path, `records of different exchanges behind ${id}`)
      judge(path, answer as WarcRecord)
    }
  }

  /** An answer in the archive is the one that is expected next. */
  const judge = (path: string, record: WarcRecord): void => {
    const url = record.field('warc-target-uri')
    while (expected[0]?.url !== url && expected[0]?.answers.includes(undefined) === true) expected.shift()
    const next = expected.shift()
    if (next?.url !== url) return fail(url, `archived where ${next?.url ?? 'nothing'} is expected`)
    const { status, body } = readAnswer(record)
    const isRight = next.answers.some((answer) => answer?.status === status && answer.body === body)
    if (!isRight) fail(url, `archived as ${status} with ${body.length} characters, which its host did not send`)
    if (status !== 304) unindexed.push({ file: path, record })
  }

  const readAnswer = (record: WarcRecord): { status: number; body: string } => {
    const [head = '', ...rest] = record.block.toString('utf8').split('\r\n\r\n')
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1])
    const own = rest.join('\r\n\r\n')
    const id = record.field('warc-record-id')
    if (record.field('warc-type') === 'response') {
      if (bodies.has(id)) fail(id, 'two records have this name')
      bodies.set(id, own)
      return { status, body: own }
    }
    if (record.field('warc-profile').endsWith('/server-not-modified')) return { status, body: own }
    const original = record.field('warc-refers-to')
    return { status, body: bodies.get(original) ?? fail(id, `refers to ${original}, which is not in the archive`) }
  }

  const readIndex = (to: number): void => {
    const text = take(ARCHIVE_INDEX, to).bytes.toString('latin1')
    if (text !== '' && !text.endsWith('\n')) fail(ARCHIVE_INDEX, `the committed end ${to} is inside a line`)
    for (const line of text.split('\n').slice(0, -1)) {
      const { url, filename, offset, length } = JSON.parse(line.slice(line.indexOf('{'))) as Record<string, string>
      const { file, record } = unindexed.shift() ?? fail(ARCHIVE_INDEX, `a line without an answer: ${line}`)
      const isRight =
        url === record.field('warc-target-uri') &&
        `${ARCHIVE_FOLDER}/${filename}` === file &&
        offset === String(record.offset) &&
        length === String(record.length)
      if (!isRight) fail(ARCHIVE_INDEX, `${line} does not lead to byte ${record.offset} of ${file}`)
    }
    if (unindexed.length > 0) fail(ARCHIVE_INDEX, `${unindexed.length} answers have no line`)
  }

  return {
    started({ url, process }) {
      if (heard.get(url)?.process !== process) heard.set(url, { process, answers: new Map() })
    },
    heard(visit, reaction) {
      const { answers, process } = heard.get(visit.url) ?? {}
      if (process === visit.process) answers?.set(visit, reaction?.kind === 'answer' ? reaction : undefined)
    },
    ended(visit) {
      const { answers } = heard.get(visit.url) ?? {}
      if (visit.brokeOff && answers?.has(visit) === true) answers.set(visit, undefined)
    },
    settled({ task, outcome, answeredAt }) {
      if (answeredAt === undefined) return
      const answers = [...(heard.get(task.url)?.answers.values() ?? [])]
      heard.delete(task.url)
      if (outcome.kind === 'returned' || answers.every((answer) => answer === undefined)) return
      expected.push({ url: task.url, answers })
    },
    committed(position) {
      const named = Object.keys(position).filter((path) => path.endsWith('.warc.gz'))
      if (named.length > 1) fail(ARCHIVE_FOLDER, `${named.length} files are named as the one that is written`)
      const path = named[0] ?? ''
      // A file counts whole as soon as another is begun.
      if (path !== current && current !== '') readFile(current, disk.sizeOf(`${folder}/${current}`) ?? 0)
      current = path
      if (path !== '') readFile(path, position[path] ?? 0)
      if (expected.some(({ answers }) => !answers.includes(undefined)))
        fail(expected[0]?.url ?? '', 'settled, and its answer is not in the archive')
      expected = []
      readIndex(position[ARCHIVE_INDEX] ?? 0)
    },
    finish() {
      for (const name of disk.namesIn(`${folder}/${ARCHIVE_FOLDER}`)) {
        const path = `${ARCHIVE_FOLDER}/${name}`
        const size = disk.sizeOf(`${folder}/${path}`) ?? 0
        const read = files.get(path)
        if (read?.length !== size) fail(path, `${size} bytes at the end, and ${read?.length ?? 0} of them committed`)
        const now = createHash('sha1')
          .update(disk.read(`${folder}/${path}`, 0, size))
          .digest('hex')
        if (now !== read?.hash.copy().digest('hex')) fail(path, 'what was committed has changed')
      }
    },
  }
}
