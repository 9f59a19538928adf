/**
 * A crawl as an export sees it: its folder, and how long each file was at the last commit. What lies beyond is not part
 * of the crawl yet, so a crawl that runs is exported as it stood at one moment, and is not disturbed.
 */
import { existsSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { requireCrawlFolder, stateFolder } from '../engine/index.ts'
import { openInspector } from '../frontier/index.ts'
import { TiptoeError, type NormalizedUrl } from '../model/index.ts'
import { createParameterStripper, keyOfNormalized, normalizeUrl } from '../url/index.ts'

export interface ExportSource {
  readonly folder: string
  /** The name of the folder, for what has no better one. */
  readonly name: string
  readonly seeds: readonly NormalizedUrl[]
  /** The committed length of each file, by its name relative to the folder. */
  readonly output: Readonly<Record<string, number>>
  /** The key by which the crawl knows a URL; undefined for what is no URL of the web. */
  keyOf(url: string): string | undefined
}

export function openExportSource(folder: string, version: string): ExportSource {
  const { settings, seeds } = requireCrawlFolder(folder, version)
  const state = stateFolder(folder)
  if (!existsSync(join(state, 'crawl.db'))) {
    throw new TiptoeError('usage', `the crawl in ${folder} was prepared but never begun`, {
      hint: `begin it with: tiptoe -o ${folder}`,
    })
  }
  const inspector = openInspector(state)
  try {
    const { output } = inspector.counters()
    return exportSource({ folder, seeds, output, stripParameters: settings.stripParameters })
  } finally {
    inspector.close()
  }
}

/** From its parts, where there is no store to ask. */
export function exportSource(parts: {
  readonly folder: string
  readonly seeds: readonly NormalizedUrl[]
  readonly output: Readonly<Record<string, number>>
  readonly stripParameters?: readonly string[]
}): ExportSource {
  const { folder, seeds, output, stripParameters = [] } = parts
  const strip = createParameterStripper(stripParameters)
  return {
    folder,
    name: basename(resolve(folder)),
    seeds,
    output,
    keyOf(url) {
      const normalized = normalizeUrl(url)
      return normalized === undefined ? undefined : keyOfNormalized(strip(normalized))
    },
  }
}
