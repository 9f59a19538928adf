/**
 * Header fields, both ways. Values of an answer are read as Latin-1, one character per byte, whatever the protocol;
 * what they mean is left to the reader.
 */
import { LIMITS, TiptoeError } from '../model/index.ts'

export interface ResponseHeaders {
  /** All values of the field, joined with `, ` (RFC 9110 §5.3); null if it is absent. The name in any case. */
  get(name: string): string | null
  /** Each value as it was sent; none if the field is absent. */
  all(name: string): readonly string[]
}

/** As node:http2 gives them: lower-case names; repeated fields as arrays. */
export type RawHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/** What one answer's head may weigh; a larger one is a protocol error. */
export const MAX_HEADER_BYTES = LIMITS['header-size'].value
/** How many fields it may have; more are a protocol error too. */
export const MAX_HEADER_FIELDS = LIMITS['header-count'].value

export function responseHeaders(raw: RawHeaders): ResponseHeaders {
  const find = (name: string): string | readonly string[] | undefined => {
    const key = name.toLowerCase()
    return Object.hasOwn(raw, key) ? raw[key] : undefined
  }
  return {
    get(name) {
      const value = find(name)
      return value === undefined ? null : typeof value === 'string' ? value : value.join(', ')
    },
    all(name) {
      const value = find(name)
      return value === undefined ? [] : typeof value === 'string' ? [value] : value
    },
  }
}

const DEFAULT_ACCEPT = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
export const ACCEPT_ENCODING = 'gzip, deflate, br, zstd'

/** By lower-case name. */
export type RequestHeaders = Readonly<Record<string, string>>

export interface RequestHeaderSource {
  for(accept: string | undefined, extra: Readonly<Record<string, string>> | undefined): RequestHeaders
}

/** What may stand in a field value (RFC 9110 §5.5): visible ASCII, Latin-1, space and tab. */
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

export const isFieldValue = (text: string): boolean => FIELD_VALUE.test(text)

export function createRequestHeaders(userAgent: string, acceptLanguage: string | undefined): RequestHeaderSource {
  for (const [name, value] of Object.entries({ 'user agent': userAgent, 'accept-language': acceptLanguage ?? '' })) {
    if (isFieldValue(value)) continue
    throw new TiptoeError('usage', `the ${name} has a character that HTTP cannot carry`, { hint: 'use plain ASCII' })
  }
  const usual: RequestHeaders = {
    'user-agent': userAgent,
    accept: DEFAULT_ACCEPT,
    'accept-encoding': ACCEPT_ENCODING,
    ...(acceptLanguage === undefined ? {} : { 'accept-language': acceptLanguage }),
  }
  return {
    for(accept, extra) {
      if (accept === undefined && extra === undefined) return usual
      const headers: Record<string, string> = { ...usual }
      if (accept !== undefined) headers['accept'] = accept
      for (const [name, value] of Object.entries(extra ?? {})) headers[name.toLowerCase()] = value
      return headers
    },
  }
}
