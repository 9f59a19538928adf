/** Where a URL leads, taken apart without parsing it again: a NormalizedUrl has exactly one spelling of each part. */
import type { NormalizedUrl } from '../model/index.ts'

export interface Target {
  /** `https://example.com:8443`: what connections are kept by. Never holds credentials. */
  readonly origin: string
  /** As sent in `Host` or `:authority`: with brackets, and with the port if it is not the scheme's own. */
  readonly authority: string
  /** Without brackets. */
  readonly hostname: string
  readonly port: number
  readonly secure: boolean
  readonly path: string
  /** The one address that will do; undefined: any. */
  readonly address: string | undefined
}

type Server = Omit<Target, 'path' | 'address'>

/** The server of the last target: the same strings, which maps know again, for the next. */
let last: Server | undefined

/** Undefined for what is neither http nor https: nothing else is ever dialled. */
export function targetOf(url: NormalizedUrl, address?: string): Target | undefined {
  const isSame = last !== undefined && url.charCodeAt(last.origin.length) === SLASH && url.startsWith(last.origin)
  if (!isSame) last = serverOf(url)
  if (last === undefined) return undefined
  const { origin, authority, hostname, port, secure } = last
  const slash = url.indexOf('/', secure ? 8 : 7)
  return { origin, authority, hostname, port, secure, path: slash === -1 ? '/' : url.slice(slash), address }
}

const SLASH = 0x2f

function serverOf(url: NormalizedUrl): Server | undefined {
  const secure = url.startsWith('https://')
  if (!secure && !url.startsWith('http://')) return undefined
  const start = secure ? 8 : 7
  const slash = url.indexOf('/', start)
  const authorityEnd = slash === -1 ? url.length : slash
  // Credentials in a URL are not ours to send.
  const authorityStart = Math.max(start, url.lastIndexOf('@', authorityEnd) + 1)
  const authority = url.slice(authorityStart, authorityEnd)
  const colon = authority.lastIndexOf(':')
  const hasPort = colon > authority.lastIndexOf(']')
  const host = hasPort ? authority.slice(0, colon) : authority
  return {
    origin: `${secure ? 'https' : 'http'}://${authority}`,
    authority,
    hostname: host.startsWith('[') ? host.slice(1, -1) : host,
    port: hasPort ? Number(authority.slice(colon + 1)) : secure ? 443 : 80,
    secure,
  }
}
