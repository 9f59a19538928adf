/**
 * Decides which addresses may be dialled: the public ones, and those that the user names. It is asked about the very
 * address that is then dialled, so a name that changes its answer in between gains nothing (DNS rebinding).
 */
import { TiptoeError } from '../model/index.ts'
import { contains, isPublic, parseAddress, parsePrefix, specialUse, unmap, type Prefix } from './address.ts'

export interface AddressGuard {
  permits(ip: string): boolean
  /** What the address is, and that it was not allowed: how a sentence about one that is not permitted goes on. */
  refusal(ip: string): string
}

/** `allow`: single addresses or `ADDRESS/BITS`. */
export function createAddressGuard(allow: readonly string[]): AddressGuard {
  const prefixes = allow.map(readPrefix)
  return {
    permits(ip) {
      const parsed = parseAddress(ip)
      if (parsed === undefined) return false
      const address = unmap(parsed)
      return isPublic(address) || prefixes.some((prefix) => contains(prefix, address))
    },
    refusal(ip) {
      const address = parseAddress(ip)
      const use = address === undefined ? 'not an address that can be read' : specialUse(unmap(address))
      return `is not public (${use ?? 'public'}) and was not allowed`
    },
  }
}

function readPrefix(text: string): Prefix {
  const prefix = parsePrefix(text.trim())
  if (prefix === undefined) {
    throw new TiptoeError('usage', `«${text}» is not an address or a range of addresses`, {
      hint: 'write it as 192.168.0.0/16, 10.1.2.3 or fd00::/8',
    })
  }
  if (prefix.family === 4 || prefix.bits < 96) return prefix
  const address = unmap(prefix)
  return address.family === 4 ? { ...address, bits: prefix.bits - 96 } : prefix
}
