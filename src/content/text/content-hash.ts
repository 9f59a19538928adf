/** The name of some content by its bytes: equal content, equal name. */
import { hash } from 'node:crypto'

/** `sha256:` and the hex digest; of a string, the digest of its UTF-8. */
export function contentHash(data: string | Uint8Array): string {
  return `sha256:${hash('sha256', data)}`
}
