import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readHead } from './answer-head.ts'

const LINES = [
  'Server: x\r\n',
  'Server: x\n',
  'Server: xy\r\n',
  'server: x\r\n',
  'Server : x\r\n',
  ' folded\r\n',
  '\tfolded again\r\n',
  'Connection: keep-alive\r\n',
  'Connection: close, x\r\n',
  'Content-Length: 5\r\n',
  'Content-Length: 05\r\n',
  'Content-Length: 6\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding:\r\n',
  'A: \u0001b\r\n',
  'no field\r\n',
  ': nameless\r\n',
]
const STATUS_LINES = ['HTTP/1.1 200 OK\r\n', 'HTTP/1.0 404\r\n', 'HTTP/1.1 204 x\n']
const NAMES = ['server', 'connection', 'content-length', 'transfer-encoding', 'a']

function read(raw: string): unknown {
  const head = readHead(raw)
  return head.kind === 'refused' ? head : { ...head, headers: NAMES.map((name) => head.headers.all(name)) }
}

test('a head says the same whatever the head before it had in common with it', () => {
  const heads = fc
    .tuple(fc.constantFrom(...STATUS_LINES), fc.array(fc.constantFrom(...LINES), { maxLength: 6 }))
    .map(([status, lines]) => `${status}${lines.join('')}\r\n`)
  fc.assert(
    fc.property(fc.array(heads, { minLength: 2, maxLength: 8 }), (all) => {
      const alone = all.map((raw) => {
        // After this one nothing is in common.
        readHead('HTTP/1.1 200\r\n\r\n')
        return read(raw)
      })
      expect(all.map(read)).toEqual(alone)
    }),
    { numRuns: 2_000 },
  )
})
