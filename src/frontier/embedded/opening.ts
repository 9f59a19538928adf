/**
 * What the opening of a crawl has to look after: whether the last run ended in order, whether the clock was set back
 * since, and whether hosts wait for places in lines that are no more. All of it is one transaction.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { FrontierOptions } from '../contract.ts'
import type { RunOptions } from '../rules.ts'
import { writeChanges } from './changes.ts'

/** The wall clock has whole milliseconds: what the two clocks say of each other is no better than this. */
export const SKEW_GRAIN_MS = 2
/** A smaller difference of the clocks is not worth touching every row: the hosts of earlier runs wait so much longer. */
const SMALL_SKEW_MS = 1_000

/** Every time that is stored and acted on. 0 stands for none where it occurs. Visits have one offset for all of them. */
const SHIFTED = [
  `UPDATE host SET due = due - :ms, answered_at = answered_at - :ms,
     blocked_until = iif(blocked_until > 0, blocked_until - :ms, 0),
     streak_since = iif(streak_since > 0, streak_since - :ms, 0),
     blocked_at = iif(blocked_at > 0, blocked_at - :ms, 0)`,
  'UPDATE lane SET robots_not_before = robots_not_before - :ms WHERE robots_not_before > 0',
  `UPDATE robots SET summary = json_set(summary, '$.fetchedAt', summary ->> 'fetchedAt' - :ms,
     '$.expiresAt', summary ->> 'expiresAt' - :ms, '$.staleSince', summary ->> 'staleSince' - :ms)`,
  'UPDATE state SET at = at - :ms WHERE id IN (SELECT url FROM waiting)',
  'UPDATE waiting SET due = due - :ms',
  "UPDATE meta SET value = value - :ms WHERE key = 'unclean_at'",
  `INSERT INTO meta VALUES ('visit_offset', -:ms)
     ON CONFLICT DO UPDATE SET value = value + excluded.value`,
]

export function recordOpening(
  db: DatabaseSync,
  opened: { readonly created: boolean; readonly now: number; readonly groups: FrontierOptions['groups'] },
): Omit<RunOptions, 'hostsKept'> {
  const { created, now } = opened
  const meta = (key: string): unknown =>
    (db.prepare('SELECT value FROM meta WHERE key = ?').get(key) as { value: unknown } | undefined)?.value
  const keep = db.prepare('INSERT OR REPLACE INTO meta VALUES (?, ?)')
  const groups = JSON.stringify(opened.groups)
  const opening = ((meta('openings') as number | undefined) ?? 0) + 1

  // Stored times are those of the last run's steady clock; ours begins at the wall clock, which may have been set, or
  // have gone on alone while the machine slept. How far apart the two were when it ended is how far apart ours are.
  const skewMs = ((meta('last_skew') as number | undefined) ?? 0) + ((meta('lag') as number | undefined) ?? 0)
  const shiftMs = Math.abs(skewMs) > SMALL_SKEW_MS ? skewMs : 0
  const lagMs = created ? 0 : Math.max(0, skewMs - shiftMs) + SKEW_GRAIN_MS
  // The clock was set back. As if no time had passed since the last commit, hosts wait what they had left to wait
  // then, and no longer. A clock that was set forward needs nothing: what is due early has waited by that clock.
  const lastNow = ((meta('last_now') as number | undefined) ?? now) + shiftMs
  const setBackMs = lastNow > now + lagMs ? lastNow - now : 0
  // A place in the line of a group may be far off. Other groups, other lines: everyone is looked at anew.
  const isRegrouped = !created && meta('groups') !== groups
  // Times that only the log has would be missed.
  if (shiftMs !== 0 || setBackMs !== 0 || isRegrouped) writeChanges(db)

  const shift = (ms: number): void => {
    for (const sql of SHIFTED) db.prepare(sql).run({ ms })
  }
  db.exec('BEGIN')
  try {
    if (shiftMs !== 0) shift(-shiftMs)
    keep.run('last_skew', 0)
    keep.run('lag', lagMs)
    if (setBackMs !== 0) shift(setBackMs)
    if (isRegrouped) db.prepare('UPDATE host SET due = :now WHERE due > :now').run({ now })
    // Kept for later openings too: an orderly stop right after an unclean one must not cut the wait short.
    if (!created && meta('clean') !== 1) keep.run('unclean_at', now)
    // Until it is closed in order, this run counts as one that may have had requests under way.
    keep.run('clean', 0)
    keep.run('last_now', now)
    keep.run('groups', groups)
    keep.run('openings', opening)
    db.exec('COMMIT')
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
  const uncleanAt = (meta('unclean_at') as number | undefined) ?? null
  return { opening, reopened: created ? null : { at: now, lagMs }, uncleanAt }
}
