/**
 * An archive of what went over the wire, in WARC 1.1. Exchanges are appended in order; a body that is known is not
 * written again. Like every file of the output, those of an archive count as far as their committed length: what lies
 * beyond is cut off on opening, so after a crash each of them ends with a whole record.
 */
import { join } from 'node:path'
import { VERSION, type Clock, type Disk } from '../../base/index.ts'
import { TiptoeError } from '../../model/index.ts'
import { openAppendFile } from '../append-file.ts'
import { gatherInto, type GatheringFile } from '../gathering-file.ts'
import { ARCHIVE_FOLDER, ARCHIVE_INDEX, currentFile, fileName, fileNumber } from './archive-files.ts'
import { createCapture, type Capture } from './capture.ts'
import type { ArchivedExchange } from './exchange.ts'
import { compressAside, type Compress } from './gzip-member.ts'
import { indexLine, type Original } from './index-line.ts'
import { readKnownPayloads } from './known-payloads.ts'
import { giveBack } from './member-memory.ts'
import { packRecord } from './packed-record.ts'
import { field, warcDate } from './warc-record.ts'

export interface ArchiveOptions {
  /** Another file is begun when one has this many bytes; the last exchange of a file may go beyond. */
  readonly maxFileBytes: number
  readonly userAgent: string
  /** How robots.txt is treated, for the description of each file: `obey`, or why not. */
  readonly robots: string
  /** A random one each time. */
  readonly newUuid: () => string
  /** What was appended may be taken back and appended once more, so what was prepared is kept as long as its exchange. */
  readonly isTakenBack: boolean
  /** For long records. In a thread of the system, unless another is passed in. */
  readonly compress?: Compress
  readonly clock: Pick<Clock, 'now'>
  readonly disk: Disk
}

export interface Archive {
  /**
   * Compresses the exchange ahead of time, and lets go of its body. Not needed, but it keeps that work out of `append`.
   * There is something to wait for only if that is done aside of everything else.
   */
  prepare(exchange: ArchivedExchange): Promise<void> | undefined
  /** Written when `position` is asked for, or before. */
  append(exchange: ArchivedExchange): void
  /** What was appended is on the disk. */
  sync(): void
  /** Lengths by name, for the position that is committed. All of it is written. */
  position(): Record<string, number>
  close(): void
}

/**
 * What was prepared stays with its exchange, also when the archive is opened anew: records that are taken back and
 * appended once more are the same, and the memory of their bodies may be another's by then.
 */
const prepared = new WeakMap<ArchivedExchange, Capture>()

