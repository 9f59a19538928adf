/** A page as the text of a Markdown file, with front matter. */
import type { PageRecord } from '../model/index.ts'

export function markdownFile(record: PageRecord, markdown: string): string {
  return frontMatter(record) + markdown
}

/** YAML whose values are JSON, which YAML reads as they are: nothing a page says can break out of them. */
function frontMatter(record: PageRecord): string {
  const fields = {
    url: record.url,
    title: record.title,
    description: record.description,
    lang: record.lang,
    canonical: record.canonical,
    published: record.published,
    modified: record.modified,
    duplicateOf: record.duplicateOf,
    tokens: record.tokens,
    fetched: record.fetchedAt,
  }
  let lines = ''
  for (const [name, value] of Object.entries(fields)) {
    if (value !== null && value !== undefined) lines += `${name}: ${JSON.stringify(value)}\n`
  }
  return `---\n${lines}---\n\n`
}
