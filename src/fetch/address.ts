/**
 * IP addresses: reading them, and telling the public ones. The table is the IANA registries of special-purpose IPv4
 * and IPv6 addresses (RFC 6890 and its updates); where prefixes nest, the longest one decides. What cannot be read is
 * not public. Which addresses a user permits besides is left to the address guard.
 */

export interface Address {
  readonly family: 4 | 6
  readonly value: bigint
}

export interface Prefix extends Address {
  readonly bits: number
}

const MAX_ADDRESS_TEXT = 128

/** `embedded` addresses wrap an IPv4 address, and are as public as that. */
type Reach = 'public' | 'private' | { readonly embeddedAt: number }

/** Everything in IPv4 is public unless listed; in IPv6 only 2000::/3 is handed out as global unicast (RFC 4291 §2.4). */
const REGISTRY: readonly (readonly [prefix: string, reach: Reach])[] = [
  ['0.0.0.0/0', 'public'],
  ['0.0.0.0/8', 'private'],
  ['10.0.0.0/8', 'private'],
  ['100.64.0.0/10', 'private'],
  ['127.0.0.0/8', 'private'],
  ['169.254.0.0/16', 'private'],
  ['172.16.0.0/12', 'private'],
  ['192.0.0.0/24', 'private'],
  ['192.0.0.9/32', 'public'],
  ['192.0.0.10/32', 'public'],
  ['192.0.2.0/24', 'private'],
  ['192.88.99.0/24', 'private'],
  ['192.168.0.0/16', 'private'],
  ['198.18.0.0/15', 'private'],
  ['198.51.100.0/24', 'private'],
  ['203.0.113.0/24', 'private'],
  ['224.0.0.0/4', 'private'],
  ['240.0.0.0/4', 'private'],
  ['::/0', 'private'],
  ['::ffff:0:0/96', { embeddedAt: 0 }],
  ['64:ff9b::/96', { embeddedAt: 0 }],
  ['2000::/3', 'public'],
  ['2001::/23', 'private'],
  ['2001:1::1/128', 'public'],
  ['2001:1::2/128', 'public'],
  ['2001:1::3/128', 'public'],
  ['2001:3::/32', 'public'],
  ['2001:4:112::/48', 'public'],
  ['2001:20::/28', 'public'],
  ['2001:30::/28', 'public'],
  ['2001:db8::/32', 'private'],
  ['2002::/16', { embeddedAt: 80 }],
  ['3fff::/20', 'private'],
]

const TABLE: readonly { readonly prefix: Prefix; readonly reach: Reach }[] = REGISTRY.map(([text, reach]) => ({
  prefix: parsePrefix(text) as Prefix,
  reach,
})).sort((a, b) => b.prefix.bits - a.prefix.bits)

/** Whether the address is reachable from, and meant for, the whole internet. Brackets and a zone are read over. */
export function isPublicAddress(ip: string): boolean {
  const address = parseAddress(ip)
  return address !== undefined && isPublic(address)
}

export function isPublic(address: Address): boolean {
  const rule = TABLE.find((entry) => contains(entry.prefix, address))
  if (rule === undefined) return false
  if (typeof rule.reach === 'string') return rule.reach === 'public'
  return isPublic({ family: 4, value: (address.value >> BigInt(rule.reach.embeddedAt)) & 0xffff_ffffn })
}

export function contains(prefix: Prefix, address: Address): boolean {
  if (prefix.family !== address.family) return false
  const rest = BigInt((address.family === 4 ? 32 : 128) - prefix.bits)
  return address.value >> rest === prefix.value >> rest
}

const MAPPED_PREFIX = 0xffffn

/** The system dials ::ffff:a.b.c.d as a.b.c.d, so both are one address. */
export function unmap(address: Address): Address {
  if (address.family === 4 || address.value >> 32n !== MAPPED_PREFIX) return address
  return { family: 4, value: address.value & 0xffff_ffffn }
}

/** One spelling for one address, whatever notation it came in; what cannot be read stays as it is. */
export function canonicalAddress(text: string): string {
  // The usual case, and the only spelling there is: dotted decimal.
  if (!text.includes(':')) return text
  const parsed = parseAddress(text)
  if (parsed === undefined) return text
  const { family, value } = unmap(parsed)
  const groups: string[] = []
  const [count, bits] = family === 4 ? [4, 8n] : [8, 16n]
  for (let index = 0; index < count; index++) {
    const group = (value >> (BigInt(count - 1 - index) * bits)) & ((1n << bits) - 1n)
    groups.push(group.toString(family === 4 ? 10 : 16))
  }
  return family === 4 ? groups.join('.') : new URL(`http://[${groups.join(':')}]/`).hostname.slice(1, -1)
}

/** `ADDRESS/BITS`, or a single address. */
export function parsePrefix(text: string): Prefix | undefined {
  const slash = text.indexOf('/')
  const address = parseAddress(slash === -1 ? text : text.slice(0, slash))
  if (address === undefined) return undefined
  const width = address.family === 4 ? 32 : 128
  if (slash === -1) return { ...address, bits: width }
  const digits = text.slice(slash + 1)
  if (!/^\d{1,3}$/.test(digits) || Number(digits) > width) return undefined
  return { ...address, bits: Number(digits) }
}

/**
 * Dotted decimal for IPv4 (no octal, hex or short forms: a reader that takes them for something else could be led
 * astray), any of the notations of RFC 4291 §2.2 for IPv6, with or without brackets and a zone.
 */
export function parseAddress(text: string): Address | undefined {
  if (text.length > MAX_ADDRESS_TEXT) return undefined
  if (!text.includes(':')) {
    const value = parseIpv4(text)
    return value === undefined ? undefined : { family: 4, value }
  }
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text
  const zone = bare.indexOf('%')
  const value = parseIpv6(zone === -1 ? bare : bare.slice(0, zone))
  return value === undefined ? undefined : { family: 6, value }
}

function parseIpv4(text: string): bigint | undefined {
  const parts = text.split('.')
  if (parts.length !== 4) return undefined
  let value = 0n
  for (const part of parts) {
    if (!/^(?:0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255) return undefined
    value = (value << 8n) | BigInt(part)
  }
  return value
}

function parseIpv6(text: string): bigint | undefined {
  const gap = text.indexOf('::')
  const head = groupsOf(gap === -1 ? text : text.slice(0, gap))
  const tail = gap === -1 ? [] : groupsOf(text.slice(gap + 2))
  if (head === undefined || tail === undefined) return undefined
  const missing = 8 - head.length - tail.length
  // `::` stands for at least one group; without it all eight must be there.
  if (gap === -1 ? missing !== 0 : missing < 1) return undefined
  let value = 0n
  for (const group of head) value = (value << 16n) | BigInt(group)
  value <<= BigInt(16 * missing)
  for (const group of tail) value = (value << 16n) | BigInt(group)
  return value
}

/** 16-bit groups; the last may be dotted decimal and then counts for two. */
function groupsOf(text: string): number[] | undefined {
  if (text === '') return []
  const groups: number[] = []
  const parts = text.split(':')
  for (const [index, part] of parts.entries()) {
    if (index === parts.length - 1 && part.includes('.')) {
      const low = parseIpv4(part)
      if (low === undefined) return undefined
      groups.push(Number(low >> 16n), Number(low & 0xffffn))
    } else if (/^[0-9a-f]{1,4}$/i.test(part)) {
      groups.push(Number.parseInt(part, 16))
    } else {
      return undefined
    }
  }
  return groups
}
