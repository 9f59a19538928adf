import fc from 'fast-check'
import { expect, test } from 'vitest'
import { AnswerReader } from './answer-reader.ts'

/** What is heard of these pieces, and whether the connection may be used again. */
function hear(pieces: readonly Uint8Array[], isClosed: boolean): string[] {
  const heard: string[] = []
  let body = ''
  let isOver = false
  const reader = new AnswerReader({
    onFirstByte: () => heard.push('first byte'),
    onInterim: (status) => heard.push(`interim ${status}`),
    onHead: (head) => heard.push(`head ${head.status} ${String(head.body)} ${head.raw}`),
    onData: (part) => (body += part.toString('latin1')),
    onEnd(isReusable) {
      isOver = true
      heard.push(isReusable ? 'end' : 'end of the connection')
    },
    onRefused(words) {
      isOver = true
      heard.push(words)
    },
  })
  reader.expect()
  for (const piece of pieces) {
    // Lent: what the reader holds on to must not change with it.
    const lent = Buffer.from(piece)
    if (!isOver) reader.push(lent)
    else if (piece.length > 0) heard[heard.length - 1] = (heard.at(-1) ?? '').replace(/^end$/, 'end of the connection')
    lent.fill(0)
  }
  if (isClosed && !isOver && !reader.close()) heard.push('broken off')
  return [...heard, body]
}

function cut(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [...cuts.map((place) => place % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b)
  let start = 0
  return places.map((end) => {
    const piece = bytes.subarray(start, end)
    start = end
    return piece
  })
}

const PARTS = [
  'HTTP/1.1 200 OK\r\n',
  'HTTP/1.0 404\n',
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.1 204 X\r\n',
  'HTTP/',
  'Content-Length: 5\r\n',
  'Content-Length: 12\n',
  'Transfer-Encoding: chunked\r\n',
  'Connection: close\r\n',
  'A: b\r\n c\r\n',
  '\r\n',
  '\n',
  '\r',
  '5\r\nhello\r\n',
  '00A;x="y"\r\n0123456789\r\n',
  '0\r\n',
  '0\r\n\r\n',
  'B: c\r\n',
  'hello',
  '\0',
  ' ',
]
const answers = fc
  .array(fc.oneof({ arbitrary: fc.constantFrom(...PARTS), weight: 9 }, fc.string({ maxLength: 4 })), { maxLength: 14 })
  .map((parts) => Buffer.from(parts.join(''), 'latin1'))

test('an answer is the same however its bytes come', () => {
  fc.assert(
    fc.property(answers, fc.array(fc.nat(), { maxLength: 12 }), fc.boolean(), (bytes, cuts, isClosed) => {
      const whole = bytes.length === 0 ? [] : [bytes]
      const pieces = cut(bytes, cuts).filter((piece) => piece.length > 0)
      expect(hear(pieces, isClosed)).toEqual(hear(whole, isClosed))
      const single = Array.from(bytes, (byte) => Buffer.from([byte]))
      expect(hear(single, isClosed)).toEqual(hear(whole, isClosed))
    }),
    { numRuns: 2000 },
  )
})

test.each([
  ['with its end', '0\r\n\r\n'],
  ['before more of the body', `5\r\nhello\r\n400\r\n${'x'.repeat(1024)}\r\n0\r\n\r\n`],
])('too much around the body is refused however it comes, %s too', (_name, rest) => {
  const bytes = Buffer.from(
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n1;${'e'.repeat(70_000)}\r\nx\r\n${rest}`,
  )
  for (const pieces of [[bytes], cut(bytes, [60, 30_000, 66_000]), cut(bytes, [71_000])]) {
    expect(hear(pieces, false).at(-2)).toBe('the answer is little body and much around it')
  }
})

test('a good answer in chunks of any size is read, and leaves the connection as it was', () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ minLength: 1, maxLength: 400 }), { maxLength: 20 }),
      fc.array(fc.nat()),
      (chunks, cuts) => {
        const coded = chunks.flatMap((chunk) => [`${chunk.length.toString(16)}\r\n`, chunk, '\r\n'])
        const parts = ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', ...coded, '0\r\n\r\n']
        const bytes = Buffer.concat(parts.map((part) => Buffer.from(part as Uint8Array)))
        const heard = hear(
          cut(bytes, cuts).filter((piece) => piece.length > 0),
          false,
        )
        expect(heard.at(-1)).toBe(Buffer.concat(chunks).toString('latin1'))
        expect(heard.at(-2)).toBe('end')
      },
    ),
    { numRuns: 300 },
  )
})

test('what comes when nothing was asked is not taken', () => {
  const reader = new AnswerReader({
    onFirstByte: () => expect.fail('nothing was asked'),
    onInterim: () => expect.fail('nothing was asked'),
    onHead: () => expect.fail('nothing was asked'),
    onData: () => expect.fail('nothing was asked'),
    onEnd: () => expect.fail('nothing was asked'),
    onRefused: () => expect.fail('nothing was asked'),
  })
  expect(reader.push(Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'))).toBe(false)
  expect(reader.close()).toBe(false)
})
