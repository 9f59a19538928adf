/**
 * Kinds of values that only a crawler has: formats, patterns, user agents, addresses, and rules made of several values.
 */
import { isIP } from 'node:net'
import { TIERS, TiptoeError } from '../model/index.ts'
import { compilePattern, isParameterPattern, MAX_PARAMETER_LENGTH, MAX_PATTERN_LENGTH, TRACKING } from '../url/index.ts'
import {
  choice,
  describe,
  entriesOf,
  list,
  simpleKind,
  text,
  unknownKey,
  type Kind,
  type Path,
  type ReadContext,
} from './kinds.ts'
import { FORMATS, type Format, type ResolveRule, type SiteRule, type TierRule } from './settings.ts'

/** Formats that are part of the plan, so that asking for one is no spelling mistake. */
const FUTURE_FORMATS = new Set(['mhtml', 'screenshot'])

const format: Kind<Format> = {
  ...choice(FORMATS),
  read(raw, context) {
    const known = FORMATS.find((name) => name === raw)
    if (known !== undefined) return known
    const available = `the formats are ${FORMATS.join(', ')}`
    const message = FUTURE_FORMATS.has(String(raw))
      ? `${String(raw)} is not available yet; ${available}`
      : `${describe(raw)} is no format; ${available}`
    context.fail(message)
    return undefined
  },
}

export const formats: Kind<readonly Format[]> = {
  ...list(format, { comma: true }),
  placeholder: 'LIST',
  read(raw, context) {
    const values = list(format, { comma: true }).read(raw, context)
    if (values?.length !== 0) return values && [...new Set(values)]
    context.fail(`expected at least one of ${FORMATS.join(', ')}; found nothing`)
    return undefined
  },
}

/** What stands before the host of a URL, with or without its scheme; what has no host, as `mailto:` has none, stays. */
const CREDENTIALS = /^(\s*(?:https?:[/\\]*|[a-z][a-z0-9+.-]*:[/\\]+|(?![a-z][a-z0-9+.-]*:(?!\d))))[^/\\?#]*@/i

const anyText = text('a URL', 'URL')

/** As typed, but for a user name and password: what is fetched has none, and they must not be written down. */
export const seed: Kind<string> = {
  ...anyText,
  read: (raw, context) => anyText.read(raw, context)?.replace(CREDENTIALS, '$1'),
}

/** Compiled once here, so that a mistake is found before anything starts, with the words of the module `url`. */
export const pattern: Kind<string> = {
  placeholder: 'PATTERN',
  schema: { type: 'string', minLength: 1, maxLength: MAX_PATTERN_LENGTH },
  write: (value) => value,
  read(raw, context) {
    if (typeof raw !== 'string' || raw === '') {
      context.fail(`expected a pattern such as *.pdf, /docs/** or news.example.com/**; found ${describe(raw)}`)
      return undefined
    }
    try {
      return compilePattern(raw).text
    } catch (error) {
      if (!(error instanceof TiptoeError)) throw error
      context.fail(error.hint === undefined ? error.message : `${error.message} (${error.hint})`)
      return undefined
    }
  },
}

/** The name of a query parameter, with `*` for any characters, or the word that stands for the well-known ones. */
export const parameterNames: Kind<readonly string[]> = {
  ...list(
    text(
      `the name of a query parameter such as sid or utm_*, or ${TRACKING} for the well-known ones`,
      'NAME',
      isParameterPattern,
      { maxLength: MAX_PARAMETER_LENGTH },
    ),
    { comma: true },
  ),
  placeholder: 'LIST',
}

/** RFC 9309 §2.2.1: a robots.txt names us by the product token, so the text must begin with one. */
const PRODUCT_TOKEN_FIRST = /^[A-Za-z_-]+(?:[/ ][\x20-\x7e]*)?$/

/** Servers bound the size of all headers together. */
const MAX_USER_AGENT_LENGTH = 512

export const userAgent: Kind<string> = text(
  'a name of letters, - and _, then perhaps a version and a comment in plain ASCII, such as MyBot/1.0 (+https://example.com/bot)',
  'TEXT',
  (value) => value.length <= MAX_USER_AGENT_LENGTH && PRODUCT_TOKEN_FIRST.test(value),
  { pattern: PRODUCT_TOKEN_FIRST.source, maxLength: MAX_USER_AGENT_LENGTH },
)

/** `HOST:PORT:ADDRESS` as in curl; an IPv6 host or address stands in brackets, an address may do without. */
const resolveRule: Kind<ResolveRule> = simpleKind(
  'HOST:PORT:ADDRESS, such as example.com:443:127.0.0.1 or example.com:443:[::1]',
  (raw) => {
    const parts = typeof raw === 'string' ? /^(\[[^\]]+\]|[^\s:]+):(\d{1,5}):(.+)$/.exec(raw) : null
    if (parts === null) return undefined
    const host = withoutBrackets(parts[1] ?? '').toLowerCase()
    const port = Number(parts[2])
    const address = withoutBrackets(parts[3] ?? '').toLowerCase()
    if (port < 1 || port > 65_535 || isIP(address) === 0) return undefined
    if (host.includes(':') && isIP(host) === 0) return undefined
    return { host, port, address }
  },
  {
    placeholder: 'HOST:PORT:ADDRESS',
    schema: { type: 'string', pattern: '^(\\[[^\\]]+\\]|[^\\s:]+):\\d{1,5}:.+$' },
    write: ({ host, port, address }) => `${withBrackets(host)}:${port}:${withBrackets(address)}`,
  },
)

