/**
 * The records of one exchange: `response` or `revisit`, then `request` and `metadata`, each its own member of gzip, so
 * that a reader can go to any of them. Which of the first two it is, is decided when it is written.
 */
import { base32 } from './base32.ts'
import type { ArchivedExchange } from './exchange.ts'
import { deflatedMember, framedMember, MAX_AT_ONCE_BYTES, type Compress } from './gzip-member.ts'
import { archivedRequestHead, archivedResponseHead } from './http-head.ts'
import type { Original } from './index-line.ts'
import {
  fieldLines,
  RECORD_END,
  recordHead,
  recordParts,
  recordUri,
  serializeRecord,
  sha1,
  warcDate,
  type Field,
  type WarcRecord,
} from './warc-record.ts'

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
  /** Compresses the answer, a long one aside of everything else. After it nothing looks at the body any more. */
  prepare(): Promise<void>
  /** Members of gzip. */
  response(): Uint8Array
  revisit(original: Original): Uint8Array
  companions(): Uint8Array
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
  const payload = sha1([wire.body])
  const isNotModified = status === 304
  const target: Field = ['WARC-Target-URI', url]
  const connection = [target, ...connectionFields(exchange)]
  const digest: Field = ['WARC-Payload-Digest', `sha1:${base32(payload)}`]
  let ready: Uint8Array | undefined

  const answer = (): WarcRecord => ({
    type: isNotModified ? 'revisit' : 'response',
    id,
    date,
    fields: [
      ...connection,
      ...(isNotModified ? ([['WARC-Profile', `${PROFILE}/server-not-modified`]] as const) : [digest]),
      ...(truncated === undefined ? [] : ([['WARC-Truncated', truncated]] as const)),
    ],
    contentType: RESPONSE_TYPE,
    block: [head.bytes, wire.body],
  })
  const packed = (): Uint8Array => {
    // Nothing is gained by compressing what is compressed already, and little with what is short.
    const isFramed = head.isEncoded || wire.body.length <= SHORT_BYTES
    if (!isFramed) return deflatedMember(recordParts(answer()))
    return framedMember(Buffer.concat([recordHead(answer()), head.bytes]), [wire.body, RECORD_END])
  }

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
      framedMember(
        serializeRecord({
          type: 'revisit',
          id,
          date,
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
      ),
    companions() {
      const together = [['WARC-Concurrent-To', `<${recordUri(id)}>`]] as const
      const request = serializeRecord({
        type: 'request',
        id: newUuid(),
        date,
        fields: [...connection, ...together],
        contentType: 'application/http; msgtype=request',
        block: [archivedRequestHead(wire.requestHead)],
      })
      const metadata = serializeRecord({
        type: 'metadata',
        id: newUuid(),
        date,
        fields: [target, ...together],
        contentType: 'application/warc-fields',
        block: [Buffer.from(fieldLines(factsOf(exchange)))],
      })
      return Buffer.concat([framedMember(request), framedMember(metadata)])
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
