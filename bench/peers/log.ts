/** What a crawler asked for, by the log of the server: the same measure for all of them, whatever they say themselves. */
import { isClosed } from './site.ts'

export interface Asked {
  /** Different pages of the reference that were sent. */
  readonly pages: number
  /** Requests for pages of the reference that had been sent already. */
  readonly duplicates: number
  /** Requests for what robots.txt closes. */
  readonly closed: number
  /** Requests for robots.txt itself. */
  readonly robots: number
  /** All other requests. */
  readonly requests: number
}

/** One spelling for each page: crawlers differ in what they escape, and a fragment is nothing to the server. */
export function pageKey(path: string): string {
  const [whole = ''] = path.split('#')
  try {
    return decodeURI(whole)
  } catch {
    return whole
  }
}

export function readLog(log: string, reachable: ReadonlySet<string>): Asked {
  const sent = new Set<string>()
  let [duplicates, closed, robots, requests] = [0, 0, 0, 0]
  for (const line of log.split('\n')) {
    const [, status, path] = line.split(' ')
    if (path === undefined) continue
    if (path === '/robots.txt') {
      robots++
      continue
    }
    requests++
    if (isClosed(path)) closed++
    const key = pageKey(path)
    if (!reachable.has(key) || (status !== '200' && status !== '304')) continue
    if (sent.has(key)) duplicates++
    sent.add(key)
  }
  return { pages: sent.size, duplicates, closed, robots, requests }
}
