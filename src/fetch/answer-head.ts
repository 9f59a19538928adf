/**
 * The head of an HTTP/1 answer, read as hosts send it (RFC 9112). What browsers put up with is put right: lines that end
 * in LF alone, folded lines, blanks before a colon, lines that are no field, a length that is said twice. What leaves in
 * doubt where the body ends is refused, and so is a status line that is none.
 */
import { BODILESS } from './connection.ts'
import type { ResponseHeaders } from './headers.ts'

export interface AnswerHead {
  readonly kind: 'head'
  readonly status: number
  readonly headers: ResponseHeaders
  /** How the body ends: after so many bytes, with its last chunk, or with the connection. */
  readonly body: number | 'chunked' | 'until-close'
  /**
   * No other answer is to be read from the connection: one side closes it, or the host said in two ways how long the
   * body is, or wrote what is no field, and so is not to be trusted to say where the next answer begins.
   */
  readonly isLast: boolean
  /** For how long the host says it keeps the connection open unused; undefined if it does not. */
  readonly keptMs: number | undefined
  /** As it came, up to and with the empty line: Latin-1. */
  readonly raw: string
}

export interface RefusedHead {
  readonly kind: 'refused'
  readonly words: string
}

const FIELD_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** RFC 9110 §5.5: to be replaced by a blank, like a bare CR. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0001-\u0008\u000a-\u001f\u007f]/g
/** Anything in a whole head that `CONTROL` would find in one of its lines: most heads have nothing of the kind. */
// oxlint-disable-next-line no-control-regex
const ANY_CONTROL = /[\u0001-\u0008\u000b\u000c\u000e-\u001f\u007f]|\r(?!\n)/
/**
 * RFC 9112 §4: the status is exactly three digits; the reason may be missing with its blank, or be any text. RFC 9110
 * §2.5: what is newer than HTTP/1.1 is read as that.
 */
const STATUS_LINE = /^HTTP\/(0\.9|1\.\d|2\.0) (\d\d\d)(?: [^\r\n]*)?\r?\n/
const LENGTH = /^\d+$/
const KEPT_SECONDS = /timeout=(\d{1,6})/i
const LONGEST_SHOWN = 40

/** `raw`: Latin-1, from the status line up to and with the empty line. */
export function readHead(raw: string): AnswerHead | RefusedHead {
  if (raw.includes('\0')) return refused('there is a NUL among the header fields')
  const [, version, status] = STATUS_LINE.exec(raw) ?? []
  if (version === undefined) return refused('the status line does not follow the HTTP/1.1 protocol')
  const fields = readFields(raw)
  const codings = fields.tokens('transfer-encoding').filter((coding) => coding !== 'identity')
  const unknown = codings.find((coding) => coding !== 'chunked')
  // Whatever is in the chunks would be handed on: a body in another coding would pass for a page.
  if (unknown !== undefined) return refused(`the transfer coding ${shown(unknown)} is not known`)
  const length = readLength(fields)
  if (length.kind === 'refused') return length
  const isChunked = codings.length > 0
  const options = fields.tokens('connection')
  const isKept = version >= '1.1' && version < '2' ? !options.includes('close') : options.includes('keep-alive')
  const isTwofold = fields.all('transfer-encoding').length > 0 && length.value !== undefined
  const isAmbiguous = length.isRepeated || isTwofold || codings.length > 1 || fields.isOdd
  const number = Number(status)
  // RFC 9112 §6.3: chunks override a length.
  const body = BODILESS.has(number) ? 0 : isChunked ? 'chunked' : (length.value ?? 'until-close')
  const kept = KEPT_SECONDS.exec(fields.get('keep-alive') ?? '')?.[1]
  return {
    kind: 'head',
    status: number,
    headers: fields,
    body,
    isLast: !isKept || isAmbiguous || body === 'until-close',
    keptMs: kept === undefined ? undefined : Number(kept) * 1000,
    raw,
  }
}

/** Names in small letters and values by turns, in the order in which they came: a head has few, and few are asked for. */
class Fields implements ResponseHeaders {
  readonly #list: string[] = []
  /** There was a control character, or a line that is no field as the protocol has it. */
  isOdd = false

  add(name: string, value: string): void {
    this.#list.push(name, value)
  }

  /** What was added last, from this line. */
  last(line: string): KnownField {
    const [name = '', value = ''] = this.#list.slice(-2)
    return { line, name, value }
  }

  /** A folded line goes on after a blank (RFC 9112 §5.2). */
  extendLast(text: string): void {
    const last = this.#list.length - 1
    this.#list[last] = trimBlanks(`${this.#list[last] ?? ''} ${trimBlanks(text)}`)
  }

