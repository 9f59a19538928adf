/** How large a page is to whoever reads it: what it may cost goes by its bytes and by the tags among them. */
import type { PageInput } from './document.ts'

/** Pages up to this size are small, whatever they are. The worst of them take some 200 ms to read. */
export const SMALL_BYTES = 1024 * 1024
/** HTML up to this size with so many tags at most is of middle size: long articles and references are. */
export const MIDDLE_BYTES = 4 * 1024 * 1024
const FEW_TAGS = 256 * 1024

export function isOfMiddleSize({ body, headers }: PageInput): boolean {
  return body.length <= MIDDLE_BYTES && isHtml(headers) && hasFewTags(body)
}

export function isHtml(headers: PageInput['headers']): boolean {
  return headers['content-type']?.[0]?.includes('html') === true
}

/** Of tags there are no more than signs that begin one. */
function hasFewTags(body: Uint8Array): boolean {
  let signs = 0
  for (let at = 0; at < body.length; at++) if (body[at] === LESS) signs++
  return signs <= FEW_TAGS
}

const LESS = 0x3c
