/**
 * The archive of a crawl as one WACZ 1.1.1 file, to be opened by ReplayWeb.page and its kin: the WARC files of all its
 * folders as they are, a sorted index of them, the list of pages, and a manifest with a digest of each.
 */
import { createHash } from 'node:crypto'
import { closeSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { parseObject } from '../../base/index.ts'
import { TiptoeError } from '../../model/index.ts'
import { openToRead, shortFile } from '../committed-file.ts'
import type { DraftFile } from '../drafts.ts'
import type { PageIndex } from '../page-index.ts'
import type { ExportSource } from '../source.ts'
import { archivesOf, exportedPath, openArchiveIndex } from './archive-index.ts'
import { BLOCKS_NAME, createIndexBlocks, LIST_NAME } from './index-blocks.ts'
import { manifestDigest, manifestOf, pageLines, type Resource } from './manifest.ts'
import { createZipWriter } from './zip-writer.ts'

const CHUNK_BYTES = 1 << 20
/** What compression and the lists of blocks may add to an index of no size. */
const SLACK_BYTES = 1 << 20

export interface WaczOptions {
  /** When the file is made: clock ms. */
  readonly createdAt: number
}

export interface WaczCounts {
  readonly pages: number
  readonly archives: number
}

export async function writeWacz(
  source: ExportSource,
  index: PageIndex,
  file: DraftFile,
  { createdAt }: WaczOptions,
): Promise<WaczCounts> {
  const archives = archivesOf(source)
  if (archives.length === 0) {
    throw new TiptoeError('usage', `the crawl in ${placesOf(source)} has no archive`, {
      hint: 'WACZ is made of WARC files: crawl with --format jsonl,markdown,warc',
    })
  }
  const zip = createZipWriter(file)
  const resources: Resource[] = []
  const add = (path: string, atMost: number, data: Iterable<Uint8Array>): void => {
    const measured = measure(data)
    zip.add(path, atMost, measured.data)
    resources.push({ name: path.slice(path.lastIndexOf('/') + 1), path, ...measured.result() })
  }

  let files = 0
  for (const archive of archives) {
    for (const file of archive.files) {
      add(exportedPath(archive, file), file.length, fileChunks(join(archive.folder.path, file.path), file.length))
      files += 1
    }
  }
  const archiveIndex = await openArchiveIndex(archives)
  try {
    const { blocks, list } = createIndexBlocks(noting(archiveIndex.lines(), index))
    // Longer names of files add less than compression takes away.
    const atMost = 2 * archiveIndex.bytes + SLACK_BYTES
    add(`indexes/${BLOCKS_NAME}`, atMost, blocks())
    add(`indexes/${LIST_NAME}`, atMost, [Buffer.from(list())])
  } finally {
    archiveIndex.close()
  }
  // The first line is no page.
  let pages = -1
  const listed = function* (): Generator<Uint8Array> {
    for (const line of pageLines(index)) {
      pages += 1
      yield Buffer.from(line)
    }
  }
  add('pages/pages.jsonl', 2 * index.recordBytes + SLACK_BYTES, listed())
  const manifest = Buffer.from(manifestOf(source, index, resources, createdAt))
  zip.add('datapackage.json', manifest.length, [manifest])
  const digest = Buffer.from(manifestDigest(manifest))
  zip.add('datapackage-digest.json', digest.length, [digest])
  zip.finish()
  return { pages, archives: files }
}

/** For a message. */
function placesOf({ folders }: ExportSource): string {
  const [first, ...others] = folders
  return `${first?.path ?? ''}${others.length === 0 ? '' : ` and ${others.length} more`}`
}

/** The data, with its size and digest taken as it goes by. */
function measure(data: Iterable<Uint8Array>): {
  data: Iterable<Uint8Array>
  result: () => { hash: string; bytes: number }
} {
  const hash = createHash('sha256')
  let bytes = 0
  const passing = function* (): Generator<Uint8Array> {
    for (const piece of data) {
      hash.update(piece)
      bytes += piece.length
      yield piece
    }
  }
  return { data: passing(), result: () => ({ hash: `sha256:${hash.digest('hex')}`, bytes }) }
}

function* fileChunks(path: string, length: number): Generator<Uint8Array> {
  if (length === 0) return
  const descriptor = openToRead(path, length)
  try {
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, length))
    for (let position = 0; position < length;) {
      const read = readSync(descriptor, chunk, 0, Math.min(chunk.length, length - position), position)
      if (read === 0) throw shortFile(path, position, length)
      position += read
      yield chunk.subarray(0, read)
    }
  } finally {
    closeSync(descriptor)
  }
}

/** Notes which pages have an answer in the archive: only those can be shown. */
function* noting(lines: Iterable<string>, index: PageIndex): Generator<string> {
  for (const line of lines) {
    const url = parseObject(line.slice(line.indexOf('{')))?.['url']
    if (typeof url === 'string') index.noteArchived(url)
    yield line
  }
}
