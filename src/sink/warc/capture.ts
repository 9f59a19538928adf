/**
 * The records of one exchange: `response` or `revisit`, then `request` and `metadata`, each its own member of gzip, so
 * that a reader can go to any of them. Which of the first two it is, is decided when it is written.
 */
import { createHash } from 'node:crypto'
import { gzipSync, type ZlibOptions } from 'node:zlib'
import { base32 } from './base32.ts'
import type { ArchivedExchange } from './exchange.ts'
import { archivedRequestHead, archivedResponseHead } from './http-head.ts'
import type { Original } from './index-line.ts'
import { fieldLines, recordUri, serializeRecord, warcDate, type Field } from './warc-record.ts'

/** What is compressed already, or short, gets hardly smaller for being compressed well. */
const FAST = { level: 1 }
const USUAL = { level: 6 }

export interface Capture {
  /** Of the answer's record. */
  readonly recordId: string
  readonly date: string
  readonly mime: string
  /** SHA-1 of the body as it was sent, still compressed. */
  readonly payload: Uint8Array
  /** Other records may refer to this one's body, and it may be left out where it is known: it is whole and not empty. */
  readonly canRepeat: boolean
  /** The answer says that nothing has changed, and has no body of its own. */
  readonly isNotModified: boolean
  /** Compresses the answer aside of everything else, for `response` to find it ready. */
  prepare(): Promise<void>
  /** Members of gzip. */
  response(): Uint8Array
  revisit(original: Original): Uint8Array
  companions(): Uint8Array
}

/** Gzip that does not hold up anything else. */
export type Compress = (bytes: Uint8Array, options: ZlibOptions) => Promise<Uint8Array>

const PROFILE = 'http://netpreserve.org/warc/1.1/revisit'
const RESPONSE_TYPE = 'application/http; msgtype=response'

export function createCapture(exchange: ArchivedExchange, newUuid: () => string, compress: Compress): Capture {
  const { url, wire, status, startedAt, truncated } = exchange
  const id = newUuid()
  const head = archivedResponseHead(wire.responseHead, status, wire.body.length)
  const payload = createHash('sha1').update(wire.body).digest()
  const isNotModified = status === 304
  const target: Field = ['WARC-Target-URI', url]
  const connection = [target, ...connectionFields(exchange)]
  const digest: Field = ['WARC-Payload-Digest', `sha1:${base32(payload)}`]
  const level = head.isEncoded ? FAST : USUAL
  let ready: Uint8Array | undefined

  const responseRecord = (): Buffer =>
    serializeRecord({
      type: isNotModified ? 'revisit' : 'response',
      id,
      at: startedAt,
      fields: [
        ...connection,
        ...(isNotModified ? ([['WARC-Profile', `${PROFILE}/server-not-modified`]] as const) : [digest]),
        ...(truncated === undefined ? [] : ([['WARC-Truncated', truncated]] as const)),
      ],
      contentType: RESPONSE_TYPE,
      block: [head.bytes, wire.body],
    })

  return {
    recordId: recordUri(id),
    date: warcDate(startedAt),
    mime: head.mime,
    payload,
    canRepeat: truncated === undefined && wire.body.length > 0,
    isNotModified,
    async prepare() {
      ready ??= await compress(responseRecord(), level)
    },
    response: () => ready ?? gzipSync(responseRecord(), level),
    revisit: (original) =>
      gzipSync(
        serializeRecord({
          type: 'revisit',
          id,
          at: startedAt,
          fields: [
            ...connection,
            ['WARC-Profile', `${PROFILE}/identical-payload-digest`],
            digest,
            ['WARC-Refers-To', `<${original.recordId}>`],
            ['WARC-Refers-To-Target-URI', original.url],
            ['WARC-Refers-To-Date', original.date],
            // The body is left out, which the standard counts as cutting it for its length.
            ['WARC-Truncated', 'length'],
          ],
          contentType: RESPONSE_TYPE,
          block: [head.bytes],
        }),
        FAST,
      ),
    companions() {
      const together = [['WARC-Concurrent-To', `<${recordUri(id)}>`]] as const
      const request = serializeRecord({
        type: 'request',
        id: newUuid(),
        at: startedAt,
        fields: [...connection, ...together],
        contentType: 'application/http; msgtype=request',
        block: [archivedRequestHead(wire.requestHead)],
      })
      const metadata = serializeRecord({
        type: 'metadata',
        id: newUuid(),
        at: startedAt,
        fields: [target, ...together],
        contentType: 'application/warc-fields',
        block: [Buffer.from(fieldLines(factsOf(exchange)))],
      })
      return Buffer.concat([gzipSync(request, FAST), gzipSync(metadata, FAST)])
    },
  }
}

/** WARC-Protocol is not in the standard, but in use, once for each layer. */
function connectionFields({ url, address, protocol, tls }: ArchivedExchange): Field[] {
  const isAddress = /^(?:[\d.]{7,15}|[\da-f:.]{2,45})$/i.test(address)
  return [
    ...(isAddress ? ([['WARC-IP-Address', address]] as const) : []),
    ['WARC-Protocol', protocol],
    ...(tls !== undefined && url.startsWith('https:') ? ([['WARC-Protocol', `tls/${tls}`]] as const) : []),
  ]
}

/** `via` and `fetchTimeMs` are the standard's own; the others are ours. */
function factsOf({ startedAt, endedAt, via, referrer, depth, charset }: ArchivedExchange): Field[] {
  return [
    ...(referrer === undefined ? [] : ([['via', referrer]] as const)),
    ...(via === undefined ? [] : ([['foundBy', via]] as const)),
    ...(depth === undefined ? [] : ([['depth', String(depth)]] as const)),
    ['fetchTimeMs', String(Math.max(0, Math.round(endedAt - startedAt)))],
    ...(charset === undefined || charset === null ? [] : ([['charset', charset]] as const)),
  ]
}