/** `folder` is the output folder. */
export function openArchive(
  folder: string,
  committed: Readonly<Record<string, number>>,
  options: ArchiveOptions,
): Archive {
  const { disk, newUuid, clock, maxFileBytes, isTakenBack, compress = compressAside } = options
  makeArchiveFolder(join(folder, ARCHIVE_FOLDER), disk)
  const last = currentFile(committed)
  removeUncommitted(folder, last, disk)
  let number = last?.number ?? 0
  let name = last?.name ?? ''
  const openFile = (path: string, length: number): GatheringFile =>
    gatherInto(openAppendFile(join(folder, path), length, disk))
  let file = last === undefined ? undefined : openFile(last.path, last.length)
  const index = openFile(ARCHIVE_INDEX, committed[ARCHIVE_INDEX] ?? 0)
  const known = readKnownPayloads(index)

  const begin = (): GatheringFile => {
    file?.sync()
    file?.close()
    const at = clock.now()
    name = fileName(++number, at)
    file = openFile(`${ARCHIVE_FOLDER}/${name}`, 0)
    appendAtOnce(file, descriptionOf(name, at, options))
    return file
  }
  const write = (exchange: ArchivedExchange, capture: Capture, original: Original | undefined): void => {
    const { url, status, truncated } = exchange
    const into = file === undefined || file.length >= maxFileBytes ? begin() : file
    const offset = into.length
    const answer = original === undefined ? capture.response() : capture.revisit(original)
    into.append(answer)
    if (!isTakenBack) giveBack(answer)
    appendAtOnce(into, capture.request())
    appendAtOnce(into, capture.metadata())
    // There is nothing to show for a 304: whoever looks for the page finds the answer before it.
    if (capture.isNotModified) return
    const { mime, date, payload, canRepeat, recordId } = capture
    const isOriginal = original === undefined && canRepeat
    if (isOriginal) known.add(payload, index.length)
    index.append(
      indexLine({
        url,
        date,
        mime: original === undefined ? mime : 'warc/revisit',
        status,
        digest: payload,
        length: answer.length,
        offset,
        filename: name,
        ...(truncated === undefined ? {} : { truncated }),
        ...(isOriginal ? { recordId } : {}),
      }),
    )
  }
  return {
    prepare(exchange) {
      const capture = createCapture(exchange, newUuid, compress)
      prepared.set(exchange, capture)
      // A body that is known is left out, unless what was written is taken back meanwhile: it has to stay until then.
      if (capture.canRepeat && known.has(capture.payload)) return undefined
      const preparing = capture.prepare()
      if (preparing !== undefined) return preparing.then(() => exchange.release?.())
      exchange.release?.()
      return undefined
    },
    append(exchange) {
      const capture = prepared.get(exchange) ?? createCapture(exchange, newUuid, compress)
      write(exchange, capture, capture.canRepeat ? known.find(capture.payload) : undefined)
    },
    sync() {
      file?.sync()
      index.sync()
    },
    position() {
      file?.write()
      index.write()
      return {
        [ARCHIVE_INDEX]: index.length,
        ...(file === undefined ? {} : { [`${ARCHIVE_FOLDER}/${name}`]: file.length }),
      }
    },
    close() {
      file?.close()
      index.close()
    },
  }
}

/**
 * For a crawl that does not archive any more: its files are cut to their committed ends all the same, and what is
 * committed of them stays in the position.
 */
export function cutArchive(
  folder: string,
  committed: Readonly<Record<string, number>>,
  disk: Parameters<typeof openAppendFile>[2],
): Record<string, number> {
  const names = [ARCHIVE_INDEX, currentFile(committed)?.path].filter((path) => path !== undefined)
  const kept = names.flatMap((path) => (committed[path] === undefined ? [] : [[path, committed[path]] as const]))
  for (const [path, length] of kept) {
    const place = join(folder, path)
    if ((disk.sizeOf(place) ?? 0) > length) openAppendFile(place, length, disk).close()
  }
  return Object.fromEntries(kept)
}

function appendAtOnce(file: GatheringFile, member: Uint8Array): void {
  file.append(member)
  giveBack(member)
}

function makeArchiveFolder(path: string, disk: ArchiveOptions['disk']): void {
  disk.makeFolder(path)
  if (disk.isFolder(path)) return
  throw new TiptoeError('output', `${path} is a link, and nothing is written through it`, {
    hint: 'remove it, or choose another folder with --out',
  })
}

/** Files that were begun after the last commit. */
function removeUncommitted(folder: string, last: ReturnType<typeof currentFile>, disk: ArchiveOptions['disk']): void {
  for (const name of disk.namesIn(join(folder, ARCHIVE_FOLDER))) {
    const isLater = (fileNumber(name) ?? -1) >= (last?.number ?? 0)
    if (isLater && name !== last?.name) disk.remove(join(folder, ARCHIVE_FOLDER, name))
  }
}

/** The record that every file begins with: who wrote it, and how. */
function descriptionOf(name: string, at: number, { userAgent, robots, newUuid }: ArchiveOptions): Uint8Array {
  return packRecord(
    {
      type: 'warcinfo',
      id: newUuid(),
      date: warcDate(at),
      fields: field('WARC-Filename', name),
      contentType: 'application/warc-fields',
      text:
        field('software', `tiptoe/${VERSION}`) +
        field('format', 'WARC File Format 1.1') +
        field('conformsTo', 'http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/') +
        field('robots', robots) +
        field('http-header-user-agent', userAgent),
      encoding: 'utf8',
    },
    true,
  )
}
