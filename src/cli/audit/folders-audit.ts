/**
 * The records of several folders, without the store that they come from: that each is whole, that no URL has two of one
 * visit or of its end, and that no host was asked too fast by all workers together. What should be there and is not only
 * the store can tell.
 */
import type { Settings } from '../../config/index.ts'
import { readCrawlFolder } from '../../engine/index.ts'
import { openExportSource } from '../../export/index.ts'
import { registryOf } from '../store-operand.ts'
import { judgeBook } from './book-pace.ts'
import { createFindings, type Violation } from './findings.ts'
import type { PaceCoverage } from './pace-audit.ts'
import { readRecords } from './record-book.ts'
import type { RecordCounts } from './records-audit.ts'

export interface FoldersAudit {
  readonly folders: readonly string[]
  readonly ok: boolean
  readonly records: RecordCounts
  /** URLs that have records. */
  readonly urls: number
  /** Null where no folder has a configuration to go by. */
  readonly pace: PaceCoverage | null
  readonly warnings: readonly string[]
  readonly violations: readonly Violation[]
}

export async function auditFolders(paths: readonly string[], version: string): Promise<FoldersAudit> {
  const { folders, warnings } = await openExportSource(paths, { version })
  const findings = createFindings()
  const book = readRecords(folders, findings)
  try {
    const settings = firstSettings(
      folders.map(({ path }) => path),
      version,
    )
    let urls = 0
    for (const _url of book.urls()) urls += 1
    const pace =
      settings === undefined
        ? null
        : await judgeBook(
            book,
            {
              settings,
              registry: registryOf(settings, { load: async () => undefined }),
              hostOf: async () => undefined,
            },
            findings,
          )
    const violations = findings.list()
    return {
      folders: folders.map(({ path }) => path),
      ok: violations.length === 0,
      records: book.counts,
      urls,
      pace,
      warnings,
      violations,
    }
  } finally {
    book.close()
  }
}

function firstSettings(paths: readonly string[], version: string): Settings | undefined {
  for (const path of paths) {
    const crawl = readCrawlFolder(path, version)
    if (crawl !== undefined) return crawl.settings
  }
  return undefined
}
