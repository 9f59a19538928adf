/**
 * A sorted index in compressed blocks, and the list of the blocks (ZipNum): a reader finds the block of a URL in the
 * list and fetches that alone, however large the archive is.
 */
import { gzipSync } from 'node:zlib'

/** As other makers of such files have it. */
const LINES_PER_BLOCK = 3_000
export const BLOCKS_NAME = 'index.cdx.gz'
export const LIST_NAME = 'index.idx'

export interface IndexBlocks {
  /** The compressed blocks. To be read to their end before the list. */
  blocks(): Generator<Uint8Array>
  /** One line for each block: how it begins, and where it is. */
  list(): string
}

/** Lines without their ends, in the order of their bytes. */
export function createIndexBlocks(lines: Iterable<string>): IndexBlocks {
  const list: string[] = [`!meta 0 ${JSON.stringify({ format: 'cdxj-gzip-1.0', filename: BLOCKS_NAME })}\n`]
  let offset = 0
  const compress = (block: readonly string[]): Uint8Array => {
    const bytes = gzipSync(`${block.join('\n')}\n`)
    const [first = ''] = block
    const key = first.slice(0, first.indexOf(' {'))
    list.push(`${key} ${JSON.stringify({ offset, length: bytes.length, filename: BLOCKS_NAME })}\n`)
    offset += bytes.length
    return bytes
  }
  return {
    *blocks() {
      let block: string[] = []
      for (const line of lines) {
        if (block.push(line) < LINES_PER_BLOCK) continue
        yield compress(block)
        block = []
      }
      if (block.length > 0) yield compress(block)
    },
    list: () => list.join(''),
  }
}
