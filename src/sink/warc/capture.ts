/**
 * The records of one exchange: `response` or `revisit`, then `request` and `metadata`, each its own member of gzip, so
 * that a reader can go to any of them. Which of the first two it is, is decided when it is written.
 */
import { sha1 } from './digest.ts'
import type { ArchivedExchange } from './exchange.ts'
import type { Compress } from './gzip-member.ts'
import { archivedRequestHead, archivedResponseHead, type ResponseHead } from './http-head.ts'
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
  prepare(): Promise<void> | undefined
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
  return new ExchangeCapture(exchange, newUuid, compress)
}

/** A class, since there is one for each page: its functions are not made anew for each. */
class ExchangeCapture implements Capture {
  readonly payload: string
  readonly date: string
  readonly #exchange: ArchivedExchange
  readonly #newUuid: () => string
  readonly #compress: Compress
  readonly #id: string
  readonly #head: ResponseHead
  /** Fields that say what was asked for, and how. */
  readonly #target: string
  readonly #connection: string
  #ready: Uint8Array | undefined

  constructor(exchange: ArchivedExchange, newUuid: () => string, compress: Compress) {
    const { url, wire, status, startedAt } = exchange
    this.#exchange = exchange
    this.#newUuid = newUuid
    this.#compress = compress
    this.#id = newUuid()
    this.date = warcDate(startedAt)
    this.#head = archivedResponseHead(wire.responseHead, status, wire.body.length)
    this.payload = sha1(wire.body)
    this.#target = field('WARC-Target-URI', url)
    this.#connection = `${this.#target}${connectionFields(exchange)}`
  }

  get recordId(): string {
    return recordUri(this.#id)
  }

  get mime(): string {
    return this.#head.mime
  }

  get canRepeat(): boolean {
    return this.#exchange.truncated === undefined && this.#exchange.wire.body.length > 0
  }

  get isNotModified(): boolean {
    return this.#exchange.status === 304
  }

  prepare(): Promise<void> | undefined {
    const { body } = this.#exchange.wire
    if (body.length <= MAX_AT_ONCE_BYTES || this.#head.isEncoded) {
      this.#ready ??= this.#packed()
      return undefined
    }
    return this.#prepareAside()
  }

  async #prepareAside(): Promise<void> {
    this.#ready ??= await this.#compress(serializeRecord(this.#answer()))
  }

  response(): Uint8Array {
    return this.#ready ?? this.#packed()
  }

  #packed(): Uint8Array {
    // Nothing is gained by compressing what is compressed already, and little with what is short.
    return packRecord(this.#answer(), this.#head.isEncoded || this.#exchange.wire.body.length <= SHORT_BYTES)
  }

  #answer(): WarcRecord {
    const { truncated, wire } = this.#exchange
    return {
      type: this.isNotModified ? 'revisit' : 'response',
      id: this.#id,
      date: this.date,
      fields:
        this.#connection +
        (this.isNotModified ? field('WARC-Profile', `${PROFILE}/server-not-modified`) : this.#digest()) +
        (truncated === undefined ? '' : field('WARC-Truncated', truncated)),
      contentType: RESPONSE_TYPE,
      text: this.#head.text,
      encoding: 'latin1',
      body: wire.body,
    }
  }

  revisit(original: Original): Uint8Array {
    return packRecord(
      {
        type: 'revisit',
        id: this.#id,
        date: this.date,
        fields:
          this.#connection +
          field('WARC-Profile', `${PROFILE}/identical-payload-digest`) +
          this.#digest() +
          field('WARC-Refers-To', `<${original.recordId}>`) +
          field('WARC-Refers-To-Target-URI', original.url) +
          field('WARC-Refers-To-Date', original.date) +
          // The body is left out, which the standard counts as cutting it for its length.
          field('WARC-Truncated', 'length'),
        contentType: RESPONSE_TYPE,
        text: this.#head.text,
        encoding: 'latin1',
      },
      true,
    )
  }

  request(): Uint8Array {
    return packRecord(
      {
        type: 'request',
        id: this.#newUuid(),
        date: this.date,
        fields: `${this.#connection}${this.#concurrentTo()}`,
        contentType: 'application/http; msgtype=request',
        text: archivedRequestHead(this.#exchange.wire.requestHead),
        encoding: 'latin1',
      },
      true,
    )
  }

  metadata(): Uint8Array {
    return packRecord(
      {
        type: 'metadata',
        id: this.#newUuid(),
        date: this.date,
        fields: `${this.#target}${this.#concurrentTo()}`,
        contentType: 'application/warc-fields',
        text: factsOf(this.#exchange),
        encoding: 'utf8',
      },
      true,
    )
  }

  #digest(): string {
    return `WARC-Payload-Digest: sha1:${this.payload}\r\n`
  }

  #concurrentTo(): string {
    return `WARC-Concurrent-To: <${this.recordId}>\r\n`
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
