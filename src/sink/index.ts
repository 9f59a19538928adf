/** Where pages go: records in JSON Lines, content in Markdown. */
export { contentPath } from './content-path.ts'
export { explained, hasRecords, openOutputFolder, type OutputFolder } from './output-folder.ts'
export { RECORD_FILES, type OutputRecord } from './record.ts'
