/**
 * The folders that seeds span on one site, as a tree of path segments: one walk along a URL's path finds whether
 * it lies in any of them, however many there are.
 */

export interface PrefixTree {
  /** Adds what a seed with this path spans. */
  add(path: string): void
  /** The widest folder that holds the path (`/docs/`, or `/docs` for a page that is a folder), or undefined. */
  find(path: string): string | undefined
}

interface Node {
  /** The page itself and all below it are in. */
  holdsItself: boolean
  /** All below is in, the page without its slash is not. */
  holdsBelow: boolean
  children: Map<string, Node> | undefined
}

const createNode = (): Node => ({ holdsItself: false, holdsBelow: false, children: undefined })

export function createPrefixTree(): PrefixTree {
  const root = createNode()
  return {
    add(path) {
      const folder = folderOf(path)
      let node = root
      for (const segment of segments(folder)) {
        node.children ??= new Map()
        let child = node.children.get(segment)
        if (child === undefined) node.children.set(segment, (child = createNode()))
        node = child
      }
      if (folder.endsWith('/')) node.holdsBelow = true
      else node.holdsItself = true
    },
    find(path) {
      if (root.holdsBelow) return '/'
      let node = root
      for (let at = 1; ;) {
        const slash = path.indexOf('/', at)
        const child = node.children?.get(slash === -1 ? path.slice(at) : path.slice(at, slash))
        if (child === undefined) return undefined
        if (child.holdsItself) return slash === -1 ? path : path.slice(0, slash)
        if (slash === -1) return undefined
        if (child.holdsBelow) return path.slice(0, slash + 1)
        node = child
        at = slash + 1
      }
    },
  }
}

/**
 * The folder that a seed means: `/docs/` and `/docs/index.html` mean `/docs/`; `/docs` means itself and what is
 * below. A last segment is taken for a file when it ends in a dot and something like `html`; `/3.12` is a folder.
 */
function folderOf(path: string): string {
  const slash = path.lastIndexOf('/')
  const last = path.slice(slash + 1)
  return last === '' || /^.+\.[a-z][a-z0-9]{1,9}$/i.test(last) ? path.slice(0, slash + 1) : path
}

/** The segments of a folder, without the empty one behind a final slash. */
function segments(folder: string): string[] {
  const inner = folder.endsWith('/') ? folder.slice(1, -1) : folder.slice(1)
  return folder === '/' ? [] : inner.split('/')
}
