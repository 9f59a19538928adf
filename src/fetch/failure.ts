/**
 * The system's errors in words, with what follows from each: may it be tried again, is this machine offline, did
 * anything reach the host. Error objects of Node are known here and nowhere else.
 */
import type { Failure } from './outcome.ts'

interface SystemError {
  readonly code?: unknown
  readonly message?: unknown
  readonly reason?: unknown
  readonly syscall?: unknown
}

export function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as SystemError
  return typeof code === 'string' ? code : ''
}

function messageOf(error: unknown): string {
  const { message } = (error ?? {}) as SystemError
  const text = typeof message === 'string' && message !== '' ? message : String(error)
  // OpenSSL's messages carry file names and line feeds; hosts' names may carry anything.
  return text.replaceAll(/\s+/g, ' ').slice(0, MAX_DETAIL).trim()
}

const MAX_DETAIL = 300

const withCode = (words: string, error: unknown): string => {
  const code = codeOf(error)
  return code === '' ? words : `${words} (${code})`
}

/** The way out of this machine is missing; nothing left it. */
const UNREACHABLE: Readonly<Record<string, string>> = {
  ENETUNREACH: 'the network cannot be reached',
  ENETDOWN: 'the network is down',
  EHOSTUNREACH: 'there is no route to the host',
  EHOSTDOWN: 'the host is down',
  ENONET: 'this machine is on no network',
}

/** The connection was never tried, for want of something on this machine. */
const LOCAL: Readonly<Record<string, string>> = {
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open on this machine',
  EADDRNOTAVAIL: 'no local address or port is free',
  ENOBUFS: 'no memory for another connection',
  EAFNOSUPPORT: 'this machine does not speak that kind of address',
  EACCES: 'this machine forbids the connection',
  EPERM: 'this machine forbids the connection',
}

export function isOutOfFiles(error: unknown): boolean {
  const code = codeOf(error)
  return code === 'EMFILE' || code === 'ENFILE'
}

const CONNECT: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  ETIMEDOUT: 'no answer to the connection attempt',
}

export function dnsFailure(hostname: string, error: unknown): Failure {
  const code = codeOf(error)
  const temporary = code === 'EAI_AGAIN'
  const missing = code === 'ENOTFOUND' || code === 'ENODATA'
  const words = temporary
    ? `no name server answered for ${hostname}`
    : missing
      ? `there is no address for ${hostname}`
      : `${hostname} could not be resolved: ${messageOf(error)}`
  return { code: 'dns', detail: withCode(words, error), retryable: !missing, offline: temporary, sent: false }
}

export function noAddressFailure(hostname: string): Failure {
  const detail = `there is no address for ${hostname}`
  return { code: 'dns', detail, retryable: false, offline: false, sent: false }
}

export interface FailedAttempt {
  readonly address: string
  readonly error: unknown
}

/** All attempts failed: the one that got furthest speaks for them. */
export function connectFailure(attempts: readonly FailedAttempt[]): Failure {
  const rank = ({ error }: FailedAttempt): number => {
    const code = codeOf(error)
    return Object.hasOwn(LOCAL, code) ? 0 : Object.hasOwn(UNREACHABLE, code) ? 1 : 2
  }
  const telling = attempts.reduce((best, attempt) => (rank(attempt) > rank(best) ? attempt : best))
  const code = codeOf(telling.error)
  const words = CONNECT[code] ?? UNREACHABLE[code] ?? LOCAL[code] ?? messageOf(telling.error)
  return {
    code: 'connect',
    detail: withCode(`${words}: ${telling.address}`, telling.error),
    retryable: true,
    // A machine without IPv6 says ENETUNREACH of every IPv6 address, and is not offline for that.
    offline: attempts.some((attempt) => rank(attempt) === 1 && !attempt.address.includes(':')) && rank(telling) === 1,
    sent: rank(telling) === 2,
  }
}

const CERTIFICATE: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'the certificate has expired',
  CERT_NOT_YET_VALID: 'the certificate is not valid yet',
  CERT_REVOKED: 'the certificate has been revoked',
  CERT_UNTRUSTED: 'the certificate is not trusted',
  CERT_REJECTED: 'the certificate is not trusted',
  CERT_SIGNATURE_FAILURE: 'the signature of the certificate is wrong',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate chain ends in an unknown, self-signed certificate',
  UNABLE_TO_GET_ISSUER_CERT: 'the issuer of the certificate is unknown',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the issuer of the certificate is unknown',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the certificate cannot be traced to a known issuer',
  INVALID_PURPOSE: 'the certificate is not meant for a server',
  HOSTNAME_MISMATCH: 'the certificate is for another name',
  CERT_CHAIN_TOO_LONG: 'the certificate chain is too long',
}

