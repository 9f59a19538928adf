/** Records of robots.txt files: how each is named, how long it is in force, and when the last good one stays so. */
import { createHash } from 'node:crypto'
import type { RobotsRecord } from '../../model/index.ts'

/** A file that could not be had is asked for again after this, or sooner if files are not used for so long. */
const RETRY_MS = 3_600_000
/** RFC 9309 §2.3.1.4: how long the last good copy is used while a newer one cannot be had. */
const LAST_GOOD_MS = 30 * 86_400_000
const VERSION_DIGITS = 8
/** Stands between what was had and why nothing newer was. */
const KEPT = '; kept, since a newer one could not be had: '

type Said = Pick<RobotsRecord, 'origin' | 'state' | 'status' | 'detail'> &
  Partial<Pick<RobotsRecord, 'refusal' | 'body' | 'crawlDelayMs'>>

/** A record of what was found out just now. `maxAgeMs` is how long it may be used. */
export function recordOf(said: Said, now: number, maxAgeMs: number): RobotsRecord {
  const { refusal = null, body = '' } = said
  const lastsMs = said.state === 'disallow-all' ? Math.min(RETRY_MS, maxAgeMs) : maxAgeMs
  return {
    crawlDelayMs: 0,
    ...said,
    refusal,
    body,
    fetchedAt: now,
    version: versionOf(said.state, refusal, body),
    staleSince: null,
    expiresAt: now + lastsMs,
  }
}

/** The same record for a while longer, since no newer one could be had; undefined when it is none that can stand in. */
export function lastGood(
  record: RobotsRecord | undefined,
  why: string,
  now: number,
  maxAgeMs: number,
): RobotsRecord | undefined {
  // A file that was never asked for is no copy of anything.
  if (record === undefined || record.status === null || record.refusal === 'robots-unreachable') return undefined
  const staleSince = record.staleSince ?? now
  if (now - staleSince >= LAST_GOOD_MS) return undefined
  const [had = ''] = record.detail.split(KEPT)
  return { ...record, staleSince, detail: `${had}${KEPT}${why}`, expiresAt: now + Math.min(RETRY_MS, maxAgeMs) }
}

function versionOf(state: string, refusal: string | null, body: string): string {
  const digest = createHash('sha256').update(JSON.stringify([state, refusal, body]))
  return digest.digest('hex').slice(0, VERSION_DIGITS)
}
