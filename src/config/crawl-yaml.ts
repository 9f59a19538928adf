/** The resolved configuration as a file that reads back to the same settings: the crawl.yaml of an output folder. */
import { stringify } from 'yaml'
import { sections, type Option, type Section } from './options.ts'
import type { Settings } from './settings.ts'

export function toCrawlYaml(settings: Settings): string {
  return written(contentOf(sections(), settings, () => true))
}

/** The same for a crawl that several processes work on: without what belongs to each of them. */
export function toFleetYaml(settings: Settings): string {
  return written(contentOf(sections(), settings, (option) => !option.local))
}

function written(content: Map<string, unknown>): string {
  // Without folding, a long text stays on its line and is read back character by character.
  return stringify(content, { lineWidth: 0 })
}

/** Sections and values in the order of the table; what is unset by default is left out. */
function contentOf(section: Section, settings: Settings, isKept: (option: Option) => boolean): Map<string, unknown> {
  const content = new Map<string, unknown>()
  for (const [key, inner] of section) {
    if (inner instanceof Map) content.set(key, contentOf(inner, settings, isKept))
    else if (isKept(inner)) {
      const value = settings[inner.setting]
      if (value !== undefined) content.set(key, inner.kind.write(value))
      // Left out, it would read back as its default.
      else if (inner.default !== undefined) content.set(key, 'none')
    }
  }
  return content
}
