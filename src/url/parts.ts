/**
 * The parts of a normalised URL, cut out of its text without parsing it again. Its shape is known: a lower-case scheme,
 * `://`, an authority without credentials or default port, a path that begins with a slash, perhaps a query.
 */
import { parse } from 'tldts'
import type { HostKey, NormalizedUrl, Origin } from '../model/index.ts'

/** `https` has its `s` at index 4. */
const authorityStart = (url: string): number => (url.charCodeAt(4) === 0x73 ? 8 : 7)

/** Where the path begins. */
export const pathStart = (url: string): number => url.indexOf('/', authorityStart(url))

/** Where the query begins with its `?`, or the end of the URL. */
export function queryStart(url: string): number {
  const question = url.indexOf('?')
  return question === -1 ? url.length : question
}

/** Scheme, host and port: what a robots.txt speaks for. */
export function originOf(url: NormalizedUrl): Origin {
  return url.slice(0, pathStart(url)) as Origin
}

/** Host and, where it is not the default, port (`example.com`, `example.com:8080`), without a final dot of the name. */
export function siteOf(url: string): string {
  const authority = url.slice(authorityStart(url), pathStart(url))
  const end = hostEnd(authority)
  const host = withoutFinalDots(authority.slice(0, end))
  return host.length === end ? authority : host + authority.slice(end)
}

/** What is paced: the host without its port. `example.com.` is the same machine as `example.com`, so it has the same key. */
export function hostKey(url: NormalizedUrl): HostKey {
  const site = siteOf(url)
  return site.slice(0, hostEnd(site)) as HostKey
}

/** The path without the query. */
export function pathOf(url: NormalizedUrl): string {
  return url.slice(pathStart(url), queryStart(url))
}

/** Path and query, as they are sent in the request line. */
export function targetOf(url: NormalizedUrl): string {
  return url.slice(pathStart(url))
}

/**
 * The part of a host name that somebody registered (`docs.example.co.uk` → `example.co.uk`). Private suffixes count,
 * so two sites on `github.io` are two. An address, a single label and a bare public suffix stand for themselves.
 */
export function registrableDomain(host: HostKey): string {
  return parse(host, TLDTS_OPTIONS).domain ?? host
}

const TLDTS_OPTIONS = { allowPrivateDomains: true, extractHostname: false, validateHostname: false }

/** Where the port's colon stands in an authority, or its end. The colons of an IPv6 address are inside brackets. */
function hostEnd(authority: string): number {
  const colon = authority.indexOf(':', authority.startsWith('[') ? authority.indexOf(']') : 0)
  return colon === -1 ? authority.length : colon
}

function withoutFinalDots(host: string): string {
  let end = host.length
  while (end > 1 && host.charCodeAt(end - 1) === 0x2e) end--
  return end === host.length ? host : host.slice(0, end)
}
