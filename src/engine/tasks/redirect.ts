/** Where a redirect leads. */
import { isUtf8 } from 'node:buffer'
import type { FetchResponse } from '../../fetch/index.ts'
import type { NormalizedUrl } from '../../model/index.ts'
import { keyOfNormalized, normalizeUrl } from '../../url/index.ts'

/**
 * Undefined when there is no Location, or none that can be fetched. Where nothing but what `strip` takes away is new, the
 * target is taken as it is: otherwise it would be the page that we come from.
 */
export function redirectTarget(
  response: FetchResponse,
  from: NormalizedUrl,
  strip: (url: NormalizedUrl) => NormalizedUrl = asItIs,
): NormalizedUrl | undefined {
  const location = response.headers.get('location')
  if (location === null) return undefined
  // Headers come as Latin-1; servers that put bare non-ASCII there mean UTF-8, as browsers read it.
  const bytes = Buffer.from(location, 'latin1')
  const target = normalizeUrl(isUtf8(bytes) ? bytes.toString('utf8') : location, from)
  if (target === undefined) return undefined
  const stripped = strip(target)
  return keyOfNormalized(stripped) === keyOfNormalized(from) ? target : stripped
}

const asItIs = (url: NormalizedUrl): NormalizedUrl => url
