/**
 * Header fields that a user sets for one origin: scheme, host and port. They are credentials more often than not, so
 * they go to that very origin and to no other, wherever a redirect leads. Fields that decide how a message is framed
 * or who we are stay ours. Where a value comes from, and that it is written nowhere, is left to the configuration.
 */
import { TiptoeError } from '../model/index.ts'

export interface OriginHeader {
  /** `https://example.com`, as `URL.origin` spells it. */
  readonly origin: string
  /** In any case; compared in lower case. */
  readonly name: string
  readonly value: string
}

export interface OriginHeaders {
  /** By lower-case name; undefined where the origin has none. */
  for(origin: string): Readonly<Record<string, string>> | undefined
}

/** More fields than these in all are no configuration that a person wrote. */
export const MAX_ORIGIN_HEADERS = 1000
const MAX_NAME_LENGTH = 128
/** Servers refuse heads of more than 8 kB, and ours has other fields too. */
const MAX_VALUE_LENGTH = 4096

/** RFC 9110 §5.6.2: the characters of a token. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** RFC 9110 §5.5: visible characters, Latin-1, and space or tab between them. */
const FIELD_VALUE = /^[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?$/

/** They belong to the connection or to the framing of one message (RFC 9110 §7.6.1, RFC 9112 §6). */
const OF_THE_CONNECTION = [
  'connection',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]
/** What is asked for and how it may come back is the crawler's own business, page by page. */
const OF_THE_CRAWLER = [
  'accept-encoding',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'range',
]
const RESERVED: ReadonlyMap<string, string> = new Map([
  ...OF_THE_CONNECTION.map((name) => [name, 'belongs to the connection and cannot be set'] as const),
  ...OF_THE_CRAWLER.map((name) => [name, 'is set by the crawler itself'] as const),
  ['user-agent', 'says who we are, to every host alike: there is an option for it'],
])

/** What is wrong with one, in words that do not repeat its value; undefined if nothing is. */
export function originHeaderProblem({ origin, name, value }: OriginHeader): string | undefined {
  const url = URL.parse(origin)
  if (url === null || url.origin !== origin || !/^https?:$/.test(url.protocol)) {
    return 'expected an origin such as https://example.com or http://localhost:8080, without user name and path'
  }
  if (name.length > MAX_NAME_LENGTH || !TOKEN.test(name)) {
    return 'expected the name of a header field, such as Authorization'
  }
  const reserved = RESERVED.get(name.toLowerCase())
  if (reserved !== undefined) return `the header field ${name.toLowerCase()} ${reserved}`
  if (value === '') return `the value of the header field ${name} is empty`
  if (value.length > MAX_VALUE_LENGTH) {
    return `the value of the header field ${name} has more than ${MAX_VALUE_LENGTH} characters`
  }
  if (!FIELD_VALUE.test(value)) return `the value of the header field ${name} has a character that HTTP cannot carry`
  return undefined
}

/** A fault is wrong usage. Of two with the same origin and name the later counts. */
export function createOriginHeaders(entries: readonly OriginHeader[]): OriginHeaders {
  if (entries.length > MAX_ORIGIN_HEADERS) {
    throw new TiptoeError('usage', `there are more than ${MAX_ORIGIN_HEADERS} header fields for origins`)
  }
  const byOrigin = new Map<string, Record<string, string>>()
  for (const entry of entries) {
    const problem = originHeaderProblem(entry)
    if (problem !== undefined) throw new TiptoeError('usage', `headers: ${problem}`)
    const fields = byOrigin.get(entry.origin) ?? {}
    fields[entry.name.toLowerCase()] = entry.value
    byOrigin.set(entry.origin, fields)
  }
  return { for: (origin) => byOrigin.get(origin) }
}
