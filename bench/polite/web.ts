/**
 * A web of very many small hosts in a process of its own: each is an address of 127.0.0.0/8, and one server answers for
 * all of them. It speaks just enough HTTP/1.1 for one request after another on a connection, since a whole server would
 * take more of the machine than the crawler that is measured.
 *
 * It keeps a log of every request in memory, and judges it here: the log of a minute is too long to be handed over. It
 * serves nobody but this machine.
 */
import { createServer, type Server, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { createRng } from '../../src/base/index.ts'
import { serve, startWorker, type Worker } from '../support/worker.ts'
import { paceOf, type AskedHost, type Pace } from './pace.ts'

export interface WebVerbs {
  /** Listens on a port of every loopback address, and takes so long to answer; returns the port. */
  open(answerMs: number): Promise<number>
  /** Hosts that were asked so far, and when that is by the server's clock. */
  count(): { readonly hosts: number; readonly requests: number; readonly nowMs: number }
  pace(span: { readonly fromMs: number; readonly untilMs: number; readonly delayMs: number }): Pace
  /** Forgets what was asked. */
  forget(): void
}

export const startPoliteWeb = (): Worker<WebVerbs> => startWorker<WebVerbs>(fileURLToPath(import.meta.url), [])

/** Hosts have the addresses from 127.1.0.0 on. */
const FIRST_HOST = 1 << 16
const MOST_HOSTS = (1 << 24) - FIRST_HOST - 1
/** Requests that the log has room for; what comes then is refused, and the figures would be wrong without it. */
const LOG_LIMIT = 8_000_000
/** Of one request. */
const HEAD_LIMIT = 16_384

export function hostAddress(number: number): string {
  if (number > MOST_HOSTS) throw new Error(`there are no more than ${MOST_HOSTS} hosts`)
  const bits = FIRST_HOST + number
  return `127.${bits >> 16}.${(bits >> 8) & 255}.${bits & 255}`
}

function hostNumber(address: string): number {
  const [, a = 0, b = 0, c = 0] = address.split('.').map(Number)
  return (a << 16) + (b << 8) + c - FIRST_HOST
}

const ROBOTS = 'User-agent: *\nDisallow: /private/\n'
const WORDS =
  'archive bridge cache channel clock copper delay desk engine evening field garden gate harbour index island kettle ladder lantern letter margin meadow minute mirror needle office orchard packet pencil pocket quiet river road season shelf signal silver station summer table teacup thread ticket tower valley vessel village walk water window winter wire yard'.split(
    ' ',
  )
/** Words that tell one page from another. */
const WORDS_PER_PAGE = 120

/** A host is a tree of pages that branches in two and never ends, so there is always something left to ask for. */
function page(path: string, host: number): string {
  const number = path === '/' ? 0 : Number(path.slice('/page/'.length))
  const rng = createRng(host * 7_919 + number)
  let text = ''
  for (let i = 0; i < WORDS_PER_PAGE; i++) text += `${WORDS[rng.int(WORDS.length)]} `
  return (
    `<!doctype html><html lang="en"><title>Page ${number} of host ${host}</title><body><main><h1>Page ${number}</h1>` +
    `<p>${text}</p></main><nav><a href="/">home</a> <a href="/page/${2 * number + 1}">left</a> ` +
    `<a href="/page/${2 * number + 2}">right</a> <a href="/page/${(number - 1) >> 1}">up</a></nav></body></html>\n`
  )
}

function answerTo(path: string, host: number): string {
  const body = path === '/robots.txt' ? ROBOTS : page(path, host)
  const type = path === '/robots.txt' ? 'text/plain' : 'text/html; charset=utf-8'
  return `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ncontent-length: ${body.length}\r\n\r\n${body}`
}

/** Columns, since an object for each of millions would make the server's own pauses part of what is measured. */
function createLog(): {
  arrived(host: number, at: number): number
  answered(entry: number, at: number): void
  entries(): Iterable<AskedHost>
  readonly length: number
} {
  const hosts = new Uint32Array(LOG_LIMIT)
  const arrivals = new Float64Array(LOG_LIMIT)
  const answers = new Float64Array(LOG_LIMIT)
  let length = 0
  return {
    arrived(host, at) {
      if (length === LOG_LIMIT) throw new Error('the log of this web is full')
      hosts[length] = host
      arrivals[length] = at
      answers[length] = Infinity
      return length++
    },
    answered(entry, at) {
      answers[entry] = at
    },
    *entries() {
      for (let i = 0; i < length; i++) {
        yield { host: hosts[i] as number, arrivedAt: arrivals[i] as number, answeredAt: answers[i] as number }
      }
    },
    get length() {
      return length
    },
  }
}

function serveWeb(): void {
  let log = createLog()
  let asked = new Set<number>()
  let server: Server | undefined

  const answer = (socket: Socket, host: number, head: string, answerMs: number): void => {
    const entry = log.arrived(host, performance.now())
    asked.add(host)
    const path = head.slice(head.indexOf(' ') + 1, head.indexOf(' ', head.indexOf(' ') + 1))
    const send = (): void => {
      log.answered(entry, performance.now())
      socket.write(answerTo(path, host), 'latin1')
    }
    if (answerMs === 0) send()
    else setTimeout(send, answerMs)
  }

  const welcome = (socket: Socket, answerMs: number): void => {
    const address = socket.localAddress ?? ''
    if (!address.startsWith('127.')) return void socket.destroy()
    const host = hostNumber(address)
    let head = ''
    socket.setNoDelay(true)
    socket.setEncoding('latin1')
    socket.on('error', () => socket.destroy())
    socket.on('data', (piece: string) => {
      head += piece
      if (head.length > HEAD_LIMIT) return void socket.destroy()
      if (!head.endsWith('\r\n\r\n')) return
      answer(socket, host, head, answerMs)
      head = ''
    })
  }

  serve({
    open: (answerMs: number) =>
      new Promise<number>((resolve, reject) => {
        server?.close()
        const opened = createServer((socket) => welcome(socket, answerMs))
        server = opened
        opened.once('error', reject)
        opened.listen({ port: 0, host: '0.0.0.0', backlog: 4_096 }, () => {
          resolve((opened.address() as AddressInfo).port)
        })
      }),
    count: () => ({ hosts: asked.size, requests: log.length, nowMs: performance.now() }),
    pace: (span: Parameters<WebVerbs['pace']>[0]) => paceOf(log.entries(), span),
    forget() {
      log = createLog()
      asked = new Set()
    },
  })
  process.on('disconnect', () => process.exit())
}

if (process.argv[1] === fileURLToPath(import.meta.url)) serveWeb()
