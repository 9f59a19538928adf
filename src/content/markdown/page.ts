/**
 * A page as it is read: its text and the text's UTF-16 units, since a loop over an array is several times as fast as one
 * that asks a string for each unit.
 */
import { createUnitArray } from '../text/code-units.ts'

export interface Page {
  readonly html: string
  /** The first `html.length` elements are the page's, the next one is 0; what lies behind means nothing. */
  readonly units: Uint16Array
}

/** Nearly all pages are shorter, and share one array; a longer one gets its own. */
const SHARED_LENGTH = 512 * 1024

const unitsOf = createUnitArray(new Uint16Array(SHARED_LENGTH + 1))

/** Its units last until the next page is read. */
export function pageOf(html: string): Page {
  return { html, units: unitsOf(html) }
}
