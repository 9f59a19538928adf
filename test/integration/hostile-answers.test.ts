/**
 * More than a hundred answers that no server should give, each from an address of its own, in one crawl by the program
 * itself. It ends by itself, says of each URL once what became of it, and has nothing to say on its screen but words.
 */
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { endings, readOutput, recordedUrls } from '../support/crawl-output.ts'
import { runTiptoe, temporaryFolder } from '../support/program.ts'

type Bytes = string | Buffer
/** What the server does after its bytes. */
type After = 'keep' | 'close' | 'reset'

interface Case {
  readonly bytes: Bytes
  readonly after: After
  /** `page`, the reason of a skip or the error of a failure. */
  readonly ending: string
}

const OK = 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n'
const CHUNKED = 'Transfer-Encoding: chunked\r\n\r\n'
const PAGE = '<title>t</title><p>hello'
const asBuffer = (bytes: Bytes): Buffer => (typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
const bodied = (body: Bytes, fields = ''): Buffer => {
  const bytes = asBuffer(body)
  return Buffer.concat([asBuffer(`${OK}${fields}Content-Length: ${bytes.length}\r\n\r\n`), bytes])
}
const inChunks = (chunks: string): string => `${OK}${CHUNKED}${chunks}`

const cases: Case[] = []
const expectAll = (ending: string, after: After, answers: readonly Bytes[]): void => {
  for (const bytes of answers) cases.push({ bytes, after, ending })
}

// Merely odd.
expectAll('page', 'keep', [
  bodied(PAGE).toString().replaceAll('\r\n', '\n'),
  `\r\n\r\n${String(bodied(PAGE))}`,
  `HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n${String(bodied(PAGE))}`,
  ...[
    'nonsense\r\n',
    ': x\r\n',
    'A B: x\r\n',
    'A : x\r\n',
    'A: x\ry\r\n',
    'A: b\r\n c\r\n\td\r\n',
    'A: \x1b]52;c;aGk=\x07\x9b31m\r\n',
    '\xe9: \xff\r\n',
    '__proto__: x\r\nconstructor: y\r\n',
    'Content-Type:\r\n',
    'Content-Type: text/html; charset=\x1b[31m\r\n',
    'Retry-After: 99999999999999999999\r\n',
    'Content-Disposition: attachment; filename="../../x"\r\n',
    `X-Robots-Tag: ${'noindex,'.repeat(5000)}\r\n`,
    `Set-Cookie: ${'a=b; '.repeat(5000)}\r\n`,
    'Connection: upgrade\r\nUpgrade: h2c\r\n',
    'Alt-Svc: h3=":22"\r\n',
    'Last-Modified: \xff\r\nETag: "\x7f"\r\n',
  ].map((fields) => bodied(PAGE, fields)),
  `${OK}Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello`,
  `${OK}Content-Length: 5, 5\r\n\r\nhello`,
  `${OK}Content-Length: 5\r\n\r\nhello and more`,
  inChunks('5;a=b\r\nhello\r\n0\r\n\r\n'),
  inChunks(`${'1\r\nx\r\n'.repeat(20_000)}0\r\n\r\n`),
  `HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\nhello`,
  `HTTP/1.1 299 Well\r\nContent-Length: 5\r\n\r\nhello`,
  bodied(gzipSync(PAGE), 'Content-Encoding: x-gzip\r\n'),
  bodied(deflateSync(PAGE), 'Content-Encoding: deflate\r\n'),
  bodied(brotliCompressSync(PAGE), 'Content-Encoding: identity, BR\r\n'),
  bodied(zstdCompressSync(PAGE), 'Content-Encoding: zstd\r\n'),
  bodied('', 'Content-Encoding: gzip\r\n'),
  bodied(Buffer.from([0xed, 0xa0, 0x80, 0, 0xff])),
  bodied('<div>'.repeat(100_000)),
  bodied(`<a ${'b '.repeat(100_000)}>`),
  bodied('<!--'.repeat(50_000)),
  bodied('&#x110000;&#0;&#xd800;&'.repeat(5000)),
])
expectAll('page', 'close', [`${OK}\r\n${PAGE}`, bodied(PAGE), `HTTP/1.0 200 OK\r\n\r\n${PAGE}`])
expectAll('page', 'reset', [bodied(PAGE)])

// Not HTTP, or in doubt about where the answer ends.
expectAll('protocol', 'keep', [
  '<html>hello',
  'SSH-2.0-x\r\n',
  '220 x ESMTP\r\n',
  '-ERR unknown command\r\n',
  '{"a":1}',
  ` ${OK}`,
  `\xef\xbb\xbf${OK}`,
  Buffer.alloc(10_000),
  Buffer.alloc(10_000, 255),
  Buffer.from([0x15, 3, 1, 0, 2, 2, 40]),
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  ...['HTTP/1', 'HTTP/1.', 'HTTP/', 'HTTP/a.b', 'HTTP/1.1.1', 'HTTP/10.0', 'http/1.1', 'ICY', 'RTSP/1.0'].map(
    (version) => `${version} 200 OK\r\nContent-Length: 0\r\n\r\n`,
  ),
  ...['', '0', '000', '099', '20', '2 00', '2OO', '-200', '1000', '200.0', '9'.repeat(20)].map(
    (status) => `HTTP/1.1 ${status} OK\r\nContent-Length: 0\r\n\r\n`,
  ),
  ...['', '-1', '+5', '0x5', '1e3', '5.0', '5, 6', '5;5', '5 5', '"5"', 'five'].map(
    (length) => `${OK}Content-Length: ${length}\r\n\r\nhello`,
  ),
  ...['gzip', 'gzip, chunked', 'xchunked', 'chunked;q=1', '"chunked"'].map(
    (coding) => `${OK}Transfer-Encoding: ${coding}\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
  ),
  ...[
    'zz\r\nhello\r\n0\r\n\r\n',
    '-5\r\nhello\r\n0\r\n\r\n',
    '0x5\r\nhello\r\n0\r\n\r\n',
    'fffffffffffffffff\r\nhello',
    '5\nhello\n0\n\n',
    '5\r\nhello!!\r\n0\r\n\r\n',
    '5\r\nhello\r\n0\r\nno field\r\n\r\n',
    `5;${'a'.repeat(200_000)}\r\nhello\r\n0\r\n\r\n`,
  ].map(inChunks),
  `${OK}A: x\0y\r\n\r\n`,
  `${OK}${'A: b\r\n'.repeat(5000)}\r\n`,
  `${OK}A: ${'x'.repeat(300_000)}\r\n\r\n`,
  `HTTP/1.1 200 ${'x'.repeat(300_000)}`,
  'HTTP/1.1 100 Continue\r\n\r\n'.repeat(1000),
  'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
  Buffer.alloc(4_000_000, '\r\n'),
])

// Broken off.
expectAll('protocol', 'close', [
  '',
  'HTTP/1.1 2',
  `${OK}A: b`,
  `${OK}Content-Length: 500\r\n\r\nhello`,
  `${OK}Content-Length: ${'9'.repeat(30)}\r\n\r\nhello`,
  inChunks('5\r\nhel'),
  inChunks('5\r\nhello\r\n0\r\n'),
  'HTTP/1.1 100 Continue\r\n\r\n',
  bodied(PAGE).toString().replaceAll('\r\n', '\r'),
])
expectAll('protocol', 'reset', ['', `${OK}A: b`, `${OK}Content-Length: 500\r\n\r\nhello`, `${OK}\r\n${PAGE}`])

// Silent.
expectAll('timeout', 'keep', [
  '',
  'HTTP/1.1 2',
  `${OK}A: b`,
  `${OK}Content-Length: 500\r\n\r\nhello`,
  inChunks('5\r\nhel'),
  'HTTP/1.1 100 Continue\r\n\r\n',
  `${OK}\r\n${PAGE}`,
])

expectAll('encoding', 'keep', [
  bodied(PAGE, 'Content-Encoding: snappy\r\n'),
  bodied(PAGE, 'Content-Encoding: gzip, gzip, gzip, gzip, gzip, gzip\r\n'),
  ...['gzip', 'deflate', 'br', 'zstd'].map((coding) => bodied(PAGE, `Content-Encoding: ${coding}\r\n`)),
  bodied(gzipSync(PAGE).subarray(0, 20), 'Content-Encoding: gzip\r\n'),
  bodied(brotliCompressSync(PAGE).subarray(0, 10), 'Content-Encoding: br\r\n'),
])

expectAll(
  'http',
  'keep',
  [304, 400, 401, 404, 410, 418, 451, 500, 599, 600, 999].map(
    (status) => `HTTP/1.1 ${status} \x1b]0;x\x07\r\nContent-Length: 0\r\n\r\n`,
  ),
)
const redirect = (location: string): string => `HTTP/1.1 302 Found\r\n${location}Content-Length: 0\r\n\r\n`
expectAll('redirect', 'keep', [
  redirect(''),
  ...[
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'gopher://127.0.0.1/',
    'http://[::1',
    'http:///',
  ].map((target) => redirect(`Location: ${target}\r\n`)),
  redirect(`Location: /${'x'.repeat(20_000)}\r\n`),
])
expectAll('redirect-scope', 'keep', [
  redirect('Location: http://169.254.169.254/latest/\r\n'),
  redirect('Location: /\x1b[31m\r\n'),
])

let server: Server
const sockets = new Set<Socket>()
let origins: string[] = []

/** Which case it is can be read from the address that was dialled. */
function answer(socket: Socket): void {
  const [, , high = 0, low = 0] = (socket.localAddress ?? '').split('.').map(Number)
  const found = cases[high * 250 + low - 1]
  if (found === undefined) return void socket.destroy()
  const { bytes, after } = found
  socket.write(asBuffer(bytes), () => {
    if (after === 'reset') socket.resetAndDestroy()
  })
  if (after === 'close') socket.end()
}

beforeAll(async () => {
  server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
    socket.on('data', (request) => {
      if (!String(request).startsWith('GET /robots.txt')) return answer(socket)
      socket.write('HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve))
  const { port } = server.address() as AddressInfo
  origins = cases.map((_, at) => `http://127.1.${Math.floor(at / 250)}.${(at % 250) + 1}:${port}/page/`)
})
afterAll(() => {
  for (const socket of sockets) socket.destroy()
  server.close()
})

const QUICK = ['--delay', '0s', '--attempts', '1', '--read-timeout', '1s', '--concurrency', '100', '--no-sitemaps']

/** Line ends and tabs are all that a screen may get beside words. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\0-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]/

test('the program survives them all, and tells what became of each', async () => {
  expect(cases.length).toBeGreaterThan(100)
  const folder = temporaryFolder()
  const out = join(folder.path, 'out')
  const seeds = origins.join('\n')
  const words = ['-i', '-', '--allow-address', '127.0.0.0/8', '-o', out, '-v', ...QUICK]
  const ending = await runTiptoe(words, { input: seeds })
  expect(ending).toMatchObject({ code: 1, signal: null })
  expect(ending.stdout + ending.stderr).not.toMatch(CONTROL)
  expect(ending.stderr).not.toMatch(/^ +at |bug in tiptoe/m)
  const output = readOutput(out)
  expect(recordedUrls(output).toSorted()).toEqual(origins.toSorted())
  const found = endings(output)
  const told = cases.map(({ bytes, after }, at) => [
    at,
    after,
    String(bytes).slice(0, 60),
    found.get(origins[at] ?? ''),
  ])
  const expected = cases.map(({ bytes, after, ending }, at) => [at, after, String(bytes).slice(0, 60), ending])
  expect(told).toEqual(expected)
  expect(await runTiptoe(['audit', out])).toMatchObject({ code: 0 })
  folder.remove()
}, 60_000)
