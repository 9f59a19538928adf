/** Heads of requests and answers as text, for archives: as HTTP/1.1 writes them, whatever protocol they came in. */
import type { RequestHead } from './connection.ts'
import type { Protocol } from './outcome.ts'

/** Never written down, wherever they come from. */
const SECRET: ReadonlySet<string> = new Set(['authorization', 'cookie', 'proxy-authorization'])

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
