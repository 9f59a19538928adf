/**
 * What a request carries that is meant for one origin alone: the header fields that the user set for it, and the
 * cookies that it set itself. Looked up anew for each request, by the origin that the request goes to.
 */
import type { Clock } from '../base/index.ts'
import { createCookieJar } from './cookies.ts'
import type { RequestHeaders } from './headers.ts'
import { createOriginHeaders, type OriginHeader } from './origin-headers.ts'
import type { FetchOutcome } from './outcome.ts'
import type { Target } from './target.ts'

export interface Credentials {
  for(target: Target): RequestHeaders
  /** Cookies that the origin sets may open something: they are sent back, or it knows us by a field of its own. */
  isTrusted(target: Target): boolean
  /** Hears of every outcome, for the cookies in it. */
  learn(target: Target, outcome: FetchOutcome): void
}

const NONE: RequestHeaders = {}

export function createCredentials(
  options: { readonly cookies: boolean; readonly headers: readonly OriginHeader[] },
  clock: Clock,
): Credentials {
  const origins = createOriginHeaders(options.headers)
  const jar = options.cookies ? createCookieJar(clock) : undefined
  return {
    for(target) {
      const own = origins.for(target.origin) ?? NONE
      const kept = jar?.headerFor(target)
      if (kept === undefined) return own
      const cookie = own['cookie'] === undefined ? kept : `${own['cookie']}; ${kept}`
      return { ...own, cookie }
    },
    isTrusted: (target) => jar !== undefined || origins.for(target.origin) !== undefined,
    learn(target, outcome) {
      // An answer that failed in its body has set its cookies all the same.
      if (outcome.kind !== 'response' && outcome.kind !== 'error') return
      jar?.store(target, outcome.headers?.all('set-cookie') ?? [])
    },
  }
}
