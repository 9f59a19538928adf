/** A plain list: one absolute URL a line. Anything else is not a URL: an error message must not become a link. */
import { normalizeUrl } from '../../url/index.ts'
import { MAX_VALUE_CHARS, type EntryHandler, type PieceReader } from './entry.ts'

export function createListReader(handler: EntryHandler): PieceReader {
  let held = ''
  let isTooLong = false
  const readLine = (line: string): void => {
    const trimmed = line.trim()
    const url = /^https?:\/\//i.test(trimmed) ? normalizeUrl(trimmed) : undefined
    if (url !== undefined) handler.entry({ url, kind: 'page' })
  }
  return {
    write(piece) {
      const lines = piece.split(/[\r\n]/)
      lines[0] = held + lines[0]
      held = lines.pop() as string
      for (const line of lines) {
        if (!isTooLong) readLine(line)
        isTooLong = false
      }
      if (held.length > MAX_VALUE_CHARS) {
        isTooLong = true
        held = ''
      }
    },
    end() {
      if (!isTooLong) readLine(held)
    },
    isOver: () => false,
  }
}
