/** The order in which a person would read the pages of a site: a folder, then what is in it, and chapter 2 before 10. */

/** Digits of numbers that are compared by value; longer ones are rather names. */
const NUMBER_DIGITS = 9

export interface SiteOrder {
  readonly origin: string
  /** Text that sorts as the pages should. */
  readonly place: string
}

/** Of a normalised URL or its key. */
export function siteOrder(url: string): SiteOrder {
  const { origin } = new URL(url)
  const rest = url.slice(origin.length).replace(INDEX_FILE, '/')
  // A slash sorts before everything else, so a folder's pages stay together: /docs, /docs/a, /docs-old.
  const place = rest
    .replaceAll('/', '\u0001')
    .replaceAll(/\d+/g, (digits) => (digits.length > NUMBER_DIGITS ? digits : digits.padStart(NUMBER_DIGITS, '0')))
  // Two spellings of a number differ in the text itself, which decides last.
  return { origin, place: `${origin.replace(/^https?:\/\//, '')}${place}\u0000${url}` }
}

/** The page of a folder by its usual names. */
const INDEX_FILE = /\/(?:index|default)\.(?:x?html?|php|aspx?)$/i

/** The folder of which a page is the page: `https://a.test/docs/` for `/docs`, `/docs/` and `/docs/index.html` there. */
export function folderOf(url: string): string {
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname.replace(INDEX_FILE, '/').replace(/\/?$/, '/')}`
}
