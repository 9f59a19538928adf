/**
 * Host names to addresses, remembered for a short while. One question per name is under way at a time; answers and
 * refusals are kept in a bounded map. It judges no address: the connector does, each time it dials.
 */
import { lookup as systemLookup } from 'node:dns/promises'
import { createLru, type Clock } from '../base/index.ts'

export interface ResolvedAddress {
  readonly address: string
  readonly family: number
  /** How long the answer holds; the system's resolver does not say. */
  readonly ttlSeconds?: number
}

export type Lookup = (hostname: string) => Promise<readonly ResolvedAddress[]>

export type NameAnswer =
  | { readonly kind: 'addresses'; readonly addresses: readonly string[] }
  | { readonly kind: 'failed'; readonly error: unknown }

export interface NameCache {
  resolve(hostname: string): Promise<NameAnswer>
}

const MAX_NAMES = 10_000
const MAX_ADDRESSES_PER_NAME = 16
const DEFAULT_TTL_SECONDS = 60
const LONGEST_TTL_SECONDS = 300
/** Shorter than any retry waits, so that each attempt is a new question. */
const FAILURE_TTL_SECONDS = 0.5

export function createNameCache(lookup: Lookup | undefined, clock: Clock): NameCache {
  const ask: Lookup = lookup ?? ((hostname) => systemLookup(hostname, { all: true, order: 'verbatim' }))
  const known = createLru<string, { answer: NameAnswer; until: number }>(MAX_NAMES)
  const pending = new Map<string, Promise<NameAnswer>>()

  const askOnce = async (hostname: string): Promise<NameAnswer> => {
    let answer: NameAnswer
    let ttlSeconds = FAILURE_TTL_SECONDS
    try {
      const found = await ask(hostname)
      const addresses = [...new Set(found.slice(0, MAX_ADDRESSES_PER_NAME).map((entry) => entry.address))]
      answer = { kind: 'addresses', addresses }
      if (addresses.length > 0) ttlSeconds = ttlOf(found)
    } catch (error) {
      answer = { kind: 'failed', error }
    }
    pending.delete(hostname)
    known.set(hostname, { answer, until: clock.now() + ttlSeconds * 1000 })
    return answer
  }

  return {
    resolve(hostname) {
      const entry = known.get(hostname)
      if (entry !== undefined && clock.now() < entry.until) return Promise.resolve(entry.answer)
      let question = pending.get(hostname)
      if (question === undefined) {
        question = askOnce(hostname)
        pending.set(hostname, question)
      }
      return question
    },
  }
}

function ttlOf(found: readonly ResolvedAddress[]): number {
  let shortest = LONGEST_TTL_SECONDS
  for (const { ttlSeconds = DEFAULT_TTL_SECONDS } of found) shortest = Math.min(shortest, ttlSeconds)
  return Math.max(shortest, 0)
}
