/** Pages as JSON Lines, each with its text: the record, and `markdown` in place of the path to it. */
import type { ReadContent } from './content-files.ts'
import type { PageIndex } from './page-index.ts'

/** Every piece is one line. */
export function* jsonLines(index: PageIndex, read: ReadContent): Generator<string> {
  for (const { page, record } of index.records()) {
    const { markdownPath: _markdownPath, htmlPath: _htmlPath, outlinks: _outlinks, ...rest } = record
    yield `${escapeSeparators(JSON.stringify({ ...rest, markdown: read(page, record) ?? null }))}\n`
  }
}

/** JSON allows two line separators at which some readers split. */
function escapeSeparators(json: string): string {
  return json.replaceAll('\u2028', String.raw`\u2028`).replaceAll('\u2029', String.raw`\u2029`)
}
