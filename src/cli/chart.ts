/**
 * A chart of columns in plain ASCII, so that it reads the same in a terminal, a log and an issue. It draws what it is
 * given; what the numbers mean, and how they are said, is the caller's.
 */

export interface ColumnChart {
  /** One column each, 0 or more, at least one. */
  readonly values: readonly number[]
  /** Above the scale: `pages/s`. */
  readonly title: string
  /** Rows of the plot; 6 unless given. */
  readonly rows?: number
  /** Under the first column, under the middle one and after the last. */
  readonly axis: readonly [start: string, middle: string, end: string]
  readonly format: (value: number) => string
}

const ROWS = 6

/** Each row stands for an equal part of the highest value; `:` is a part that is at least half full. */
export function columnChart(chart: ColumnChart): string[] {
  const { values, title, axis, format, rows = ROWS } = chart
  const highest = Math.max(...values, 0)
  const labels = Array.from({ length: rows }, (_, row) =>
    // Every second row is labelled, the highest among them.
    row % 2 === 0 ? format((highest * (rows - row)) / rows) : '',
  )
  const margin = Math.max(title.length, ...labels.map((label) => label.length))
  const plot = labels.map((label, row) => {
    const floor = rows - row - 1
    const columns = values.map((value) => markOf(highest === 0 ? 0 : (value / highest) * rows - floor)).join('')
    return `${label.padStart(margin)} |${columns}`.trimEnd()
  })
  const indent = ' '.repeat(margin)
  return [
    title.padStart(margin),
    ...plot,
    `${indent} +${'-'.repeat(values.length)}`,
    `${indent}  ${axisLine(axis, values.length)}`,
  ]
}

function markOf(filled: number): string {
  if (filled >= 0.995) return '#'
  if (filled >= 0.5) return ':'
  // Something is never shown as nothing.
  return filled > 0 ? '.' : ' '
}

/** The middle is left out where there is no room for it. */
function axisLine([start, middle, end]: ColumnChart['axis'], columns: number): string {
  const gap = columns - end.length
  if (gap <= start.length) return `${start} ${end}`
  const centre = Math.round(columns / 2 - middle.length / 2)
  const fits = centre > start.length + 1 && centre + middle.length + 1 < gap
  const left = fits ? start.padEnd(centre) + middle : start
  return left.padEnd(gap) + end
}
