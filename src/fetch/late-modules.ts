/**
 * Node's TLS and HTTP/2, read when the first host needs them: they take 12 MB and 30 ms, and the certificates that are
 * trusted half as long again.
 */
import type * as Http2 from 'node:http2'
import type * as Tls from 'node:tls'

export const tls = (): typeof Tls => process.getBuiltinModule('node:tls')

export const http2 = (): typeof Http2 => process.getBuiltinModule('node:http2')

/** The same for all connections: making one means reading all the certificates that are trusted. */
export function createSharedSecureContext(ca: string | readonly string[] | undefined): () => Tls.SecureContext {
  let shared: Tls.SecureContext | undefined
  const context = (): Tls.SecureContext =>
    (shared ??= tls().createSecureContext(ca === undefined ? {} : { ca: [ca].flat() }))
  // What is wrong with certificates of one's own is to be heard at once.
  if (ca !== undefined) context()
  return context
}
