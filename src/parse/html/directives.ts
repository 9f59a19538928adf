/**
 * What a page asks of robots: `<meta name=robots>`, the same by our own name, and the X-Robots-Tag header. Everything
 * that speaks to us counts together, and the stricter wins. Directives about search results (`nosnippet`,
 * `unavailable_after`, …) are read past.
 */
import type { RobotsDirectives } from '../../model/index.ts'

/** Directives that carry a value after a colon, and so look like a robot's name before its directives. */
const VALUED_DIRECTIVES = new Set(['unavailable_after', 'max-snippet', 'max-image-preview', 'max-video-preview'])

/** Names that mean every robot. */
const EVERYONE = new Set(['*', 'robots'])

/**
 * @param meta contents of the meta elements that speak to us (see `speaksToUs`)
 * @param xRobotsTag header values; several joined by commas are fine
 * @param productToken our name, as in robots.txt
 */
export function parseDirectives(
  meta: readonly string[],
  xRobotsTag: readonly string[],
  productToken: string,
): RobotsDirectives {
  let index = true
  let follow = true
  const apply = (directive: string): void => {
    if (directive === 'noindex' || directive === 'none') index = false
    if (directive === 'nofollow' || directive === 'none') follow = false
  }
  for (const content of meta) {
    for (const directive of content.toLowerCase().split(/[\s,;]+/)) apply(directive)
  }
  for (const value of xRobotsTag) {
    // A name holds for what follows it in the same header value, up to the next name.
    let forUs = true
    for (const part of value.toLowerCase().split(',')) {
      const colon = part.indexOf(':')
      const name = colon === -1 ? '' : part.slice(0, colon).trim()
      let directives = part
      if (isRobotName(name)) {
        forUs = speaksToUs(name, productToken)
        directives = part.slice(colon + 1)
      }
      if (forUs) for (const directive of directives.split(/[\s;]+/)) apply(directive)
    }
  }
  return { index, follow }
}

/** Whether a meta element's name, or the name in a header, means us. */
export function speaksToUs(name: string, productToken: string): boolean {
  const lower = name.toLowerCase()
  return EVERYONE.has(lower) || lower === productToken.toLowerCase()
}

/** `25 jun 2010 15` before the colon of a time of day is no name, nor is a directive that takes a value. */
function isRobotName(name: string): boolean {
  return name === '*' || (/^[a-z][a-z0-9_-]*$/.test(name) && !VALUED_DIRECTIVES.has(name) && !name.startsWith('max-'))
}
