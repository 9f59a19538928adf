/**
 * Cookies, in the memory of the process and for the very origin that set them: scheme, host and port. A crawler that
 * sent a cookie of one host to its sibling would gain nothing that a reader of public pages needs. Bounded in number and
 * in bytes, for each origin and in all; the oldest give way.
 */
import { createLru, type Clock } from '../base/index.ts'
import { MAX_COOKIE_LENGTH, parseSetCookie, type Cookie } from './set-cookie.ts'
import type { Target } from './target.ts'

export interface CookieJar {
  /** The `Cookie` field for a request; undefined if there is none to send. */
  headerFor(target: Target): string | undefined
  /** Takes the `Set-Cookie` fields of an answer. */
  store(target: Target, fields: readonly string[]): void
}

const MAX_ORIGINS = 10_000
const MAX_COOKIES_PER_ORIGIN = 50
/** Names and values together: more would not fit into the head of a request that servers accept. */
const MAX_BYTES_PER_ORIGIN = 2 * MAX_COOKIE_LENGTH

/** By path and name, in order of creation. */
type Kept = Map<string, Cookie>

export function createCookieJar(clock: Clock): CookieJar {
  const origins = createLru<string, Kept>(MAX_ORIGINS)

  return {
    headerFor(target) {
      const kept = origins.get(target.origin)
      if (kept === undefined) return undefined
      const now = clock.now()
      const path = withoutQuery(target.path)
      const due: Cookie[] = []
      for (const [key, cookie] of kept) {
        if (cookie.expiresAt <= now) kept.delete(key)
        else if (matches(path, cookie.path)) due.push(cookie)
      }
      if (kept.size === 0) origins.delete(target.origin)
      // The sort is stable, so that of two with paths of one length the older comes first (RFC 6265bis §5.8.3).
      due.sort((a, b) => b.path.length - a.path.length)
      return due.length === 0 ? undefined : due.map(pairOf).join('; ')
    },
    store(target, fields) {
      if (fields.length === 0) return
      const source = { secure: target.secure, path: withoutQuery(target.path), now: clock.now() }
      const kept: Kept = origins.get(target.origin) ?? new Map<string, Cookie>()
      for (const field of fields) {
        const cookie = parseSetCookie(field, source)
        if (cookie === undefined) continue
        const key = `${cookie.path};${cookie.name}`
        if (cookie.expiresAt <= source.now) kept.delete(key)
        else kept.set(copied(key), ownCopy(cookie))
        shrink(kept, source.now)
      }
      if (kept.size === 0) origins.delete(target.origin)
      else origins.set(target.origin, kept)
    },
  }
}

/** Within the bounds again: what has expired goes first, then the oldest. */
function shrink(kept: Kept, now: number): void {
  let bytes = 0
  for (const { name, value, path } of kept.values()) bytes += name.length + value.length + path.length
  const isOver = (): boolean => kept.size > MAX_COOKIES_PER_ORIGIN || bytes > MAX_BYTES_PER_ORIGIN
  if (!isOver()) return
  for (const expiredOnly of [true, false]) {
    for (const [key, { name, value, path, expiresAt }] of kept) {
      if (!isOver()) return
      if (expiredOnly && expiresAt > now) continue
      kept.delete(key)
      bytes -= name.length + value.length + path.length
    }
  }
}

const pairOf = ({ name, value }: Cookie): string => (name === '' ? value : `${name}=${value}`)

/** RFC 6265bis §5.1.4. */
function matches(path: string, cookiePath: string): boolean {
  if (!path.startsWith(cookiePath)) return false
  return path.length === cookiePath.length || cookiePath.endsWith('/') || path[cookiePath.length] === '/'
}

function withoutQuery(path: string): string {
  const query = path.indexOf('?')
  return query === -1 ? path : path.slice(0, query)
}

function ownCopy({ name, value, path, expiresAt }: Cookie): Cookie {
  return { name: copied(name), value: copied(value), path: copied(path), expiresAt }
}

/** A part of a text keeps the whole of it in memory; a copy does not. Field values are Latin-1. */
function copied(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1')
}
