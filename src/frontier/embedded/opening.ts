/**
 * What the opening of a crawl has to look after: whether the last run ended in order, whether the clock was set back
 * since, and whether hosts wait for places in lines that are no more. All of it is one transaction.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { FrontierOptions } from '../contract.ts'
import type { RunOptions } from '../rules.ts'

/** Every time that is stored and acted on. 0 stands for none where it occurs. */
const SHIFTED = [
  `UPDATE host SET due = due - :ms, answered_at = answered_at - :ms,
     blocked_until = iif(blocked_until > 0, blocked_until - :ms, 0),
     streak_since = iif(streak_since > 0, streak_since - :ms, 0),
     blocked_at = iif(blocked_at > 0, blocked_at - :ms, 0)`,
  'UPDATE lane SET robots_not_before = robots_not_before - :ms WHERE robots_not_before > 0',
  `UPDATE robots SET summary = json_set(summary, '$.fetchedAt', summary ->> 'fetchedAt' - :ms,
     '$.expiresAt', summary ->> 'expiresAt' - :ms, '$.staleSince', summary ->> 'staleSince' - :ms)`,
  'UPDATE url SET at = at - :ms WHERE id IN (SELECT url FROM waiting)',
  'UPDATE waiting SET due = due - :ms',
  "UPDATE meta SET value = value - :ms WHERE key = 'unclean_at'",
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

  db.exec('BEGIN')
  try {
    // The clock was set back. As if no time had passed since the last commit, hosts wait what they had left to wait
    // then, and no longer. A clock that was set forward needs nothing: what is due early has waited by that clock.
    const lastNow = (meta('last_now') as number | undefined) ?? now
    if (lastNow > now) for (const sql of SHIFTED) db.prepare(sql).run({ ms: lastNow - now })
    // A place in the line of a group may be far off. Other groups, other lines: everyone is looked at anew.
    if (!created && meta('groups') !== groups) db.prepare('UPDATE host SET due = :now WHERE due > :now').run({ now })
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
  return { opening, reopenedAt: created ? null : now, uncleanAt }
}
