/**
 * The reference page of the output: fields of the records with their comments, skip reasons, failures and events. It
 * is read from the sources of `model`, so that a field cannot be added without being documented here.
 */
import { readFileSync } from 'node:fs'
import { FAILURES, RECORD_SCHEMA, SKIP_REASONS } from '../model/index.ts'

interface Field {
  readonly name: string
  readonly type: string
  readonly comment: string
}

export function outputReferencePage(): string {
  return `# Output

This page is made from \`src/model/\` by \`node src/config/generate.ts\`.

A crawl writes four files of records, one JSON object a line, and Markdown below \`content/\`. A record is part of the
output once the store has committed it; after a crash, what lies beyond is cut off. Times are ISO 8601 in UTC.

Each URL that was settled has one record in one of the files, and one more for each time that it was fetched again.

## pages.jsonl
One record for each page that was fetched for the first time, or fetched again and found to be changed.

${table(fieldsOf('page', 'PageRecord'))}

## revisits.jsonl
One record for each time that a page was fetched again and there was nothing new to save.

${table(fieldsOf('page', 'RevisitRecord'))}

## skipped.jsonl
One record for each URL that was not fetched, or led elsewhere.

${table(fieldsOf('page', 'SkipRecord'))}

| Reason | Meaning |
| --- | --- |
${Object.entries(SKIP_REASONS).map(row).join('\n')}

## failed.jsonl
One record for each URL that was given up on.

${table(fieldsOf('page', 'FailRecord'))}

| Error | Meaning |
| --- | --- |
${Object.entries(FAILURES).map(row).join('\n')}

## Events of the library
\`crawler.on(name, listener)\` hears of these.

${table(fieldsOf('event', 'CrawlEvents'))}
`
}

function row([name, meaning]: readonly [string, string]): string {
  return `| \`${name}\` | ${meaning} |`
}

function table(fields: readonly Field[]): string {
  const rows = fields.map(
    ({ name, type, comment }) => `| \`${name}\` | \`${type.replaceAll('|', '\\|')}\` | ${comment} |`,
  )
  return ['| Field | Type | |', '| --- | --- | --- |', ...rows].join('\n')
}

/** The fields of an interface, each with the comment above it. */
function fieldsOf(file: string, name: string): Field[] {
  const source = readFileSync(new URL(`../model/${file}.ts`, import.meta.url), 'utf8')
  const block = new RegExp(String.raw`export interface ${name} \{\n([\s\S]*?)\n\}`).exec(source)?.[1]
  if (block === undefined) throw new Error(`src/model/${file}.ts has no interface ${name}`)
  const fields = block.matchAll(/(?: {2}\/\*\* ?([\s\S]*?) ?\*\/\n)? {2}(?:readonly )?(\w+\??): ([^\n]+)/g)
  return [...fields].map(([, comment = '', field = '', type = '']) => ({
    name: field,
    type: type.replace('typeof RECORD_SCHEMA', String(RECORD_SCHEMA)),
    comment: comment.replaceAll(/\s*\n\s*\* ?/g, ' ').trim(),
  }))
}
