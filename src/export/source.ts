/**
 * A crawl as an export sees it: the folders that hold its output, and how long each of their files was at the last
 * commit. What lies beyond is not part of the crawl yet, so a crawl that runs is exported as it stood at one moment, and
 * is not disturbed. One process writes one folder; the workers of a fleet have one each.
 */
import { basename, resolve } from 'node:path'
import type { NormalizedUrl } from '../model/index.ts'
import { createParameterStripper, keyOfNormalized, normalizeUrl } from '../url/index.ts'

export interface SourceFolder {
  readonly path: string
  /** The committed length of each file, by its name relative to the folder. */
  readonly output: Readonly<Record<string, number>>
}

export interface ExportSource {
  /** At least one. */
  readonly folders: readonly SourceFolder[]
  /** For what has no better one. */
  readonly name: string
  readonly seeds: readonly NormalizedUrl[]
  /** The key by which the crawl knows a URL; undefined for what is no URL of the web. */
  keyOf(url: string): string | undefined
  /** What a person should know before relying on the export. */
  readonly warnings: readonly string[]
}

/** From its parts, where there is no store to ask. */
export function exportSource(parts: {
  readonly folders: readonly SourceFolder[]
  readonly seeds: readonly NormalizedUrl[]
  /** The name of the first folder when absent. */
  readonly name?: string
  readonly stripParameters?: readonly string[]
  readonly warnings?: readonly string[]
}): ExportSource {
  const { folders, seeds, stripParameters = [], warnings = [] } = parts
  const strip = createParameterStripper(stripParameters)
  return {
    folders,
    name: parts.name ?? basename(resolve(folders[0]?.path ?? '')),
    seeds,
    warnings,
    keyOf(url) {
      const normalized = normalizeUrl(url)
      return normalized === undefined ? undefined : keyOfNormalized(strip(normalized))
    },
  }
}
