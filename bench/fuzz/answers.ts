/** Raw HTTP/1 answers, read as a whole and in pieces: what is heard of them must be the same. */
import { AnswerReader } from '../../src/fetch/answer-reader.ts'

/** Pieces of a few bytes, which end in the middle of everything, and of what a socket gives. */
const PIECE_BYTES = [7, 65_536]

/** Throws where it matters how the bytes come. */
export function compareAnswers(bytes: Uint8Array): void {
  const whole = hear(bytes, Math.max(1, bytes.length))
  for (const size of PIECE_BYTES) {
    const heard = hear(bytes, size)
    if (heard !== whole) {
      throw new Error(`in pieces of ${size}: ${heard.slice(0, 300)}, and as a whole: ${whole.slice(0, 300)}`)
    }
  }
}

function hear(bytes: Uint8Array, pieceBytes: number): string {
  const heard: string[] = []
  let bodyBytes = 0
  let isOver = false
  const over = (words: string): void => {
    isOver = true
    heard.push(words)
  }
  const reader = new AnswerReader({
    onFirstByte() {},
    onInterim: (status) => void heard.push(`interim ${status}`),
    onHead: ({ status, body, headers }) =>
      void heard.push(`head ${status} ${body} ${headers.get('content-type')} ${headers.all('set-cookie').length}`),
    onData: (part) => void (bodyBytes += part.length),
    // What comes after an answer is only seen where it comes with its end.
    onEnd: () => over('end'),
    // Of several reasons, the one that is met first counts.
    onRefused: () => over('refused'),
  })
  reader.expect()
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    if (isOver) break
    reader.push(Buffer.from(bytes.subarray(at, at + pieceBytes)))
  }
  if (!isOver && !reader.close()) heard.push('broken off')
  return heard.at(-1) === 'refused' ? 'refused' : `${heard.join('; ')}; ${bodyBytes} bytes`
}
