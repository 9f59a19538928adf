/**
 * A record as an entry of a stream: its kind, its URL, the record as JSON and, of a page, its Markdown. What a settlement
 * brings for the output is none of the frontier's business otherwise; here it is taken for what it looks like, and what
 * looks like no record makes no entry.
 */
const KINDS: ReadonlySet<string> = new Set(['page', 'skip', 'fail', 'revisit'])

/** Fields and values in turn; undefined for what is no record. */
export function streamEntry(item: unknown): readonly string[] | undefined {
  const { kind, record, markdown } = (item ?? {}) as { kind?: unknown; record?: unknown; markdown?: unknown }
  const { url } = (record ?? {}) as { url?: unknown }
  if (typeof kind !== 'string' || !KINDS.has(kind) || typeof url !== 'string') return undefined
  const entry = ['kind', kind, 'url', url, 'record', JSON.stringify(record)]
  return typeof markdown === 'string' ? [...entry, 'markdown', markdown] : entry
}
