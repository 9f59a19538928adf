/**
 * Which pages traps are learned from. Where what pages say is read, it is all that the frontier wants a sample of. Where
 * only links are wanted, to read it would be most of the work: there it is read of pages alone whose addresses have parts
 * or a date, as those of most traps have, and only once a host has had more than a few of these.
 */
import { createLru } from '../../base/index.ts'
import type { Settings } from '../../config/index.ts'
import type { HostKey, Task } from '../../model/index.ts'
import { hasParts, hostKey } from '../../url/index.ts'
import { isRevisit } from './revisit.ts'

/** Pages of a host with parts in their addresses that are no sign of a trap. */
const FEW = 8
const HOSTS_KEPT = 10_000

/** Whether a sample is wanted of the page of this task, which is about to be read. */
export type WantsSample = (task: Task) => boolean

export function createSampling({ traps, content }: Pick<Settings, 'traps' | 'content'>): WantsSample {
  const pages = createLru<HostKey, number>(HOSTS_KEPT)
  const isOneOfMany = (task: Task): boolean => {
    if (!hasParts(task.url)) return false
    const host = hostKey(task.url)
    const count = (pages.get(host) ?? 0) + 1
    pages.set(host, Math.min(count, FEW + 1))
    return count > FEW
  }
  return (task) => traps && !isRevisit(task) && task.isUnsampled !== true && (content || isOneOfMany(task))
}
