/**
 * What the hosts of a simulated partition have seen, kept apart from the frontier and checked without tolerance: pace,
 * one request and one lease at a time, every page settled once and none lost. A few bytes for each host.
 */
import type { FrontierStats } from '../frontier/index.ts'
import { Violation } from './violation.ts'

export interface FleetBooks {
  leased(host: number, fence: number, expiresAt: number, now: number): void
  extended(host: number, expiresAt: number): void
  /** A request goes out: how long after the host was due. */
  started(host: number, now: number): number
  answered(host: number, now: number): void
  /** A settlement was accepted. */
  settled(host: number, fence: number, isPage: boolean): void
  checkStats(stats: FrontierStats): void
  /** All is done: every host has had each of its pages once. */
  checkEnd(): void
  readonly pages: number
}

export interface FleetBooksOptions {
  readonly hosts: number
  readonly pagesPerHost: number
  readonly delayMs: number
  readonly startAt: number
}

const nameOf = (host: number): string => `host ${host}`

export function createFleetBooks({ hosts, pagesPerHost, delayMs, startAt }: FleetBooksOptions): FleetBooks {
  const answeredAt = new Float64Array(hosts).fill(-Infinity)
  const asking = new Uint8Array(hosts)
  const settledPages = new Uint32Array(hosts)
  /** The lease that is open on each host, and until when; 0 for none. */
  const fences = new Float64Array(hosts)
  const leasedUntil = new Float64Array(hosts)
  let pages = 0
  return {
    leased(host, fence, expiresAt, now) {
      if ((fences[host] ?? 0) !== 0 && (leasedUntil[host] ?? 0) > now)
        throw new Violation('lease', nameOf(host), `${fence} while ${fences[host]} is open`)
      fences[host] = fence
      leasedUntil[host] = expiresAt
    },
    extended: (host, expiresAt) => void (leasedUntil[host] = expiresAt),
    started(host, now) {
      if (asking[host] === 1) throw new Violation('in-flight', nameOf(host), 'asked while it is being asked')
      const last = answeredAt[host] ?? -Infinity
      const dueAt = last === -Infinity ? startAt : last + delayMs
      if (now < dueAt) throw new Violation('pace', nameOf(host), `asked ${now - last} ms after its answer`)
      asking[host] = 1
      return now - dueAt
    },
    answered(host, now) {
      asking[host] = 0
      answeredAt[host] = now
    },
    settled(host, fence, isPage) {
      if (fences[host] === fence) fences[host] = 0
      if (!isPage) return
      pages += 1
      settledPages[host] = (settledPages[host] ?? 0) + 1
      if ((settledPages[host] ?? 0) > pagesPerHost)
        throw new Violation('settled', nameOf(host), 'more pages than it has')
    },
    checkStats(stats) {
      if (stats.discovered !== stats.queued + stats.leased + stats.done)
        throw new Violation('conservation', 'the frontier', JSON.stringify({ ...stats, hosts: undefined }))
      if (stats.done !== pages)
        throw new Violation('conservation', 'the frontier', `${stats.done} done, ${pages} settled`)
    },
    checkEnd() {
      for (let host = 0; host < hosts; host++) {
        if (settledPages[host] !== pagesPerHost)
          throw new Violation('settled', nameOf(host), `${settledPages[host]} pages of ${pagesPerHost}`)
      }
    },
    get pages() {
      return pages
    },
  }
}
