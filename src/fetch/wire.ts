/** Heads of requests and answers as text: as HTTP/1.1 writes them, to be sent, and for archives of any protocol. */
import type { RequestHead } from './connection.ts'
import { isFieldValue, type RequestHeaders } from './headers.ts'
import type { Protocol } from './outcome.ts'

/** Never written down, wherever they come from. */
const SECRET: ReadonlySet<string> = new Set(['authorization', 'cookie', 'proxy-authorization'])

/** As it is sent. What HTTP cannot carry in a field, or would take for another field, is left out with its name. */
export function requestText(head: RequestHead): string {
  const { headers, secretHeaders } = head
  const first = `GET ${head.path} HTTP/1.1\r\nhost: ${head.authority}\r\nconnection: keep-alive\r\n`
  if (headers !== lastHeaders || secretHeaders !== lastSecrets) {
    lastLines = ''
    for (const name in headers) if (!Object.hasOwn(secretHeaders, name)) lastLines += line(name, headers[name] ?? '')
    for (const name in secretHeaders) lastLines += line(name, secretHeaders[name] ?? '')
    lastHeaders = headers
    lastSecrets = secretHeaders
  }
  return `${first}${lastLines}\r\n`
}

/** What was written last: most requests have the same fields, in the same objects. */
let lastHeaders: RequestHeaders | undefined
let lastSecrets: RequestHeaders | undefined
let lastLines = ''

const line = (name: string, value: string): string => (isFieldValue(value) ? `${name}: ${value}\r\n` : '')

/** The same for archives: without what is secret. */
export function requestHeadText(head: RequestHead, protocol: Protocol): string {
  const lines = [`GET ${head.path} HTTP/1.1`, `host: ${head.authority}`]
  if (protocol === 'http/1.1') lines.push('connection: keep-alive')
  for (const [name, value] of Object.entries(head.headers)) {
    if (!SECRET.has(name) && !Object.hasOwn(head.secretHeaders, name)) lines.push(`${name}: ${value}`)
  }
  return asHead(lines)
}

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
