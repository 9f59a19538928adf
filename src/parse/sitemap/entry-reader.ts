/**
 * One reader for everything that lists URLs: sitemaps, sitemap indexes, feeds and plain lists. Text goes in by pieces,
 * entries come out as they are read. The first character that is not white space tells XML from JSON from a list.
 */
import { createResolver, hostKey, normalizeUrl } from '../../url/index.ts'
import type { EntryHandler, PieceReader, Resolve } from './entry.ts'
import { createJsonFeedReader } from './json-feed.ts'
import { createListReader } from './url-list.ts'
import { createXmlReader } from './xml-entries.ts'

export function createEntryReader(url: string, handler: EntryHandler): PieceReader {
  let reader: PieceReader | undefined
  let start = ''
  return {
    write(piece) {
      if (reader !== undefined) return reader.write(piece)
      start = (start + piece).trimStart()
      if (start === '') return
      const resolve = resolverOf(url)
      reader =
        start[0] === '<'
          ? createXmlReader(resolve, handler)
          : start[0] === '{'
            ? createJsonFeedReader(resolve, handler)
            : createListReader(handler)
      reader.write(start)
      start = ''
    },
    end: () => reader?.end(),
    isOver: () => reader?.isOver() ?? false,
  }
}

/**
 * The protocol wants absolute URLs; relative ones are met, and resolved against the file. So is the file's own host
 * without a scheme before it, which is no path.
 */
function resolverOf(url: string): Resolve {
  const own = normalizeUrl(url)
  if (own === undefined) return (reference, base) => normalizeUrl(reference, base)
  const host = withoutWww(hostKey(own))
  let from: string = own
  let resolve = createResolver(own)
  return (reference, base = own) => {
    if (base !== from) {
      from = base
      resolve = createResolver(base)
    }
    const start = withoutWww(reference.slice(0, host.length + 5).toLowerCase())
    const isHost = start.startsWith(host) && /^(?:$|[/?#:])/.test(start.slice(host.length))
    return resolve(isHost ? `//${reference}` : reference)
  }
}

function withoutWww(host: string): string {
  return host.startsWith('www.') ? host.slice(4) : host
}
