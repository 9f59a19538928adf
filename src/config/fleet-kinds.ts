/**
 * Kinds of values that a fleet has: the address of a store, names of crawls and workers, the address that a process
 * listens on. A password in the address of a store is used and never written down.
 */
import { isAddress } from './crawl-kinds.ts'
import { text, type Kind } from './kinds.ts'

const STORE = /^rediss?(?:-cluster)?:\/\/[^\s/?#@]*(?:@[^\s/?#@]+)?(?:\/\d*)?$/i
const CREDENTIALS = /^([a-z-]+:\/\/)(?:([^:@/]*)(?::[^@]*)?@)?/i

/** The address of a store as it may be shown and kept. */
export function withoutPassword(store: string): string {
  return store.replace(CREDENTIALS, (_, scheme: string, user?: string) =>
    user === undefined || user === '' ? scheme : `${scheme}${user}@`,
  )
}

const anyStore = text(
  'redis://HOST[:PORT][/DATABASE] or redis-cluster://HOST:PORT,HOST:PORT, with rediss for TLS',
  'URL',
  (value) => STORE.test(value),
  { pattern: '^rediss?(-cluster)?://.+$' },
)

/** What is wrong is not repeated, for it may hold a password. */
export const storeUrl: Kind<string> = {
  ...anyStore,
  write: withoutPassword,
  read(raw, context) {
    let isSound = true
    const value = anyStore.read(raw, { ...context, fail: () => (isSound = false) })
    if (!isSound) {
      context.fail(
        'expected redis://[USER@]HOST[:PORT][/DATABASE] or redis-cluster://HOST:PORT,HOST:PORT, with rediss for TLS; ' +
          'what is there is not shown, for it may hold a password',
      )
    }
    return value
  },
}

/** Part of every key of the crawl, and of names of files. */
const NAME = /^[A-Za-z0-9._-]{1,64}$/
export const shortName = text(
  'a name of up to 64 letters, digits, dots, - and _',
  'NAME',
  (value) => NAME.test(value),
  {
    pattern: NAME.source,
    maxLength: 64,
  },
)

/** `ADDRESS:PORT`, as it stands in a URL; port 0 is any that is free. */
export const listenAddress = text(
  'ADDRESS:PORT, such as 127.0.0.1:9090 or [::1]:9090',
  'ADDRESS:PORT',
  (value) => listenParts(value) !== undefined,
  { pattern: '^(\\[[0-9a-fA-F:.]+\\]|[0-9.]+|localhost):\\d{1,5}$' },
)

export function listenParts(value: string): { readonly host: string; readonly port: number } | undefined {
  const parts = /^(?:\[([0-9a-f:.]+)\]|([0-9.]+|localhost)):(\d{1,5})$/i.exec(value)
  const host = parts?.[1] ?? parts?.[2] ?? ''
  const port = Number(parts?.[3])
  const isSound = parts !== null && port <= 65_535 && (host === 'localhost' || isAddress(host))
  return isSound ? { host, port } : undefined
}
