/**
 * The address of a store on servers: `redis://` and `rediss://` for one server, `redis-cluster://` and
 * `rediss-cluster://` for a cluster of which some nodes are named. Read here once and refused with a reason; what is
 * shown of it anywhere is what `redactStoreUrl` leaves, which has no password.
 */
import { TiptoeError } from '../../model/index.ts'

export interface StoreAddress {
  readonly host: string
  readonly port: number
}

export interface StoreUrl {
  readonly cluster: boolean
  readonly tls: boolean
  /** At least one. Of a cluster any that are known; the others are found through them. */
  readonly nodes: readonly StoreAddress[]
  readonly username: string | undefined
  readonly password: string | undefined
  /** 0 unless one was named; a cluster has no other. */
  readonly database: number
}

const SCHEMES: Readonly<Record<string, { cluster: boolean; tls: boolean }>> = {
  redis: { cluster: false, tls: false },
  rediss: { cluster: false, tls: true },
  'redis-cluster': { cluster: true, tls: false },
  'rediss-cluster': { cluster: true, tls: true },
}
const FORMS = 'redis://[user:password@]host[:port][/database] or redis-cluster://host:port,host:port (rediss… for TLS)'
const DEFAULT_PORT = 6379
const LONGEST_URL = 4_096
const MOST_NODES = 64

/** Whether a store is meant to be on servers, rather than in a folder. */
export const isStoreUrl = (store: string): boolean => /^rediss?(?:-cluster)?:\/\//i.test(store)

/** `password` is for a URL that has none. Throws `usage`, without ever repeating a password. */
export function parseStoreUrl(store: string, password?: string): StoreUrl {
  const match = store.length > LONGEST_URL ? null : /^([a-z-]+):\/\/(?:([^@/]*)@)?([^@/?#]+)(?:\/(\d*))?$/i.exec(store)
  const scheme = SCHEMES[match?.[1]?.toLowerCase() ?? '']
  if (match === null || scheme === undefined) throw refuse(store, 'it is not the address of a store')
  const [, , credentials = '', hosts = '', database = ''] = match
  const nodes = hosts.split(',').map((host) => parseAddress(store, host))
  if (nodes.length > MOST_NODES) throw refuse(store, `it names more than ${MOST_NODES} nodes`)
  if (!scheme.cluster && nodes.length > 1) throw refuse(store, 'only a cluster has several nodes')
  const number = database === '' ? 0 : Number(database)
  if (scheme.cluster && number !== 0) throw refuse(store, 'a cluster has no numbered databases')
  const colon = credentials.indexOf(':')
  const username = decode(store, colon === -1 ? credentials : credentials.slice(0, colon))
  const given = colon === -1 ? undefined : decode(store, credentials.slice(colon + 1))
  return { ...scheme, nodes, username, password: given ?? password, database: number }
}

/** Without password, for messages and files. What cannot be read is left out, for it may be one. */
export function redactStoreUrl(store: string): string {
  const match = /^([a-z-]{1,20}):\/\/(?:(.*)@)?([^@]*)$/is.exec(store)
  if (match === null) return 'the store'
  const [, scheme = '', credentials, rest = ''] = match
  const place =
    /^[a-z0-9._-]+(?::\d+)?(?:,[a-z0-9._-]+(?::\d+)?)*(?:\/\d*)?$/i.test(rest) || /^\[[0-9a-f:.]+\]/i.test(rest)
  const user = credentials === undefined ? '' : `${/^([a-z0-9._-]*):/i.exec(credentials)?.[1] ?? ''}:***@`
  return `${scheme}://${user}${place ? rest : '…'}`
}

export const addressText = ({ host, port }: StoreAddress): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`

function parseAddress(store: string, text: string): StoreAddress {
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::(\d{1,5}))?$/i.exec(text)
  const port = match?.[3] === undefined ? DEFAULT_PORT : Number(match[3])
  if (match === null || port < 1 || port > 65_535) throw refuse(store, 'a node is named as host:port')
  return { host: (match[1] ?? match[2]) as string, port }
}

function decode(store: string, text: string): string | undefined {
  if (text === '') return undefined
  try {
    return decodeURIComponent(text)
  } catch {
    throw refuse(store, 'user and password are percent-encoded')
  }
}

const refuse = (store: string, reason: string): TiptoeError =>
  new TiptoeError('usage', `${redactStoreUrl(store)} cannot be used: ${reason}`, { hint: `write ${FORMS}` })
