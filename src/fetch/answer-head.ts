/**
 * The head of an HTTP/1 answer, as hosts send it, made into one that a strict parser takes. What browsers put up with is
 * put right: lines that end in LF alone, folded lines, blanks before a colon, lines that are no field, a length that is
 * said twice. What leaves in doubt where the body ends is refused. The status line is left to the parser.
 */

export type AnswerHead =
  | {
      readonly kind: 'head'
      readonly bytes: Buffer
      /** How long the body is was said in two ways: the host is not to be trusted to say where the next answer begins. */
      readonly isAmbiguous: boolean
    }
  | { readonly kind: 'refused'; readonly words: string }

const FIELD_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** RFC 9110 §5.5: to be replaced by a blank, like a bare CR. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0001-\u0008\u000a-\u001f\u007f]/g
const LENGTH = /^\d+$/
const LONGEST_SHOWN = 40

interface Field {
  readonly name: string
  value: string
}

/** `raw`: up to and with the empty line. */
export function repairHead(raw: Buffer): AnswerHead {
  if (raw.includes(0)) return refused('there is a NUL among the header fields')
  const [statusLine = '', ...lines] = raw.toString('latin1').split('\n')
  const fields = readFields(lines)
  const length = readLength(fields)
  const codings = valuesOf(fields, 'transfer-encoding').filter((coding) => coding !== 'identity')
  const unknown = codings.find((coding) => coding !== 'chunked')
  // The parser undoes chunks and hands on whatever is in them: a body in another coding would pass for a page.
  if (unknown !== undefined) return refused(`the transfer coding ${shown(unknown)} is not known`)
  if (length.kind === 'refused') return length
  const isChunked = codings.length > 0
  const kept = fields.filter(({ name }) => !isNamed(name, 'content-length') && !isNamed(name, 'transfer-encoding'))
  // RFC 9112 §6.3: chunks override a length.
  if (isChunked) kept.push({ name: 'transfer-encoding', value: 'chunked' })
  else if (length.value !== undefined) kept.push({ name: 'content-length', value: length.value })
  const text = [withoutEnd(statusLine), ...kept.map(({ name, value }) => `${name}: ${value}`), '', ''].join('\r\n')
  return {
    kind: 'head',
    bytes: Buffer.from(text, 'latin1'),
    isAmbiguous: length.isRepeated || (isChunked && length.value !== undefined) || codings.length > 1,
  }
}

function readFields(lines: readonly string[]): Field[] {
  const fields: Field[] = []
  let last: Field | undefined
  for (const line of lines) {
    const text = withoutEnd(line).replaceAll(CONTROL, ' ')
    if (isBlank(text, 0)) {
      // RFC 9112 §5.2: a folded line goes on after a blank.
      if (last !== undefined) last.value = trimBlanks(`${last.value} ${trimBlanks(text)}`)
      continue
    }
    const colon = text.indexOf(':')
    const name = trimBlanks(text.slice(0, Math.max(colon, 0)))
    last = FIELD_NAME.test(name) ? { name, value: trimBlanks(text.slice(colon + 1)) } : undefined
    if (last !== undefined) fields.push(last)
  }
  return fields
}

type Length =
  | { readonly kind: 'length'; readonly value: string | undefined; readonly isRepeated: boolean }
  | Extract<AnswerHead, { kind: 'refused' }>

/** RFC 9110 §8.6: one length may be said several times, and several are none. */
function readLength(fields: readonly Field[]): Length {
  const values = fields.filter(({ name }) => isNamed(name, 'content-length')).flatMap(({ value }) => value.split(','))
  const lengths = new Set<string>()
  for (const value of values) {
    const length = trimBlanks(value)
    if (!LENGTH.test(length)) return refused(`the Content-Length ${shown(length)} is no length`)
    lengths.add(length.replace(/^0+(?=\d)/, ''))
  }
  if (lengths.size > 1) return refused(`the Content-Length is ${[...lengths].slice(0, 2).map(shown).join(' and ')}`)
  const [value] = lengths
  return { kind: 'length', value, isRepeated: values.length > 1 }
}

const valuesOf = (fields: readonly Field[], wanted: string): string[] =>
  fields
    .filter(({ name }) => isNamed(name, wanted))
    .flatMap(({ value }) => value.toLowerCase().split(','))
    .map(trimBlanks)
    .filter((value) => value !== '')

const isNamed = (name: string, wanted: string): boolean =>
  name.length === wanted.length && name.toLowerCase() === wanted

const isBlank = (text: string, at: number): boolean => text[at] === ' ' || text[at] === '\t'

function trimBlanks(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isBlank(text, start)) start++
  while (end > start && isBlank(text, end - 1)) end--
  return text.slice(start, end)
}

const withoutEnd = (line: string): string => (line.endsWith('\r') ? line.slice(0, -1) : line)

const shown = (text: string): string => JSON.stringify(text.slice(0, LONGEST_SHOWN))

const refused = (words: string): Extract<AnswerHead, { kind: 'refused' }> => ({ kind: 'refused', words })
