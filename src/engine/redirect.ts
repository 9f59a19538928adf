/** Where a redirect leads. */
import { isUtf8 } from 'node:buffer'
import type { FetchResponse } from '../fetch/index.ts'
import type { NormalizedUrl } from '../model/index.ts'
import { normalizeUrl } from '../url/index.ts'

/** Undefined when there is no Location, or none that can be fetched. */
export function redirectTarget(response: FetchResponse, from: NormalizedUrl): NormalizedUrl | undefined {
  const location = response.headers.get('location')
  if (location === null) return undefined
  // Headers come as Latin-1; servers that put bare non-ASCII there mean UTF-8, as browsers read it.
  const bytes = Buffer.from(location, 'latin1')
  return normalizeUrl(isUtf8(bytes) ? bytes.toString('utf8') : location, from)
}
