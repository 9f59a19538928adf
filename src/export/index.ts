/** A crawl in other forms: an archive to replay, a table, text, one document for a language model. */
export { COMMON_CSV_FIELDS, CSV_FIELDS, type CsvField } from './csv.ts'
export {
  EXPORT_FORMATS,
  exportCrawl,
  isFolderExport,
  type ExportFormat,
  type ExportReport,
  type ExportRequest,
} from './export.ts'
export { MAX_PART_TOKENS, MIN_PART_TOKENS } from './markdown/book.ts'
export { USES, type Use } from './permitted-use.ts'
export type { LeftOut } from './selection.ts'
export { openExportSource, type CommittedPositions, type OpenExportSourceOptions } from './open-source.ts'
export { exportSource, type ExportSource, type SourceFolder } from './source.ts'
