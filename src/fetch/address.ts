/**
 * IP addresses: reading them, and telling the public ones. The table is the IANA registries of special-purpose IPv4
 * and IPv6 addresses (RFC 6890 and its updates); where prefixes nest, the longest one decides. An address that carries
 * another one is as public as the one it carries. What cannot be read is not public. Which addresses a user permits
 * besides is left to the address guard.
 */

export interface Address {
  readonly family: 4 | 6
  readonly value: bigint
  /** It names an interface of this machine (`%eth0`), so it has a meaning here alone. */
  readonly zoned?: true
}

export interface Prefix extends Address {
  readonly bits: number
}

const MAX_ADDRESS_TEXT = 128

const PUBLIC: unique symbol = Symbol('public')

/** Public, or what it is instead, or how many bits from its end the IPv4 address ends that it carries. */
type Reach = typeof PUBLIC | string | { readonly carriesAt: number }

/** Everything in IPv4 is public unless listed; in IPv6 only 2000::/3 is handed out as global unicast (RFC 4291 §2.4). */
const REGISTRY: readonly (readonly [prefix: string, reach: Reach])[] = [
  ['0.0.0.0/0', PUBLIC],
  ['0.0.0.0/8', 'this network'],
  ['10.0.0.0/8', 'a private network'],
  ['100.64.0.0/10', 'shared by the customers of a provider'],
  ['127.0.0.0/8', 'this machine itself'],
  // Public by number, but inside Azure it is the platform's agent, as 169.254.169.254 is elsewhere.
  ['168.63.129.16/32', 'an agent of the cloud platform'],
  ['169.254.0.0/16', 'link-local'],
  ['172.16.0.0/12', 'a private network'],
  ['192.0.0.0/24', 'reserved for protocols'],
  ['192.0.0.9/32', PUBLIC],
  ['192.0.0.10/32', PUBLIC],
  ['192.0.2.0/24', 'for documentation'],
  ['192.88.99.0/24', 'a relay of 6to4, which is given up'],
  ['192.168.0.0/16', 'a private network'],
  ['198.18.0.0/15', 'for benchmarks'],
  ['198.51.100.0/24', 'for documentation'],
  ['203.0.113.0/24', 'for documentation'],
  ['224.0.0.0/4', 'multicast'],
  ['240.0.0.0/4', 'reserved'],
  ['255.255.255.255/32', 'broadcast'],
  ['::/0', 'reserved'],
  ['::/96', 'an IPv4-compatible address, which is given up'],
  ['::/128', 'this machine itself'],
  ['::1/128', 'this machine itself'],
  ['::ffff:0:0/96', { carriesAt: 0 }],
  ['::ffff:0:0:0/96', 'for translation within a network'],
  ['64:ff9b::/96', { carriesAt: 0 }],
  ['64:ff9b:1::/48', 'for translation within a network'],
  ['100::/64', 'for discarding'],
  ['100:0:0:1::/64', 'a dummy'],
  ['2000::/3', PUBLIC],
  ['2001::/23', 'reserved for protocols'],
  ['2001::/32', 'a Teredo tunnel'],
  ['2001:1::1/128', PUBLIC],
  ['2001:1::2/128', PUBLIC],
  ['2001:1::3/128', PUBLIC],
  ['2001:2::/48', 'for benchmarks'],
  ['2001:3::/32', PUBLIC],
  ['2001:4:112::/48', PUBLIC],
  ['2001:20::/28', PUBLIC],
  ['2001:30::/28', PUBLIC],
  ['2001:db8::/32', 'for documentation'],
  ['2002::/16', { carriesAt: 80 }],
  ['3fff::/20', 'for documentation'],
  ['5f00::/16', 'for segment routing'],
  ['fc00::/7', 'a private network'],
  ['fe80::/10', 'link-local'],
  ['fec0::/10', 'site-local'],
  ['ff00::/8', 'multicast'],
]

interface Rule {
  readonly prefix: Prefix
  readonly reach: Reach
}

const TABLE: readonly Rule[] = REGISTRY.map(([text, reach]): Rule => ({
  prefix: parsePrefix(text) as Prefix,
  reach,
})).sort((a, b) => b.prefix.bits - a.prefix.bits)

/** Whether the address is reachable from, and meant for, the whole internet. Brackets are read over. */
export function isPublicAddress(ip: string): boolean {
  const address = parseAddress(ip)
  return address !== undefined && isPublic(address)
}

export function isPublic(address: Address): boolean {
  return specialUse(address) === undefined
}

/** What the address is for, if it is not public: a few words for people. */
export function specialUse(address: Address): string | undefined {
  if (address.zoned === true) return 'bound to an interface of this machine'
  const reach = TABLE.find(({ prefix }) => contains(prefix, address))?.reach ?? 'unknown'
  if (typeof reach === 'string') return reach
  const carried = reach === PUBLIC ? isatapCarried(address) : ipv4In(address.value >> BigInt(reach.carriesAt))
  const use = carried === undefined ? undefined : specialUse(carried)
  return use === undefined ? undefined : `another spelling of an address that is ${use}`
}

function ipv4In(value: bigint): Address {
  return { family: 4, value: value & 0xffff_ffffn }
}

const ISATAP_ID = 0x5efen
/** The bit that says whether the number is unique in the world, which is either way. */
const UNIVERSAL_BIT = 0x0200_0000n

/** RFC 5214 §6.1: an ISATAP router hands on what it gets to the IPv4 address in the interface identifier. */
function isatapCarried({ family, value }: Address): Address | undefined {
  const isIsatap = family === 6 && ((value >> 32n) & 0xffff_ffffn & ~UNIVERSAL_BIT) === ISATAP_ID
  return isIsatap ? ipv4In(value) : undefined
}

export function contains(prefix: Prefix, address: Address): boolean {
  if (prefix.family !== address.family) return false
  const rest = BigInt((address.family === 4 ? 32 : 128) - prefix.bits)
  return address.value >> rest === prefix.value >> rest
}

const MAPPED_PREFIX = 0xffffn

/** The system dials ::ffff:a.b.c.d as a.b.c.d, so both are one address. */
export function unmap(address: Address): Address {
  if (address.family === 4 || address.zoned === true || address.value >> 32n !== MAPPED_PREFIX) return address
  return ipv4In(address.value)
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
  const percent = bare.indexOf('%')
  if (percent !== -1 && !ZONE.test(bare.slice(percent + 1))) return undefined
  const value = parseIpv6(percent === -1 ? bare : bare.slice(0, percent))
  if (value === undefined) return undefined
  return percent === -1 ? { family: 6, value } : { family: 6, value, zoned: true }
}

const ZONE = /^[\w.-]{1,32}$/

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
