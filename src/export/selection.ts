/**
 * Which pages an export has, and why the others are left out. Every page that a crawl has saved is either exported or
 * counted under one of the reasons.
 */
import type { PageRecord } from '../model/index.ts'
import { compilePattern, normalizeUrl } from '../url/index.ts'
import { forbids, type Use } from './permitted-use.ts'

export type LeftOut =
  /** Outside of the patterns that include, or named by one that excludes. */
  | 'pattern'
  /** Its site forbids the use. */
  | 'forbidden'
  /** Its host has it no more. */
  | 'gone'
  /** There is no text of it. */
  | 'textless'
  /** It repeats another page of the export. */
  | 'duplicate'
  /** The archive has no answer for it. */
  | 'unarchived'

export interface Selection {
  /** Patterns as in the scope of a crawl; none: every page. */
  readonly include: readonly string[]
  readonly exclude: readonly string[]
  /** Only pages whose site does not forbid this use. */
  readonly permitted?: Use
  /** Pages without Markdown, and pages that are gone, are left out. */
  readonly textOnly: boolean
  /** Pages that repeat another one of the export are left out. */
  readonly dropDuplicates: boolean
}

/** What can be said of a page by its own record; whether it repeats another one is decided when all are known. */
export function createSelector(selection: Selection): (record: PageRecord) => LeftOut | undefined {
  const include = selection.include.map(compilePattern)
  const exclude = selection.exclude.map(compilePattern)
  return (record) => {
    const url = normalizeUrl(record.url)
    if (url === undefined) return 'pattern'
    if (include.length > 0 && !include.some((pattern) => pattern.matches(url))) return 'pattern'
    if (exclude.some((pattern) => pattern.matches(url))) return 'pattern'
    if (selection.permitted !== undefined && forbids(record, selection.permitted)) return 'forbidden'
    return selection.textOnly && record.markdownPath === undefined ? 'textless' : undefined
  }
}
