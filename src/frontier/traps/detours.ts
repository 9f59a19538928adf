/**
 * Relative links that lead through one more folder with each page: `/a/c` has a link to `more/d`, and `/a/more/d` to
 * `/a/more/more/e`, where the server looks at the end of the path alone. That a page says the same without a folder in its
 * path is not enough to know such a site. It may as well be a page of another version of a manual, of which some pages have
 * changed and others have not: those lead to pages of their own version, and to no folder in that.
 */
import type { NormalizedUrl } from '../../model/index.ts'
import { originOf, pathOf, shapeOf } from '../../url/index.ts'
import { hashOf } from './hash.ts'
import type { HasForm } from './memory.ts'

/** Links below the page that are looked at. */
const MOST_BELOW = 32

/** Whether the page links to what lies deeper, and would be a known page without some folders before its end. */
export function leadsDeeper(url: NormalizedUrl, links: readonly NormalizedUrl[], isKnown: HasForm): boolean {
  const origin = originOf(url)
  const path = pathOf(url)
  const folder = url.slice(0, origin.length) + path.slice(0, path.lastIndexOf('/') + 1)
  let below = 0
  for (const link of links) {
    if (link.length <= folder.length || !link.startsWith(folder)) continue
    // What is in the folder of a page is beside it, unless the page is a folder itself.
    const slash = link.indexOf('/', folder.length)
    if (!path.endsWith('/') && (slash === -1 || slash === link.length - 1)) continue
    if (shapeOf(link).detours.some((straight) => isKnown(hashOf(origin + straight)))) return true
    if (++below === MOST_BELOW) return false
  }
  return false
}