  get(name: string): string | null {
    const wanted = name.toLowerCase()
    const list = this.#list
    let value: string | null = null
    for (let at = 0; at < list.length; at += 2) {
      if (list[at] === wanted) value = value === null ? (list[at + 1] ?? '') : `${value}, ${list[at + 1] ?? ''}`
    }
    return value
  }

  all(name: string): readonly string[] {
    const wanted = name.toLowerCase()
    const list = this.#list
    let values: string[] | undefined
    for (let at = 0; at < list.length; at += 2) {
      if (list[at] !== wanted) continue
      if (values === undefined) values = [list[at + 1] ?? '']
      else values.push(list[at + 1] ?? '')
    }
    return values ?? NO_VALUES
  }

  /** The parts of a list, in small letters. */
  tokens(name: string): readonly string[] {
    const values = this.all(name)
    const [only = ''] = values
    if (values.length === 0) return NO_VALUES
    if (values.length === 1 && only !== '' && !only.includes(',')) return [only.toLowerCase()]
    return values
      .flatMap((value) => value.toLowerCase().split(','))
      .map(trimBlanks)
      .filter((value) => value !== '')
  }
}

const NO_VALUES: readonly string[] = []

/** The plain fields of the head that was read last, by their place in it: the next one has most of them again. */
let lastFields: KnownField[] = []

interface KnownField {
  /** As it came, with its end. */
  readonly line: string
  readonly name: string
  readonly value: string
}

function readFields(raw: string): Fields {
  const fields = new Fields()
  const hasControls = ANY_CONTROL.test(raw)
  fields.isOdd = hasControls
  const known = hasControls ? [] : lastFields
  lastFields = []
  /** The line before was a field, which a folded line would go on with. */
  let isField = false
  for (let start = raw.indexOf('\n') + 1; start < raw.length;) {
    const again = known[lastFields.length]
    if (again !== undefined && raw.startsWith(again.line, start)) {
      fields.add(again.name, again.value)
      lastFields.push(again)
      isField = true
      start += again.line.length
      continue
    }
    const lineFeed = raw.indexOf('\n', start)
    const end = raw[lineFeed - 1] === '\r' ? lineFeed - 1 : lineFeed
    if (end > start) {
      isField = readLine(hasControls ? raw.slice(start, end).replaceAll(CONTROL, ' ') : raw.slice(start, end))
      // A folded line is part of another one, and what is odd is looked at each time.
      if (isField && !fields.isOdd && !isBlank(raw, start)) lastFields.push(fields.last(raw.slice(start, lineFeed + 1)))
    }
    start = lineFeed + 1
  }
  return fields

  function readLine(line: string): boolean {
    if (isBlank(line, 0)) {
      if (isField) fields.extendLast(line)
      else fields.isOdd = true
      return isField
    }
    const colon = line.indexOf(':')
    const spelled = line.slice(0, Math.max(colon, 0))
    const name = trimBlanks(spelled)
    if (name.length < spelled.length) fields.isOdd = true
    if (!FIELD_NAME.test(name)) {
      fields.isOdd = true
      return false
    }
    fields.add(name.toLowerCase(), trimBlanks(line.slice(colon + 1)))
    return true
  }
}

type Length =
  | { readonly kind: 'length'; readonly value: number | undefined; readonly isRepeated: boolean }
  | RefusedHead

const NO_LENGTH: Length = { kind: 'length', value: undefined, isRepeated: false }

/** RFC 9110 §8.6: one length may be said several times, and several are none. */
function readLength(fields: Fields): Length {
  const all = fields.all('content-length')
  const [only = ''] = all
  if (all.length === 0) return NO_LENGTH
  if (all.length === 1 && LENGTH.test(only)) return { kind: 'length', value: lengthOf(only), isRepeated: false }
  const values = all.flatMap((value) => value.split(',')).map(trimBlanks)
  const wrong = values.find((value) => !LENGTH.test(value))
  if (wrong !== undefined) return refused(`the Content-Length ${shown(wrong)} is no length`)
  const lengths = new Set(values.map((value) => value.replace(/^0+(?=\d)/, '')))
  if (lengths.size > 1) return refused(`the Content-Length is ${[...lengths].slice(0, 2).map(shown).join(' and ')}`)
  return { kind: 'length', value: lengthOf(values[0] ?? ''), isRepeated: true }
}

/** More than that never comes. */
const lengthOf = (digits: string): number => Math.min(Number(digits), Number.MAX_SAFE_INTEGER)

const isBlank = (text: string, at: number): boolean => text[at] === ' ' || text[at] === '\t'

function trimBlanks(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isBlank(text, start)) start++
  while (end > start && isBlank(text, end - 1)) end--
  return text.slice(start, end)
}

const shown = (text: string): string => JSON.stringify(text.slice(0, LONGEST_SHOWN))

const refused = (words: string): RefusedHead => ({ kind: 'refused', words })
