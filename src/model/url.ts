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
