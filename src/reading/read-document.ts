/**
 * From the bytes of a document to what it says. The one place where bytes from the network are interpreted, and a
 * function of its input alone: no clock, no network, no settings, so it gives the same wherever it runs.
 *
 * Whatever it throws is a bug that some input has brought to light; what becomes of that input is for the reader to say.
 */
import type { DocumentInput, DocumentReading } from './document.ts'
import { readContentOfPage, readPage } from './read-page.ts'
import { readSitemap } from './read-sitemap.ts'

/** A page is read at once; a sitemap, which may be packed, piece by piece. */
export function readDocument(input: DocumentInput): DocumentReading | Promise<DocumentReading> {
  if (input.kind === 'page') return readPage(input)
  return input.kind === 'content' ? readContentOfPage(input) : readSitemap(input)
}
