/**
 * The names of things on the web, as branded strings: only the module `url` makes them, so a value of one of these
 * types has been validated, and nobody else parses it again.
 */

declare const brand: unique symbol

/** An absolute http or https URL as the WHATWG URL Standard serialises it, without a fragment. What is fetched. */
export type NormalizedUrl = string & { readonly [brand]: 'NormalizedUrl' }

/** What is deduplicated: two URLs with one key are the same page by RFC 3986 §6.2.2. */
export type UrlKey = string & { readonly [brand]: 'UrlKey' }

/** Lower-case host name or address without a port (`docs.example.com`, `127.0.0.1`, `[::1]`). What is paced. */
export type HostKey = string & { readonly [brand]: 'HostKey' }

/** Scheme, host and port (`https://example.com`, `http://example.com:8080`). What a robots.txt speaks for. */
export type Origin = string & { readonly [brand]: 'Origin' }

/**
 * A number for each URL of a list, place by place. It stands for that URL, and for no other, wherever `era` is the same
 * object: what is known of a URL can be kept by its number, which is found at once, until another era begins. Another
 * thread has eras of its own.
 */
export interface UrlNumbering {
  /** Whole and positive, some ten thousand at most. */
  readonly numbers: readonly number[]
  readonly era: object
}
