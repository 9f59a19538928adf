/** Plain tables for the terminal and for Markdown: the same text serves both. */

export type Cell = string | number

export function printTable(head: readonly string[], rows: readonly (readonly Cell[])[]): void {
  const text = [head, ...rows.map((row) => row.map(String))]
  const widths = head.map((_, column) => Math.max(...text.map((row) => row[column]?.length ?? 0)))
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join(' | ')} |`
  process.stdout.write(`${line(head)}\n${line(widths.map((width) => '-'.repeat(width)))}\n`)
  for (const row of text.slice(1)) process.stdout.write(`${line(row)}\n`)
  process.stdout.write('\n')
}

/** Three significant figures or whole numbers, with thousands set apart. */
export function figure(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString('en')
  return Number(value.toPrecision(3)).toString()
}

export function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`
}
