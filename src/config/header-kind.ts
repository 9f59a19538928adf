/**
 * Header fields for one origin, as a person writes them, and the secrets in them. A value is either the secret itself
 * or names the environment variable that holds it: `$TOKEN`, or `Bearer $TOKEN`. Only the latter may be written down or
 * shown; of the former a mark is left. Messages never repeat a value, nor text that may hold one.
 */
import { MAX_ORIGIN_HEADERS, originHeaderProblem } from '../fetch/index.ts'
import { entriesOf, list, unknownKey, type Kind, type ReadContext } from './kinds.ts'
import { isReference, mentionsVariable, sealed, shownValue, WITHHELD } from './header-secret.ts'
import type { OriginHeader } from './settings.ts'

const FIELDS = ['origin', 'name', 'value'] as const
const FORM = "ORIGIN NAME: VALUE, such as 'https://example.com Authorization: Bearer $TOKEN'"
/** Origin, name and value together. */
const MAX_HEADER_TEXT = 8192

const originHeader: Kind<OriginHeader> = {
  placeholder: "'ORIGIN NAME: VALUE'",
  schema: {
    anyOf: [
      { type: 'string', minLength: 1, maxLength: MAX_HEADER_TEXT },
      {
        type: 'object',
        required: FIELDS,
        additionalProperties: false,
        properties: Object.fromEntries(FIELDS.map((name) => [name, { type: 'string', minLength: 1 }])),
      },
    ],
  },
  write: ({ origin, name, value }) => ({ origin, name, value: shownValue(value) }),
  read(raw, context) {
    const parts = typeof raw === 'string' ? partsOf(raw) : fieldsOf(raw, context)
    if (parts === undefined) {
      if (typeof raw === 'string') context.fail(`expected ${FORM}; what is there is not shown, for it may be a secret`)
      return undefined
    }
    const header = { origin: originOf(parts.origin), name: parts.name.toLowerCase(), value: parts.value }
    const problem = originHeaderProblem(header) ?? valueProblem(header)
    if (problem === undefined) return sealed(header)
    context.fail(problem)
    return undefined
  },
}

const headerList = list(originHeader)

/** A single text is one header: its spaces divide nothing. */
export const originHeaders: Kind<readonly OriginHeader[]> = {
  ...headerList,
  read(raw, context) {
    const headers = headerList.read(Array.isArray(raw) ? raw : [raw], context)
    if (headers === undefined) return undefined
    if (headers.length > MAX_ORIGIN_HEADERS) {
      context.fail(`expected at most ${MAX_ORIGIN_HEADERS} header fields; found ${headers.length}`)
      return undefined
    }
    const seen = new Set<string>()
    for (const [index, { origin, name }] of headers.entries()) {
      const key = `${origin} ${name}`
      if (seen.has(key)) {
        context.fail(`the header field ${name} is given twice for ${origin}`, [index])
        return undefined
      }
      seen.add(key)
    }
    return headers
  },
}

/** `ORIGIN NAME: VALUE`; undefined if it is not that. */
function partsOf(text: string): OriginHeader | undefined {
  if (text.length > MAX_HEADER_TEXT) return undefined
  const trimmed = text.trim()
  const gap = trimmed.search(/\s/)
  if (gap === -1) return undefined
  const field = trimmed.slice(gap).trimStart()
  const colon = field.indexOf(':')
  if (colon < 1) return undefined
  return { origin: trimmed.slice(0, gap), name: field.slice(0, colon), value: field.slice(colon + 1).trim() }
}

/** A mapping with exactly the three fields, each a text. */
function fieldsOf(raw: unknown, context: ReadContext): OriginHeader | undefined {
  const entries = entriesOf(raw)
  if (entries === undefined) {
    context.fail(`expected a mapping with ${FIELDS.join(', ')}, or ${FORM}`)
    return undefined
  }
  const fields: Partial<Record<(typeof FIELDS)[number], string>> = {}
  let sound = true
  for (const [key, value] of entries) {
    const name = FIELDS.find((known) => known === key)
    const isText = typeof value === 'string' && value.length <= MAX_HEADER_TEXT
    if (name !== undefined && isText) fields[name] = value.trim()
    else {
      context.fail(name === undefined ? unknownKey(key, FIELDS) : 'expected text', [key])
      sound = false
    }
  }
  for (const name of FIELDS) {
    if (entries.some(([key]) => key === name)) continue
    context.fail(`${name} is missing`)
    sound = false
  }
  const { origin = '', name = '', value = '' } = fields
  return sound ? { origin, name, value } : undefined
}

/** As `URL.origin` spells it, so that `HTTPS://Example.com:443/` is understood; what is more than an origin stays. */
function originOf(text: string): string {
  const url = URL.parse(text)
  const isOrigin = url !== null && url.href === `${url.origin}/`
  return isOrigin ? url.origin : text
}

/** A value that looks as if a variable were meant, and is not kept as one, would be sent as it stands. */
function valueProblem({ name, value }: OriginHeader): string | undefined {
  if (value === WITHHELD || isReference(value) || !mentionsVariable(value)) return undefined
  return (
    `in the value of the header field ${name} a variable may stand alone or after one word, as in $TOKEN, ` +
    'Bearer $TOKEN or session=$SID; put the whole value into one variable instead'
  )
}
