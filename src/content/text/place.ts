/**
 * The place of a page: what lies beside it in its outermost folder, or has the same path with another query. What lies
 * below the page is not beside it: a list of a folder leads to what is in the folder.
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

/** Whether the URL that stands in the text between these places is one of the place. */
export function isInPlace({ prefix, below, isRoot }: Place, text: string, start: number, end: number): boolean {
  if (!text.startsWith(prefix, start)) return false
  if (isRoot) return text.lastIndexOf('/', end - 1) < start + prefix.length
  return below === '' || !text.startsWith(below, start)
}
