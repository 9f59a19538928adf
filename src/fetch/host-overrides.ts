/**
 * `HOST:PORT:ADDR[,ADDR…]`, as curl's `--resolve` has it: for this host and port dial these addresses and ask no name
 * server. `*` stands for any host; an exact host wins over it. The address guard judges these addresses too: naming
 * one is not permission to dial a private one.
 */
import { TiptoeError } from '../model/index.ts'
import { parseAddress } from './address.ts'

export interface HostOverrides {
  /** The host as in a URL, without brackets. */
  find(hostname: string, port: number): readonly string[] | undefined
}

const MAX_ADDRESSES_EACH = 16

export function createHostOverrides(entries: readonly string[]): HostOverrides {
  const table = new Map<string, readonly string[]>()
  for (const entry of entries) {
    const { host, port, addresses } = readEntry(entry)
    table.set(keyOf(host, port), addresses)
  }
  return {
    find: (hostname, port) =>
      table.size === 0 ? undefined : (table.get(keyOf(hostname, port)) ?? table.get(keyOf('*', port))),
  }
}

const keyOf = (host: string, port: number): string => `${port} ${host.toLowerCase()}`

function readEntry(entry: string): { host: string; port: number; addresses: string[] } {
  const hostEnd = entry.startsWith('[') ? entry.indexOf(']') + 1 : entry.indexOf(':')
  const portEnd = entry.indexOf(':', hostEnd + 1)
  const host = entry.slice(0, hostEnd).replace(/^\[|\]$/g, '')
  const port = entry.slice(hostEnd + 1, portEnd)
  const addresses = entry
    .slice(portEnd + 1)
    .split(',')
    .map((address) => address.trim().replace(/^\[|\]$/g, ''))
  const good =
    host !== '' &&
    entry[hostEnd] === ':' &&
    portEnd > hostEnd &&
    /^\d{1,5}$/.test(port) &&
    Number(port) >= 1 &&
    Number(port) <= 65_535 &&
    addresses.length <= MAX_ADDRESSES_EACH &&
    addresses.every((address) => parseAddress(address) !== undefined)
  if (!good) {
    throw new TiptoeError('usage', `«${entry}» does not say which address a host has`, {
      hint: 'write it as HOST:PORT:ADDRESS, for example docs.example.com:443:192.0.2.7 or *:80:[2001:db8::7]',
    })
  }
  return { host, port: Number(port), addresses }
}