/** What OpenSSL says of a handshake that cannot work, by the end of its code, which begins with the protocol's name. */
const HANDSHAKE: readonly (readonly [ending: string, words: string])[] = [
  ['WRONG_VERSION_NUMBER', 'the host does not speak TLS here'],
  ['HTTP_REQUEST', 'the host does not speak TLS here'],
  ['PACKET_LENGTH_TOO_LONG', 'the host does not speak TLS here'],
  ['RECORD_LAYER_FAILURE', 'the host does not speak TLS here'],
  ['ALERT_PROTOCOL_VERSION', 'the host and we have no version of TLS in common'],
  ['UNSUPPORTED_PROTOCOL', 'the host and we have no version of TLS in common'],
  ['ALERT_HANDSHAKE_FAILURE', 'the host and we have no cipher in common, or it wants a certificate of ours'],
  ['NO_SHARED_CIPHER', 'the host and we have no cipher in common'],
  ['DH_KEY_TOO_SMALL', 'the key of the host is too weak'],
  ['EE_KEY_TOO_SMALL', 'the key of the host is too weak'],
  ['UNRECOGNIZED_NAME', 'the host does not know itself by this name'],
  ['ALERT_NO_APPLICATION_PROTOCOL', 'the host speaks no version of HTTP that we do'],
  ['ALERT_CERTIFICATE_REQUIRED', 'the host wants a certificate of ours'],
  ['ALERT_ACCESS_DENIED', 'the host denies access'],
  ['ALERT_INTERNAL_ERROR', 'the host has an error of its own'],
]

const handshakeWords = (code: string): string | undefined =>
  code.startsWith('ERR_SSL_') ? HANDSHAKE.find(([ending]) => code.endsWith(ending))?.[1] : undefined

export function tlsFailure(hostname: string, error: unknown): Failure {
  const code = codeOf(error)
  const { reason } = (error ?? {}) as SystemError
  let words = CERTIFICATE[code] ?? handshakeWords(code)
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') words = `the certificate is for another name than ${hostname}`
  const broken = code === 'ECONNRESET' || code === 'EPIPE' || code === 'ETIMEDOUT'
  if (broken) words = 'the connection broke off during the TLS handshake'
  words ??= `the TLS handshake failed: ${typeof reason === 'string' ? reason : messageOf(error)}`
  return { code: 'tls', detail: withCode(words, error), retryable: broken, offline: false, sent: true }
}

/** An answer that we break off because of what it is, in words; it will hardly be better next time. */
export class RefusedAnswer extends Error {}

/** The connection came to its end, and the answer did not. */
export class ClosedEarly extends Error {}

const ANSWER: Readonly<Record<string, string>> = {
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed',
  ETIMEDOUT: 'the connection timed out',
  ...UNREACHABLE,
}

/** The connection stood, and the answer failed to come, to be HTTP, or to end. */
export function answerFailure(error: unknown): Failure {
  if (error instanceof RefusedAnswer) return protocolFailure(error.message, false)
  if (error instanceof ClosedEarly) {
    return protocolFailure('the connection was closed before the answer was complete', true)
  }
  const code = codeOf(error)
  if (code.startsWith('ERR_SSL_')) return { ...tlsFailure('', error), retryable: false }
  if (code.startsWith('ERR_HTTP2_')) {
    return protocolFailure(withCode(`the answer is not valid HTTP/2: ${messageOf(error)}`, error), true)
  }
  const words = withCode(ANSWER[code] ?? messageOf(error), error)
  return { ...protocolFailure(words, true), offline: Object.hasOwn(UNREACHABLE, code) }
}

export function protocolFailure(detail: string, retryable: boolean): Failure {
  return { code: 'protocol', detail, retryable, offline: false, sent: true }
}

/** A broken body may come whole the next time; an unknown coding stays unknown. */
export function encodingFailure(detail: string, retryable: boolean): Failure {
  return { code: 'encoding', detail, retryable, offline: false, sent: true }
}

export function tooLargeFailure(detail: string): Failure {
  return { code: 'too-large', detail, retryable: false, offline: false, sent: true }
}

export function timeoutFailure(detail: string, sent: boolean): Failure {
  return { code: 'timeout', detail, retryable: true, offline: false, sent }
}
