/** Reading: from the bytes of a page or sitemap to what they say, in a thread that can be lost. */
export {
  TELLING_HEADERS,
  type ContentInput,
  type ContentReading,
  type DocumentInput,
  type DocumentReading,
  type PageInput,
  type PageReading,
  type ReadingOf,
  type ReadResult,
  type SitemapContents,
  type SitemapInput,
  type TellingHeaders,
} from './document.ts'
export { createGuardedReader, type GuardOptions } from './guarded-reader.ts'
export { createInlineReader } from './inline-reader.ts'
export { readDocument } from './read-document.ts'
export { createRelievedReader, type RelievedReader } from './relieved-reader.ts'
export { createReader, type Backlog, type Reader, type ReaderOptions } from './reader.ts'
