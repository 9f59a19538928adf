/** Which hosts of a plan share the pace of a domain or an address, in words; nothing where no such pace is set. */
import { formatDuration } from '../../base/index.ts'
import type { Settings } from '../../config/index.ts'
import type { HostKey } from '../../model/index.ts'
import type { PlannedWeb } from '../../sim/index.ts'
import { registrableDomain } from '../../url/index.ts'
import { countOf, formatCount } from '../count-words.ts'

export function sharedPaceWords(web: PlannedWeb, settings: Settings): string[] {
  const { perDomainDelayMs, perIpDelayMs } = settings
  if (perDomainDelayMs === 0 && perIpDelayMs === 0) return []
  const domains = new Set<string>()
  const addresses = new Set<string>()
  let hosts = 0
  let placed = 0
  for (const { host } of web.hosts()) {
    hosts += 1
    domains.add(registrableDomain(host as HostKey))
    const address = web.addressOf(host)
    if (address === undefined) continue
    placed += 1
    addresses.add(address)
  }
  const words: string[] = []
  if (perDomainDelayMs > 0) {
    words.push(
      `hosts of one registrable domain share its delay of ${formatDuration(perDomainDelayMs)}: ${countOf(hosts, 'host')} of ${countOf(domains.size, 'domain')}, by their names`,
    )
  }
  if (perIpDelayMs > 0) {
    const where =
      placed === 0
        ? 'each host is taken to be at one of its own'
        : `${countOf(placed, 'host')} at ${formatCount(addresses.size)} known${placed < hosts ? ', each other one taken to be at one of its own' : ''}`
    words.push(`hosts at one address share its delay of ${formatDuration(perIpDelayMs)}: ${where}`)
  }
  return words
}
