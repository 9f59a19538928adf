/**
 * The place of a page: what lies in the same outermost folder, or has the same path with another query. What lies below
 * the page is told apart: a list of a folder leads to what is in the folder.
 */
export interface Place {
  /** What URLs of the place begin with. */
  readonly prefix: string
  /** What those begin with that lie below the page; empty where none can. */
  readonly below: string
  /** The place is the root, where no URL has another slash. */
  readonly isRoot: boolean
}

export function placeOf(url: string): Place {
  const query = url.indexOf('?')
  if (query !== -1) return { prefix: url.slice(0, query + 1), below: '', isRoot: false }
  const root = url.indexOf('/', url.indexOf('://') + 3)
  const folder = url.indexOf('/', root + 1)
  return {
    prefix: url.slice(0, (folder === -1 ? root : folder) + 1),
    below: url.endsWith('/') ? url : `${url}/`,
    isRoot: folder === -1,
  }
}

/** Where the URL that stands in the text between these places leads: elsewhere, to the place, or below the page in it. */
export function leadsTo({ prefix, below, isRoot }: Place, text: string, start: number, end: number): 0 | 1 | 2 {
  if (!text.startsWith(prefix, start)) return 0
  if (isRoot) return text.lastIndexOf('/', end - 1) < start + prefix.length ? 1 : 0
  return below !== '' && text.startsWith(below, start) ? 2 : 1
}
