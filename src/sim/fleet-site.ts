/**
 * The hosts of a simulated fleet, all alike and as plain as can be: host 7 is `h7.test`, nothing is forbidden on it, and
 * each of its pages names the next one. So a number is all that has to be known of a host or a page.
 */
import type { Settlement } from '../frontier/index.ts'
import { UNKNOWN_HEALTH, type FoundUrl, type NormalizedUrl, type RobotsRecord, type Task } from '../model/index.ts'

const ROBOTS_MS = 86_400_000

export const hostOf = (key: string): number => Number(key.slice(1, -5))

export const urlOf = (host: number, page: number): NormalizedUrl => `https://h${host}.test/${page}` as NormalizedUrl

/** The first pages of so many hosts, from one on. */
export function seedsOf(first: number, hosts: number): FoundUrl[] {
  return Array.from({ length: hosts }, (_, index) => ({
    url: urlOf(first + index, 0),
    kind: 'page',
    depth: 0,
    via: 'seed',
  }))
}

function foundOn(task: Task, pagesPerHost: number): FoundUrl[] {
  const page = Number(task.url.slice(task.url.lastIndexOf('/') + 1)) + 1
  if (page >= pagesPerHost) return []
  return [{ url: urlOf(hostOf(task.host), page), kind: 'page', depth: task.depth + 1, via: 'link' }]
}

const robotsOf = (task: Task, now: number): RobotsRecord => ({
  origin: task.origin,
  state: 'allow-all',
  refusal: null,
  status: 404,
  detail: 'HTTP 404',
  fetchedAt: now,
  version: '0',
  staleSince: null,
  expiresAt: now + ROBOTS_MS,
  body: '',
  crawlDelayMs: 0,
})

/** What a task comes to whose host answers well. `now`: the time of the store. */
export function answerOf(
  task: Task,
  { at, now, pagesPerHost }: { readonly at: number; readonly now: number; readonly pagesPerHost: number },
): Omit<Settlement, 'lease' | 'task' | 'answeredAt'> {
  return {
    outcome: { kind: 'done' },
    host: { health: { ...UNKNOWN_HEALTH, streak: 1, streakSince: at } },
    ...(task.kind === 'robots' ? { robots: robotsOf(task, now) } : { found: foundOn(task, pagesPerHost) }),
  }
}
