/**
 * What does a page cost to fetch? One page of a generated site is asked for again and again, over kept connections, by
 * our fetcher, by undici, and by sockets that do nothing but write a request and count the bytes of the answer. They
 * take turns in one process, the site has a process of its own, and the CPU time of this one is read around each turn.
 *
 *   npx node bench/fetch.ts [pages a turn] [turns]
 */
import { connect, type Socket } from 'node:net'
import { Agent, request, type Dispatcher } from 'undici'
import { createSystemClock } from '../src/base/index.ts'
import { createFetcher } from '../src/fetch/index.ts'
import type { NormalizedUrl } from '../src/model/index.ts'
import { SITE, startSite } from './support/site.ts'
import { figure, printTable } from './support/table.ts'

const CONCURRENCY = 20
const BYTES_PER_PAGE = 30_000

const [pages = 4_000, turns = 7] = process.argv.slice(2).map(Number)
const site = await startSite({ pages: 1, linksPerPage: 110, bytesPerPage: BYTES_PER_PAGE, seed: 1 })
const authority = `${SITE}:${site.port}`
const url = `http://${authority}/` as NormalizedUrl

type Get = () => Promise<number>

const fetcher = createFetcher(
  {
    userAgent: 'Bench/1.0',
    timeouts: { connectMs: 10_000, readMs: 30_000, totalMs: 60_000 },
    maxBodyBytes: 10_000_000,
    maxWireBytes: 50_000_000,
    minRateBytes: 100,
    allowAddresses: ['127.0.0.0/8'],
    resolve: [`${authority}:127.0.0.1`],
    connectionsPerOrigin: CONCURRENCY,
  },
  { clock: createSystemClock() },
)

const ours: Get = async () => {
  const outcome = await fetcher.fetch({ url })
  if (outcome.kind !== 'response') throw new Error(`the fetcher says ${outcome.kind}`)
  const { length } = outcome.body
  outcome.release?.()
  return length
}

const origin = `http://127.0.0.1:${site.port}`
const dispatcher = new Agent({ connections: CONCURRENCY })

const byRequest: Get = async () => {
  const { body } = await request(origin, { dispatcher, headers: { host: authority } })
  return (await body.arrayBuffer()).byteLength
}

const byDispatch: Get = () =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart() {},
      onResponseStart() {},
      onResponseData: (_controller, chunk) => void chunks.push(chunk),
      onResponseEnd: () => resolve(Buffer.concat(chunks).length),
      onResponseError: (_controller, error) => reject(error),
    }
    dispatcher.dispatch({ origin, path: '/', method: 'GET', headers: { host: authority } }, handler)
  })

const sockets: Socket[] = []
const idle: Get[] = []

/** One kept socket. The size of an answer is read once, from its first piece; every other is the same. */
function openSocket(): Get {
  const buffer = Buffer.allocUnsafe(64 * 1024)
  let answerBytes = 0
  let received = 0
  let over = (_bytes: number): void => {}
  const onread = {
    buffer,
    callback: (bytes: number): boolean => {
      if (answerBytes === 0) {
        const text = buffer.toString('latin1', 0, bytes)
        const [head = '', length = '0'] = /^[^]*?Content-Length: (\d+)[^]*?\r\n\r\n/.exec(text) ?? []
        answerBytes = head.length + Number(length)
      }
      received += bytes
      if (received === answerBytes) over(received)
      return true
    },
  }
  const socket = connect({ host: '127.0.0.1', port: site.port, noDelay: true, onread })
  sockets.push(socket)
  return () =>
    new Promise((resolve) => {
      received = 0
      over = resolve
      socket.write(`GET / HTTP/1.1\r\nhost: ${authority}\r\nconnection: keep-alive\r\n\r\n`, 'latin1')
    })
}

const bySocket: Get = async () => {
  const get = idle.pop() ?? openSocket()
  const bytes = await get()
  idle.push(get)
  return bytes
}

async function turn(get: Get): Promise<number> {
  let left = pages
  const worker = async (): Promise<void> => {
    while (left-- > 0) {
      const bytes = await get()
      if (bytes < BYTES_PER_PAGE / 2) throw new Error(`a page of ${bytes} bytes`)
    }
  }
  const before = process.cpuUsage()
  await Promise.all(Array.from({ length: CONCURRENCY }, worker))
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000 / pages
}

const contestants: readonly (readonly [name: string, get: Get])[] = [
  ['tiptoe', ours],
  ['undici request', byRequest],
  ['undici dispatch', byDispatch],
  ['sockets alone', bySocket],
]

try {
  const milliseconds = new Map<string, number[]>(contestants.map(([name]) => [name, []]))
  for (let round = -1; round < turns; round++) {
    for (const [name, get] of contestants) {
      const spent = await turn(get)
      // The first round warms up.
      if (round >= 0) milliseconds.get(name)?.push(spent)
    }
  }
  const middle = (name: string): number =>
    (milliseconds.get(name) ?? []).toSorted((a, b) => a - b)[Math.floor(turns / 2)] ?? Number.NaN
  process.stdout.write(
    `${pages} pages of ${BYTES_PER_PAGE} bytes a turn, ${CONCURRENCY} at a time, median of ${turns}\n`,
  )
  printTable(
    ['what', 'CPU ms a page', 'of undici request'],
    contestants.map(([name]) => [name, figure(middle(name)), `${figure(middle(name) / middle('undici request'))} ×`]),
  )
} finally {
  site.stop()
  await fetcher.close()
  await dispatcher.destroy()
  for (const socket of sockets) socket.destroy()
}
