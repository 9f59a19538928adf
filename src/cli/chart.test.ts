import { expect, test } from 'vitest'
import { columnChart } from './chart.ts'

const format = (value: number): string => value.toFixed(0)

test('a column is as high as its share of the highest, and half a row is shown as half', () => {
  const lines = columnChart({
    values: [0, 3, 6, 12, 12, 6],
    title: 'pages/s',
    rows: 4,
    axis: ['0s', '5s', '10s'],
    format,
  })
  expect(lines).toEqual([
    'pages/s',
    '     12 |   ##',
    '        |   ##',
    '      6 |  ####',
    '        | #####',
    '        +------',
    '         0s 10s',
  ])
})

test('the start, middle and end of the axis are named where there is room', () => {
  const lines = columnChart({ values: Array(30).fill(1), title: 'n', axis: ['0s', '15s', '30s'], format })
  expect(lines.at(-1)).toBe(`   0s${' '.repeat(12)}15s${' '.repeat(10)}30s`)
})

test('a value that is small but not zero leaves a mark, and zeros leave none', () => {
  const lines = columnChart({ values: [0, 1, 1000], title: 'n', rows: 2, axis: ['a', 'b', 'c'], format })
  expect(lines[2]).toBe('     | .#')
})

test('nothing but zeros is an empty plot', () => {
  const lines = columnChart({ values: [0, 0], title: 'n', rows: 1, axis: ['a', '', 'z'], format })
  expect(lines).toEqual(['n', '0 |', '  +--', '   a z'])
})
