/**
 * One export of a crawl: which pages it has, what becomes of them, and where it goes. Nothing of the crawl is changed.
 */
import type { Clock } from '../base/index.ts'
import { createContentReader, type ReadContent } from './content-files.ts'
import { COMMON_CSV_FIELDS, csvLines, type CsvField } from './csv.ts'
import { writeDraftFile, writeDraftFolder } from './drafts.ts'
import { jsonLines } from './jsonl.ts'
import { bookFiles } from './markdown/book.ts'
import { openPageIndex, type PageIndex } from './page-index.ts'
import type { Use } from './permitted-use.ts'
import type { LeftOut } from './selection.ts'
import type { ExportSource } from './source.ts'
import { writeTextFolder } from './text-folder.ts'
import { writeWacz } from './wacz/wacz.ts'

export const EXPORT_FORMATS = ['wacz', 'csv', 'jsonl', 'text', 'markdown'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

export interface ExportRequest {
  readonly format: ExportFormat
  /** A file, or a folder where there are many files; or a stream that takes whole lines, where it is one text file. */
  readonly target: { readonly path: string } | { readonly write: (text: string) => Promise<void> }
  /** What is there already is replaced. */
  readonly replace?: boolean
  /** Patterns as in the scope of a crawl. */
  readonly include?: readonly string[]
  readonly exclude?: readonly string[]
  readonly permitted?: Use
  /** Pages that repeat another one are kept; a table and an archive have them anyway. */
  readonly duplicates?: boolean
  /** Columns of a table. */
  readonly fields?: readonly CsvField[]
  /** Markdown is divided into files of at most so many tokens, as `countTokens` counts them. */
  readonly maxTokens?: number
}

export interface ExportReport {
  readonly format: ExportFormat
  /** Null for a stream. */
  readonly path: string | null
  /** Files of the export itself. */
  readonly files: number
  readonly bytes: number
  readonly pages: number
  /** Pages of the crawl that are not in the export, by reason. */
  readonly leftOut: Readonly<Partial<Record<LeftOut, number>>>
  /** Records that were passed over, since there is another one of the same page and visit. */
  readonly doubled: number
}

/** Whether the export is a folder of files and not one file. */
export function isFolderExport(request: Pick<ExportRequest, 'format' | 'maxTokens'>): boolean {
  return request.format === 'text' || (request.format === 'markdown' && request.maxTokens !== undefined)
}

export async function exportCrawl(
  source: ExportSource,
  request: ExportRequest,
  { clock }: { readonly clock: Pick<Clock, 'now'> },
): Promise<ExportReport> {
  const isText = request.format !== 'csv' && request.format !== 'wacz'
  const index = openPageIndex(source, {
    include: request.include ?? [],
    exclude: request.exclude ?? [],
    ...(request.permitted === undefined ? {} : { permitted: request.permitted }),
    textOnly: isText,
    dropDuplicates: isText && request.duplicates !== true,
  })
  try {
    const written = await write(source, index, request, clock)
    const path = 'path' in request.target ? request.target.path : null
    const { pages = index.count, files, bytes } = written
    const unarchived = index.count - pages
    const leftOut = unarchived === 0 ? index.leftOut : { ...index.leftOut, unarchived }
    return { format: request.format, path, pages, files, bytes, leftOut, doubled: index.doubled }
  } finally {
    index.close()
  }
}

type Written = Pick<ExportReport, 'files' | 'bytes'> & Partial<Pick<ExportReport, 'pages'>>

async function write(
  source: ExportSource,
  index: PageIndex,
  request: ExportRequest,
  clock: Pick<Clock, 'now'>,
): Promise<Written> {
  const { format, target } = request
  const options = { replace: request.replace === true }
  if (!('path' in target)) return writeStream(textPieces(source, index, request), target.write)
  if (isFolderExport(request)) {
    const read = createContentReader(source)
    return writeDraftFolder(target.path, options, (folder) => {
      const about = { format, pages: index.count, leftOut: index.leftOut }
      if (format === 'text') return { ...about, ...writeTextFolder(index, read, folder) }
      let files = 0
      let bytes = 0
      for (const file of bookFiles(index, read, maxTokensOf(request))) {
        bytes += folder.write(file.name ?? '', file.text)
        files += 1
      }
      return { ...about, files, bytes }
    })
  }
  return writeDraftFile(target.path, options, async (file) => {
    if (format === 'wacz') {
      const { pages } = await writeWacz(source, index, file, { createdAt: clock.now() })
      return { files: 1, bytes: file.bytes, pages }
    }
    return writeStream(textPieces(source, index, request), async (text) => file.write(text))
  })
}

/** One text file, in pieces of whole lines. */
function textPieces(source: ExportSource, index: PageIndex, request: ExportRequest): Iterable<string> {
  if (request.format === 'csv') return csvLines(index, request.fields ?? COMMON_CSV_FIELDS)
  const read = createContentReader(source)
  if (request.format === 'jsonl') return jsonLines(index, read)
  if (request.format === 'markdown' && request.maxTokens === undefined) return wholeBook(index, read)
  throw new RangeError(`an export as ${request.format} is not one text file`)
}

function* wholeBook(index: PageIndex, read: ReadContent): Generator<string> {
  for (const { text } of bookFiles(index, read, {})) yield* text
}

function maxTokensOf({ maxTokens }: ExportRequest): { maxTokens?: number } {
  return maxTokens === undefined ? {} : { maxTokens }
}

/** Small pieces are gathered. */
const GATHER = 1 << 16

async function writeStream(
  pieces: Iterable<string>,
  put: (text: string) => Promise<void>,
): Promise<{ files: number; bytes: number }> {
  let bytes = 0
  let gathered = ''
  const flush = async (): Promise<void> => {
    if (gathered === '') return
    bytes += Buffer.byteLength(gathered)
    await put(gathered)
    gathered = ''
  }
  for (const piece of pieces) {
    gathered += piece
    if (gathered.length >= GATHER) await flush()
  }
  await flush()
  return { files: 1, bytes }
}
