/**
 * How large a plan may be. A larger crawl is planned with fewer pages on every host and the same hosts, slots and
 * paces: what bounds it stays the same, and all times grow with the pages.
 */

/** Pages of a plan that is not shrunk. */
const MOST_PAGES = 20_000
/** What every host costs besides its pages, in requests: robots.txt and the usual sitemap. */
const REQUESTS_PER_HOST = 2
/** A host keeps so many pages on the average, or what it costs besides would weigh too much. */
const LEAST_PAGES_PER_HOST = 20

/** For how many pages of the crawl the plan has one; 1 or more, whole. */
export function shrinkOf(pages: number, hosts: number): number {
  const wanted = Math.ceil(pages / MOST_PAGES)
  const permitted = Math.floor(pages / Math.max(1, hosts) / LEAST_PAGES_PER_HOST)
  return Math.max(1, Math.min(wanted, permitted))
}

/** By how much the times of a plan are multiplied: as the requests are, of which not all were left out. */
export function stretchOf(pages: number, hosts: number, shrink: number): number {
  const besides = REQUESTS_PER_HOST * hosts
  return shrink === 1 ? 1 : (pages + besides) / (pages / shrink + besides)
}
