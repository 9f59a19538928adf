/** The name by which robots.txt and meta robots know us: what a user agent begins with (RFC 9309 §2.2.1). */
export function productTokenOf(userAgent: string): string {
  return /^[A-Za-z_-]+/.exec(userAgent)?.[0] ?? userAgent
}
