/** Where pages go: records in JSON Lines, content in Markdown and HTML, exchanges in WARC. */
export { createContentFiles, makeContentFolder, type ContentFiles } from './content-files.ts'
export { contentPath } from './content-path.ts'
export { openFingerprints, type Fingerprints, type JudgedPage, type Repetition } from './fingerprints.ts'
export { explained, hasRecords, openOutputFolder, type OutputFolder, type OutputFolderDeps } from './output-folder.ts'
export { RECORD_FILES, recordLine, type OutputRecord } from './record.ts'
export {
  ARCHIVE_FOLDER,
  ARCHIVE_INDEX,
  archiveFiles,
  newestArchiveFile,
  type ArchiveFile,
} from './warc/archive-files.ts'
export type { ArchiveOptions } from './warc/archive.ts'
export type { ArchivedExchange, Truncation } from './warc/exchange.ts'
export { mediaTypeOf } from './warc/http-head.ts'
export { indexLine } from './warc/index-line.ts'
export {
  readCommitted,
  readWorkerFolder,
  writeCommitted,
  writeWorkerFolder,
  type WorkerFolderDeps,
  type WorkerIdentity,
} from './worker-folder.ts'
