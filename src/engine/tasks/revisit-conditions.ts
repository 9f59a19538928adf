/**
 * Conditional requests (RFC 9110 §13): what an answer can be recognised by the next time, and the header fields that ask
 * for a page only if it is another one by then.
 *
 * Validators are sent back as they came, since hosts compare them as text. What would match whatever the page has become
 * is not kept: then the page is asked for without a condition, and its content tells.
 */
import type { FetchResponse, ResponseHeaders } from '../../fetch/index.ts'
import type { LastVisit, Task, Visit } from '../../model/index.ts'

/** Validators are kept for every page: longer ones are not worth it. */
const MAX_VALIDATOR_CHARS = 512
/** One entity tag (RFC 9110 §8.8.3), weak or strong; or what many hosts send, the same without its quotes. Never a list. */
const ENTITY_TAG = /^(?:W\/)?"[\x21\x23-\x7e]*"$|^[\x21\x23-\x29\x2b\x2d-\x7e]+$/
/** All forms of a date that HTTP has had begin with the name of a day. */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[\x20-\x7e]{10,40}$/
/** Last-Modified tells seconds: what changes twice within one looks the same (RFC 9110 §8.8.2.2). */
const RESOLUTION_MS = 1_000

export type Validators = Pick<Visit, 'etag' | 'lastModified'>

export function validatorsOf(response: Pick<FetchResponse, 'headers' | 'answeredAt'>): Validators {
  return { etag: entityTag(response.headers), lastModified: lastModified(response) }
}

function entityTag(headers: ResponseHeaders): string | null {
  const [tag, ...others] = headers.all('etag')
  if (tag === undefined || others.length > 0 || tag.length > MAX_VALIDATOR_CHARS) return null
  return ENTITY_TAG.test(tag) ? tag : null
}

/** A date that lies ahead, by the host's own clock if it tells, would say `not modified` until it has come. */
function lastModified({ headers, answeredAt }: Pick<FetchResponse, 'headers' | 'answeredAt'>): string | null {
  const [date, ...others] = headers.all('last-modified')
  if (date === undefined || others.length > 0 || !HTTP_DATE.test(date)) return null
  const told = timeTold(headers.get('date') ?? '')
  const now = Number.isNaN(told) ? answeredAt : told
  return Date.parse(date) <= now - RESOLUTION_MS ? date : null
}

/** What was read last: answers of one second say the same. */
let lastTold = ''
let lastTime = Number.NaN

function timeTold(date: string): number {
  if (date !== lastTold) lastTime = Date.parse(date)
  lastTold = date
  return lastTime
}

/** For the request of a task; empty where there is nothing to compare with. */
export function conditionsOf({ last }: Pick<Task, 'last'>): { readonly headers?: Readonly<Record<string, string>> } {
  if (last === undefined || !hasValidators(last)) return {}
  const headers = {
    ...(last.etag === null ? {} : { 'if-none-match': last.etag }),
    ...(last.lastModified === null ? {} : { 'if-modified-since': last.lastModified }),
  }
  return { headers }
}

/** Whether this is a 304 to a condition of ours. Without one it is an answer to something that nobody asked. */
export function isNotModified({ last }: Pick<Task, 'last'>, { status }: Pick<FetchResponse, 'status'>): boolean {
  return status === 304 && last !== undefined && hasValidators(last)
}

function hasValidators({ etag, lastModified: date }: LastVisit): boolean {
  return etag !== null || date !== null
}