export const resolveRules: Kind<readonly ResolveRule[]> = list(resolveRule)

function withoutBrackets(host: string): string {
  return host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host
}

function withBrackets(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

/** Of either version, without brackets. */
export function isAddress(text: string): boolean {
  return isIP(text) !== 0
}

/** An address block, or one address; kept in lower case. */
export const addressBlock: Kind<string> = simpleKind(
  'an address or a block of addresses, such as 127.0.0.1, 10.0.0.0/8 or fd00::/8',
  (raw) => {
    const parts = typeof raw === 'string' ? /^([0-9a-f.:]+)(?:\/(\d{1,3}))?$/i.exec(raw) : null
    const version = isIP(parts?.[1] ?? '')
    if (parts === null || version === 0 || Number(parts[2] ?? 0) > (version === 4 ? 32 : 128)) return undefined
    return parts[0].toLowerCase()
  },
  { placeholder: 'CIDR', schema: { type: 'string', pattern: '^[0-9a-fA-F.:]+(/\\d{1,3})?$' } },
)

/** Reads a mapping with a fixed set of keys; reports unknown and missing ones. */
function readFields<T>(
  raw: unknown,
  kinds: { readonly [K in keyof T]: Kind<NonNullable<T[K]>> },
  required: readonly (keyof T & string)[],
  context: ReadContext,
): Partial<T> | undefined {
  const names = Object.keys(kinds) as (keyof T & string)[]
  const entries = entriesOf(raw)
  if (entries === undefined) {
    context.fail(`expected a mapping with ${names.join(' and ')}; found ${describe(raw)}`)
    return undefined
  }
  const fields: Partial<T> = {}
  let sound = true
  const failAt = (at: Path, message: string): void => {
    sound = false
    context.fail(message, at)
  }
  for (const [key, rawField] of entries) {
    const name = names.find((known) => known === key)
    if (name === undefined) {
      failAt([key], unknownKey(key, names))
      continue
    }
    const value = kinds[name].read(rawField, { ...context, fail: (message, at = []) => failAt([key, ...at], message) })
    if (value !== undefined) fields[name] = value
  }
  for (const name of required) {
    if (!entries.some(([key]) => key === name)) failAt([], `${name} is missing`)
  }
  return sound ? fields : undefined
}

const tierRule: Kind<TierRule> = {
  schema: {
    type: 'object',
    required: ['match', 'tier'],
    additionalProperties: false,
    properties: { match: pattern.schema, tier: choice(TIERS).schema },
  },
  write: ({ match, tier }) => ({ match, tier }),
  read: (raw, context) =>
    readFields<TierRule>(raw, { match: pattern, tier: choice(TIERS) }, ['match', 'tier'], context) as
      | TierRule
      | undefined,
}

export const tierRules: Kind<readonly TierRule[]> = list(tierRule)

interface SiteFields {
  readonly delay?: number
  readonly concurrency?: number
}

/** A mapping from a host or URL pattern to what differs there. Order counts, so it is kept as a list. */
export function siteRules(kinds: { delay: Kind<number>; concurrency: Kind<number> }): Kind<readonly SiteRule[]> {
  return {
    schema: {
      type: 'object',
      additionalProperties: {
        type: 'object',
        additionalProperties: false,
        properties: { delay: kinds.delay.schema, concurrency: kinds.concurrency.schema },
      },
    },
    write: (rules) =>
      new Map(
        rules.map(({ match, delayMs, concurrency }) => [
          match,
          {
            ...(delayMs === undefined ? {} : { delay: kinds.delay.write(delayMs) }),
            ...(concurrency === undefined ? {} : { concurrency }),
          },
        ]),
      ),
    read(raw, context) {
      const entries = entriesOf(raw)
      if (entries === undefined) {
        context.fail(`expected a mapping from hosts or URL patterns to their settings; found ${describe(raw)}`)
        return undefined
      }
      const rules: SiteRule[] = []
      for (const [match, rawFields] of entries) {
        const inside: ReadContext = { ...context, fail: (message, at = []) => context.fail(message, [match, ...at]) }
        if (pattern.read(match, inside) === undefined) continue
        const fields = readFields<SiteFields>(rawFields, kinds, [], inside)
        if (fields === undefined) continue
        const { delay: delayMs, concurrency } = fields
        rules.push({
          match,
          ...(delayMs === undefined ? {} : { delayMs }),
          ...(concurrency === undefined ? {} : { concurrency }),
        })
      }
      return rules.length === entries.length ? rules : undefined
    },
  }
}
