/** The web as it is after what was done at some marks: computed again, so that a process can go on where another was. */
import { LINKS_PER_CALL, type Mark } from './measured.ts'
import { KNOWN_PER_PAGE, NEW_PER_PAGE, type Draw, type Page, type World } from './world.ts'

export const PAGES_PER_CALL = LINKS_PER_CALL / (KNOWN_PER_PAGE + NEW_PER_PAGE)
/** In the order in which they are measured. */
export const DRAWS: readonly Draw[] = ['skewed', 'uniform']

/** New URLs only, up to so many; `each` is given what one call adds. */
export function growTo(world: World, urls: number, each: (pages: readonly Page[]) => void): void {
  while (world.urls < urls) each(world.grow(Math.min(LINKS_PER_CALL, urls - world.urls)))
}

export function replay(world: World, marks: readonly Mark[]): World {
  for (const { urls, links } of marks) {
    growTo(world, urls, () => {})
    for (const draw of DRAWS) for (let left = links; left > 0; left -= LINKS_PER_CALL) world.pages(PAGES_PER_CALL, draw)
  }
  return world
}
