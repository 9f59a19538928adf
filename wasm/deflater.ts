/** What is compiled: AssemblyScript, by `build.mjs` beside it, into src/sink/warc/deflater-code.ts. */
import { beginBits, endBits } from './deflate-bits'
import { writeBlock } from './deflate-block'
import { DEFLATED } from './deflate-layout'
import { beginText, findSequences } from './deflate-repetitions'

/** Deflates the text between these places, and returns where what is made of it ends. */
export function deflate(start: usize, end: usize): usize {
  beginBits(DEFLATED)
  beginText(start, end)
  let from = start
  do {
    const stop = findSequences(from, end)
    writeBlock(from, stop == end)
    from = stop
  } while (from < end)
  return endBits()
}

export { packText } from './deflate-text'
