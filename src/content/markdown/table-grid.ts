/**
 * The cells of a table of data, and the table as Markdown. A cell that spans columns or rows leaves empty ones beside
 * or below it, so that every cell stays in its column, and the first row has as many cells as the longest: a reader of
 * Markdown drops what lies beyond (GFM §4.10). What is added stays in proportion to what is there.
 */

/** More empty cells than this for each cell of the page, and FREE_PADDING, are not added. */
const MAX_PADDING_SHARE = 4
const FREE_PADDING = 100
/** A cell across more columns than this is a line across the table. */
const MAX_COLUMN_SPAN = 50

export class TableGrid {
  readonly #rows: string[][] = []
  /** By column: how many rows an earlier cell still covers. */
  readonly #covered = new Map<number, number>()
  #padding = FREE_PADDING
  #hasHead = false

  beginRow(): void {
    this.#endRow()
    this.#rows.push([])
  }

  addCell(text: string, isHead: boolean, columns: number, rows: number): void {
    if (this.#rows.length === 0) this.#rows.push([])
    const row = this.#rows[this.#rows.length - 1] as string[]
    this.#padding += MAX_PADDING_SHARE
    this.#hasHead ||= isHead
    while (this.#isCovered(row.length)) row.push('')
    const first = row.length
    row.push(text)
    for (let column = 1; column < Math.min(columns, MAX_COLUMN_SPAN) && this.#padding > 0; column++) {
      row.push('')
      this.#padding--
    }
    if (rows <= 1) return
    for (let column = first; column < row.length; column++) this.#covered.set(column, rows - 1)
  }

  /** '' for a table without text. A column alone, without a head, is a list. */
  toMarkdown(): string {
    const rows = this.#rows.filter((row) => row.some((cell) => cell !== ''))
    const head = rows[0]
    if (head === undefined) return ''
    let columns = 0
    for (const row of rows) columns = Math.max(columns, row.length)
    if (columns === 1 && !this.#hasHead) return rows.map((row) => `- ${row[0]}`).join('\n')
    while (head.length < columns) head.push('')
    const lines = rows.map((row) => `| ${row.join(' | ')} |`)
    lines.splice(1, 0, `|${' --- |'.repeat(columns)}`)
    return lines.join('\n')
  }

  /** Takes one row off the cell above, if one covers this column. */
  #isCovered(column: number): boolean {
    const rows = this.#covered.get(column)
    if (rows === undefined || this.#padding <= 0) return false
    if (rows > 1) this.#covered.set(column, rows - 1)
    else this.#covered.delete(column)
    this.#padding--
    return true
  }

  /** Columns behind the row's last cell may be covered too. */
  #endRow(): void {
    const row = this.#rows[this.#rows.length - 1]
    if (row === undefined) return
    if (this.#padding <= 0) this.#covered.clear()
    for (const column of this.#covered.keys()) if (column >= row.length) this.#isCovered(column)
  }
}
