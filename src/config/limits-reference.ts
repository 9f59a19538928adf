/** The reference page of limits, made from the table in `model`. */
import { formatDuration, formatBytes } from '../base/index.ts'
import { LIMITS, type Limit } from '../model/index.ts'

export function limitsReferencePage(): string {
  const rows = Object.entries<Limit>(LIMITS).map(
    ([name, limit]) =>
      `| \`${name}\` | ${valueOf(limit)} | ${limit.what} | ${limit.beyond} | ${limit.option === undefined ? '' : `\`${limit.option}\``} |`,
  )
  return `# Limits

This page is made from \`src/model/limits.ts\` by \`node src/config/generate.ts\`; \`test/integration/limits.test.ts\` meets each.

Nothing that a server sends is taken without a limit. Beyond it:

- **cut**: what came up to there is kept, and the record says \`truncated\` and names the limit in \`limits\`.
- **refused**: the URL is recorded as failed or skipped with the reason in words; of a link or an index file, that one is left out.

| Limit | At most | Of what | Beyond it | Set by |
| --- | --- | --- | --- | --- |
${rows.join('\n')}
`
}

function valueOf({ value, unit }: Limit): string {
  if (unit === 'bytes') return formatBytes(value)
  if (unit === 'bytes/s') return `at least ${formatBytes(value)}/s`
  if (unit === 'ms') return formatDuration(value)
  return `${value.toLocaleString('en')}${unit === '' ? '' : ` ${unit}`}`
}
