/**
 * JSON Feed (jsonfeed.org, 1.0 and 1.1). The text is kept until its end, as JSON cannot be read by pieces, so it has a
 * maximum; a longer or a broken one names nothing.
 */
import type { NormalizedUrl } from '../../model/index.ts'
import { isW3cDatetime } from '../dates/w3c-datetime.ts'
import { titleOf, type Entry, type EntryHandler, type PieceReader, type Resolve } from './entry.ts'

const MAX_JSON_CHARS = 8 * 1024 * 1024

type Fields = Readonly<Record<string, unknown>>

export function createJsonFeedReader(resolve: Resolve, handler: EntryHandler): PieceReader {
  let json = ''
  let isOver = false
  return {
    write(piece) {
      if (isOver) return
      json += piece
      if (json.length <= MAX_JSON_CHARS) return
      isOver = true
      json = ''
    },
    end() {
      if (!isOver) readFeed(json, resolve, handler)
      isOver = true
    },
    isOver: () => isOver,
  }
}

function readFeed(json: string, resolve: Resolve, handler: EntryHandler): void {
  const feed = fieldsOf(parsed(json))
  if (!/^https?:\/\/(?:www\.)?jsonfeed\.org\/version\//.test(textOf(feed, 'version') ?? '')) return
  handler.feed?.()
  const title = titleOf(textOf(feed, 'title') ?? '')
  if (title !== undefined) handler.title?.(title)
  const home = urlOf(feed, 'home_page_url', resolve)
  if (home !== undefined) handler.link?.(home)
  for (const item of Array.isArray(feed['items']) ? feed['items'] : []) readItem(fieldsOf(item), resolve, handler)
  const next = urlOf(feed, 'next_url', resolve)
  if (next !== undefined) handler.entry({ url: next, kind: 'sitemap' })
}

function readItem(item: Fields, resolve: Resolve, handler: EntryHandler): void {
  const id = textOf(item, 'id') ?? ''
  const url =
    urlOf(item, 'url', resolve) ??
    (/^https?:\/\//i.test(id) ? resolve(id) : undefined) ??
    urlOf(item, 'external_url', resolve)
  if (url === undefined) return
  const title = titleOf(textOf(item, 'title') ?? '')
  const modified = [textOf(item, 'date_modified'), textOf(item, 'date_published')].find(
    (date) => date !== undefined && isW3cDatetime(date),
  )
  const entry: Entry = {
    url,
    kind: 'page',
    ...(modified === undefined ? {} : { modified }),
    ...(title === undefined ? {} : { title }),
  }
  handler.entry(entry)
  const html = textOf(item, 'content_html')
  if (html !== undefined) handler.html?.(html, url)
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}

function textOf(fields: Fields, name: string): string | undefined {
  const value = fields[name]
  return typeof value === 'string' ? value : undefined
}

function urlOf(fields: Fields, name: string, resolve: Resolve): NormalizedUrl | undefined {
  const reference = textOf(fields, name)
  return reference === undefined || reference.trim() === '' ? undefined : resolve(reference.trim())
}
