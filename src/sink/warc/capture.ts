/**
 * The records of one exchange: `response` or `revisit`, then `request` and `metadata`, each its own member of gzip, so
 * that a reader can go to any of them. Which of the first two it is, is decided when it is written.
 */
import { sha1 } from './digest.ts'
import type { ArchivedExchange } from './exchange.ts'
import type { Compress } from './gzip-member.ts'
import { archivedRequestHead, archivedResponseHead } from './http-head.ts'
import type { Original } from './index-line.ts'
import { MAX_AT_ONCE_BYTES, packRecord, serializeRecord } from './packed-record.ts'
import { field, recordUri, warcDate, type WarcRecord } from './warc-record.ts'

export interface Capture {
  /** Of the answer's record. */
  readonly recordId: string
  readonly date: string
  readonly mime: string
  /** SHA-1 of the body as it was sent, still compressed; in Base32. */
  readonly payload: string
  /** Other records may refer to this one's body, and it may be left out where it is known: it is whole and not empty. */
  readonly canRepeat: boolean
  /** The answer says that nothing has changed, and has no body of its own. */
  readonly isNotModified: boolean
  /** Compresses the answer, a long one aside of everything else. After it nothing looks at the body any more. */
  prepare(): Promise<void>
  /** Members of gzip. */
  response(): Uint8Array
  revisit(original: Original): Uint8Array
  request(): Uint8Array
  metadata(): Uint8Array
}

/** Bodies up to this length are not worth compressing. */
const SHORT_BYTES = 512
const PROFILE = 'http://netpreserve.org/warc/1.1/revisit'
const RESPONSE_TYPE = 'application/http; msgtype=response'

export function createCapture(exchange: ArchivedExchange, newUuid: () => string, compress: Compress): Capture {
  const { url, wire, status, startedAt, truncated } = exchange
  const id = newUuid()
  const date = warcDate(startedAt)
  const head = archivedResponseHead(wire.responseHead, status, wire.body.length)
  const payload = sha1(wire.body)
  const isNotModified = status === 304
  const target = field('WARC-Target-URI', url)
  const connection = `${target}${connectionFields(exchange)}`
  const digest = `WARC-Payload-Digest: sha1:${payload}\r\n`
  let ready: Uint8Array | undefined

  const answer = (): WarcRecord => ({
    type: isNotModified ? 'revisit' : 'response',
    id,
    date,
    fields:
      connection +
      (isNotModified ? field('WARC-Profile', `${PROFILE}/server-not-modified`) : digest) +
      (truncated === undefined ? '' : field('WARC-Truncated', truncated)),
    contentType: RESPONSE_TYPE,
    text: head.text,
    encoding: 'latin1',
    body: wire.body,
  })
  // Nothing is gained by compressing what is compressed already, and little with what is short.
  const packed = (): Uint8Array => packRecord(answer(), head.isEncoded || wire.body.length <= SHORT_BYTES)

  return {
    recordId: recordUri(id),
    date,
    mime: head.mime,
    payload,
    canRepeat: truncated === undefined && wire.body.length > 0,
    isNotModified,
    async prepare() {
      const isLong = wire.body.length > MAX_AT_ONCE_BYTES && !head.isEncoded
      ready ??= isLong ? await compress(serializeRecord(answer())) : packed()
    },
    response: () => ready ?? packed(),
    revisit: (original) =>
      packRecord(
        {
          type: 'revisit',
          id,
          date,
          fields:
            connection +
            field('WARC-Profile', `${PROFILE}/identical-payload-digest`) +
            digest +
            field('WARC-Refers-To', `<${original.recordId}>`) +
            field('WARC-Refers-To-Target-URI', original.url) +
            field('WARC-Refers-To-Date', original.date) +
            // The body is left out, which the standard counts as cutting it for its length.
            field('WARC-Truncated', 'length'),
          contentType: RESPONSE_TYPE,
          text: head.text,
          encoding: 'latin1',
        },
        true,
      ),
    request: () =>
      packRecord(
        {
          type: 'request',
          id: newUuid(),
          date,
          fields: `${connection}WARC-Concurrent-To: <${recordUri(id)}>\r\n`,
          contentType: 'application/http; msgtype=request',
          text: archivedRequestHead(wire.requestHead),
          encoding: 'latin1',
        },
        true,
      ),
    metadata: () =>
      packRecord(
        {
          type: 'metadata',
          id: newUuid(),
          date,
          fields: `${target}WARC-Concurrent-To: <${recordUri(id)}>\r\n`,
          contentType: 'application/warc-fields',
          text: factsOf(exchange),
          encoding: 'utf8',
        },
        true,
      ),
  }
}

/** WARC-Protocol is not in the standard, but in use, once for each layer. */
function connectionFields({ url, address, protocol, tls }: ArchivedExchange): string {
  const isAddress = /^(?:[\d.]{7,15}|[\da-f:.]{2,45})$/i.test(address)
  return (
    (isAddress ? field('WARC-IP-Address', address) : '') +
    field('WARC-Protocol', protocol) +
    (tls !== undefined && url.startsWith('https:') ? field('WARC-Protocol', `tls/${tls}`) : '')
  )
}

/** `via` and `fetchTimeMs` are the standard's own; the others are ours. */
function factsOf({ startedAt, endedAt, via, referrer, depth, charset }: ArchivedExchange): string {
  return (
    (referrer === undefined ? '' : field('via', referrer)) +
    (via === undefined ? '' : field('foundBy', via)) +
    (depth === undefined ? '' : field('depth', String(depth))) +
    field('fetchTimeMs', String(Math.max(0, Math.round(endedAt - startedAt)))) +
    (charset === undefined || charset === null ? '' : field('charset', charset))
  )
}
