/**
 * The secret in a header value: given in full, or as the name of an environment variable. It keeps true that settings
 * never carry a secret out of the process: as JSON and in a file a value given in full is only a mark, and a mark
 * cannot be sent. Variables are read when a fetcher is made, and not before.
 */
import { originHeaderProblem } from '../fetch/index.ts'
import { TiptoeError } from '../model/index.ts'
import type { Environment } from './layer.ts'
import type { OriginHeader } from './settings.ts'

/** Stands in a crawl.yaml, and wherever settings are shown, for a value that was given in full. */
export const WITHHELD = '(withheld)'

/** One word before the variable is no secret: `Bearer`, `Basic`, or the name of a cookie. */
const REFERENCE = /^((?:[A-Za-z][A-Za-z0-9_-]{0,31}[ =])?)\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})$/

export function isReference(value: string): boolean {
  return REFERENCE.test(value)
}

export function mentionsVariable(value: string): boolean {
  return /\$\{?[A-Za-z_]/.test(value)
}

/** What may be written down: the name of a variable, and no secret. */
export function shownValue(value: string): string {
  return isReference(value) ? value : WITHHELD
}

/** The same header; whoever prints it as JSON, or settings that hold it, prints no secret. */
export function sealed(header: OriginHeader): OriginHeader {
  const toJSON = (): OriginHeader => ({ ...header, value: shownValue(header.value) })
  return Object.defineProperty({ ...header }, 'toJSON', { value: toJSON, enumerable: false })
}

/** The header fields with the secrets in them, to be sent and not to be kept. */
export function headersInForce(headers: readonly OriginHeader[], environment: Environment): OriginHeader[] {
  return headers.map((header) => {
    const value = valueInForce(header, environment)
    const problem = originHeaderProblem({ ...header, value })
    if (problem !== undefined) throw new TiptoeError('usage', `headers: ${problem}`)
    return { ...header, value }
  })
}

function valueInForce({ origin, name, value }: OriginHeader, environment: Environment): string {
  if (value === WITHHELD) {
    throw new TiptoeError('usage', `the value of the header field ${name} for ${origin} was not kept with the crawl`, {
      hint: `give it again: --header '${origin} ${name}: …'; a value that names a variable, such as $TOKEN, is kept by that name`,
    })
  }
  const reference = REFERENCE.exec(value)
  if (reference === null) return value
  const variable = reference[2] ?? reference[3] ?? ''
  const secret = environment[variable]
  if (secret === undefined || secret === '') {
    throw new TiptoeError(
      'usage',
      `the variable ${variable} is not set; the header field ${name} for ${origin} needs it`,
      {
        hint: `export ${variable} before the crawl is started or resumed`,
      },
    )
  }
  return `${reference[1] ?? ''}${secret.trim()}`
}
