/**
 * What a page may be used for, by what its site says. A use is forbidden where the Content-Signal of robots.txt says no
 * to it, and where another directive means the same: `noindex` forbids search, a reservation of text and data mining
 * forbids to feed a model or to train one. What is not said is not forbidden: whether that is a permission is for the
 * user to judge.
 */
import type { PageRecord } from '../model/index.ts'

export const USES = ['search', 'ai-input', 'ai-train'] as const
export type Use = (typeof USES)[number]

export function forbids(record: PageRecord, use: Use): boolean {
  if (record.contentSignals?.[use] === false) return true
  return use === 'search' ? !record.robots.index : record.tdm?.reserved === true
}
