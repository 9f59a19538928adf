/**
 * What an error of a server or of the way to it means for the request that met it: look elsewhere, wait, or give up.
 * Servers say it in the first word of their error; connections in Node's error codes. Nothing that is said here repeats
 * a password: texts of servers do not, and those of ours are written so.
 */
import { TiptoeError } from '../../model/index.ts'
import type { Script } from './link.ts'

export type Failure = Redirection | Setback

/** Another node has the slot, from now on (`moved`) or for this request alone (`ask`). */
export interface Redirection {
  readonly kind: 'moved' | 'ask'
  readonly address: string
}

export type Setback =
  /** It may pass: the same request is sent again later. With `elsewhere` another node may have taken over. */
  | { readonly kind: 'wait'; readonly detail: string; readonly elsewhere: boolean }
  /** Waiting does not mend it. */
  | { readonly kind: 'fatal'; readonly error: TiptoeError }

const wait = (detail: string, elsewhere = false): Setback => ({ kind: 'wait', detail, elsewhere })
const fatal = (message: string, hint?: string): Setback => ({
  kind: 'fatal',
  error: new TiptoeError('store', message, hint === undefined ? {} : { hint }),
})

/** First words of errors that pass by themselves, in the words of this program. */
const PASSING: Readonly<Record<string, readonly [detail: string, elsewhere: boolean]>> = {
  TRYAGAIN: ['a slot is on its way to another node', false],
  CLUSTERDOWN: ['the cluster is down', true],
  MASTERDOWN: ['the primary is down', true],
  READONLY: ['the server is a read-only replica', true],
  LOADING: ['the server is loading its data', false],
  BUSY: ['the server is busy with a script', false],
  NOREPLICAS: ['the server has too few replicas to accept writes', false],
  MISCONF: ['the server cannot save its data, and refuses writes', false],
  OOM: ['out of memory', false],
}

const LOST_HINT =
  'put the data of the store back from a copy, or begin anew under another name with --crawl; what the folders of the workers hold stays'
const PASSWORD_HINT = 'give user and password in the store URL, or the password in TIPTOE_STORE_PASSWORD'

/** Of an error that a server replied with. `node` is its address. */
export function replyFailure(text: string, node: string, script?: Script): Failure {
  const [word = '', ...rest] = text.split(' ')
  if ((word === 'MOVED' || word === 'ASK') && rest.length >= 2)
    return { kind: word === 'MOVED' ? 'moved' : 'ask', address: rest[1] as string }
  const passing = PASSING[word]
  if (passing !== undefined) return wait(passing[0], passing[1])
  if (/max number of clients/i.test(text)) return wait('the server has too many clients')
  if (word === 'TIPTOE') {
    const words = withoutPlace(text.slice('TIPTOE '.length))
    return fatal(words, words.includes(' is lost') ? LOST_HINT : undefined)
  }
  if (word === 'WRONGPASS' || /invalid password|without any password configured/i.test(text))
    return fatal(`${node} refuses this user and password`, PASSWORD_HINT)
  if (word === 'NOAUTH') return fatal(`${node} asks for a password`, PASSWORD_HINT)
  if (word === 'NOPERM')
    return fatal(`this user may not do what a crawl needs: ${text}`, 'allow it all of ~tiptoe:* and EVAL, EVALSHA')
  if (/DB index is out of range|invalid DB index|SELECT is not allowed/i.test(text))
    return fatal(`${node} has no such database: ${text}`, 'leave the number out of the store URL')
  const doing = script === undefined ? '' : ` (script ${script.name})`
  return fatal(`${node} answered with an error${doing}: ${text}`)
}

/** Of a connection that could not be made or did not last. */
export function connectionFailure(error: unknown, node: string): Setback {
  const code = codeOf(error)
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID' || code === 'HOSTNAME_MISMATCH')
    return fatal(`the certificate of ${node} is for another name (${code})`, 'name the store as its certificate does')
  if (/^(?:CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_(?:GET_ISSUER|VERIFY)|ERR_TLS_CERT)/.test(code))
    return fatal(
      `the certificate of ${node} is not trusted (${code})`,
      'name the file of its authority with --store-ca',
    )
  if (/^ERR_SSL_(?:WRONG_VERSION|PACKET_LENGTH|UNSUPPORTED_PROTO)/.test(code) || code === 'EPROTO')
    return fatal(`${node} does not speak TLS (${code})`, 'use redis:// instead of rediss://')
  if (/^ERR_SSL_.*(?:CERTIFICATE|HANDSHAKE|ALERT)/.test(code))
    return fatal(`${node} refuses the TLS handshake (${code})`)
  return wait(`${node} cannot be reached (${code === '' ? messageOf(error) : code})`, true)
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
/** The client library's own words for a connection that the other end closed are about itself. */
const CLOSED = new Set(['Disconnects client', 'Socket closed unexpectedly'])
const messageOf = (error: unknown): string => {
  const message = error instanceof Error ? error.message : String(error)
  return CLOSED.has(message) ? 'the connection was closed' : message
}

/** Redis adds where in the script an error was raised. */
const withoutPlace = (text: string): string => text.replace(/ script: [0-9a-f]{40}, on @?user_script:\d+\.$/, '')
