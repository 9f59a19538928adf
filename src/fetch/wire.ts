/** Heads of requests and answers as text: as HTTP/1.1 writes them, to be sent, and for archives of any protocol. */
import type { RequestHead } from './connection.ts'
import { isFieldValue, type RequestHeaders } from './headers.ts'
import type { Protocol } from './outcome.ts'

/** Never written down, wherever they come from. */
const SECRET: ReadonlySet<string> = new Set(['authorization', 'cookie', 'proxy-authorization'])

/** As it is sent. What HTTP cannot carry in a field, or would take for another field, is left out with its name. */
export function requestText(head: RequestHead): string {
  const { open, secret } = linesOf(head)
  return `GET ${head.path} HTTP/1.1\r\nhost: ${head.authority}\r\nconnection: keep-alive\r\n${open}${secret}\r\n`
}

/** The same for archives: without what is secret. */
export function requestHeadText(head: RequestHead, protocol: Protocol): string {
  const connection = protocol === 'http/1.1' ? 'connection: keep-alive\r\n' : ''
  return `GET ${head.path} HTTP/1.1\r\nhost: ${head.authority}\r\n${connection}${linesOf(head).open}\r\n`
}

interface Lines {
  readonly headers: RequestHeaders
  readonly secretHeaders: RequestHeaders
  readonly open: string
  readonly secret: string
}

/** What was written last: most requests have the same fields, in the same objects. */
let last: Lines | undefined

function linesOf({ headers, secretHeaders }: RequestHead): Lines {
  if (last?.headers === headers && last.secretHeaders === secretHeaders) return last
  let [open, secret] = ['', '']
  for (const name in headers) {
    if (Object.hasOwn(secretHeaders, name)) continue
    if (SECRET.has(name)) secret += line(name, headers[name] ?? '')
    else open += line(name, headers[name] ?? '')
  }
  for (const name in secretHeaders) secret += line(name, secretHeaders[name] ?? '')
  last = { headers, secretHeaders, open, secret }
  return last
}

const line = (name: string, value: string): string => (isFieldValue(value) ? `${name}: ${value}\r\n` : '')

/** From the flat list of names and values that node:http2 gives. */
export function http2HeadText(status: number, rawHeaders: readonly string[]): string {
  const lines = [`HTTP/1.1 ${status} `]
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    if (!name.startsWith(':')) lines.push(`${name}: ${rawHeaders[at + 1] ?? ''}`)
  }
  return asHead(lines)
}

const COOKIE_FIELD = /^set-cookie2?[ \t]*:/i
const FOLDED = /^[ \t]/

/** The same head without the cookies that it sets: of a host that trusts us, they are as good as a password. */
export function withoutCookies(head: string): string {
  let isCookie = false
  const kept = head.split('\r\n').filter((line) => {
    isCookie = FOLDED.test(line) ? isCookie : COOKIE_FIELD.test(line)
    return !isCookie
  })
  return kept.join('\r\n')
}

const asHead = (lines: readonly string[]): string => `${lines.join('\r\n')}\r\n\r\n`
