/**
 * Draws how the cost of an operation grows with the number of URLs, from what bench/frontier.ts has written: the same
 * file gives the same picture.
 *
 *   npx node bench/frontier/chart.ts [FILE] [PICTURE]
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { micros, type Figures, type HomeFigures, type Measured } from './measured.ts'

const REPOSITORY = join(import.meta.dirname, '../..')
const [file = join(REPOSITORY, 'bench/frontier.json'), picture = join(REPOSITORY, 'docs/frontier-growth.svg')] =
  process.argv.slice(2)

const WIDTH = 860
const PANEL = { width: 340, height: 250, top: 98 }
const LEFTS = [64, 490]
/** Lines of the axis of costs, at most. */
const STEPS = 6
const LEGEND_TOP = PANEL.top + PANEL.height + 56

interface Line {
  readonly name: string
  readonly colour: string
  readonly dashed: boolean
  readonly points: readonly (readonly [urls: number, microseconds: number])[]
}

interface Panel {
  readonly title: string
  readonly lines: readonly Line[]
}

const { date, node, marks } = JSON.parse(readFileSync(file, 'utf8')) as Measured

/** The frontier's cost of one operation, and the bare store's in the same colour. */
function pair(name: string, colour: string, of: (figures: Figures) => Figures['tasks']): Line[] {
  return [
    { name, colour, dashed: false, points: marks.map(({ mark, home }) => [mark.urls, micros(of(home))]) },
    {
      name: `${name}, bare`,
      colour,
      dashed: true,
      points: marks.map(({ mark, bare }) => [mark.urls, micros(of(bare))]),
    },
  ]
}

const fill = (home: HomeFigures): number => micros(home.fill)
const panels: readonly Panel[] = [
  {
    title: 'Adding a link',
    lines: [
      ...pair('90 % known, as pages have them', 'a', ({ skewed }) => skewed),
      ...pair('90 % known, drawn evenly', 'b', ({ uniform }) => uniform),
      { name: 'all new', colour: 'c', dashed: false, points: marks.map(({ mark, home }) => [mark.urls, fill(home)]) },
    ],
  },
  { title: 'Leasing and settling a task', lines: pair('one task, no links', 'd', ({ tasks }) => tasks) },
]

/** 1, 2 or 5 times a power of ten, so that few lines are enough. */
function stepOf(most: number): number {
  const rough = most / STEPS
  const power = 10 ** Math.floor(Math.log10(rough))
  return power * ([1, 2, 5, 10].find((times) => times * power >= rough) ?? 10)
}

const round = (value: number): number => Math.round(value * 10) / 10
const shorten = (urls: number): string => (urls >= 1e6 ? `${round(urls / 1e6)} M` : `${round(urls / 1e3)} k`)
const costText = (cost: number): string => (cost >= 100 ? cost.toFixed(0) : cost.toPrecision(2).replace(/\.0$/, ''))

function drawPanel({ title, lines }: Panel, left: number): string {
  const bottom = PANEL.top + PANEL.height
  const sizes = marks.map(({ mark }) => Math.log10(mark.urls))
  const [first, last] = [sizes[0] ?? 0, sizes.at(-1) ?? 1]
  const highest = Math.max(...lines.flatMap(({ points }) => points.map(([, cost]) => cost)))
  const step = stepOf(highest)
  const top = step * Math.ceil(highest / step)
  const x = (urls: number): number => round(left + (PANEL.width * (Math.log10(urls) - first)) / (last - first || 1))
  const y = (cost: number): number => round(bottom - (PANEL.height * cost) / top)
  const parts = [`<text class="title" x="${left}" y="${PANEL.top - 38}">${title}</text>`]
  parts.push(`<text class="soft" x="${left}" y="${PANEL.top - 16}">µs for each</text>`)
  for (let cost = 0; cost <= top + step / 2; cost += step) {
    parts.push(
      `<line class="grid" x1="${left}" x2="${left + PANEL.width}" y1="${y(cost)}" y2="${y(cost)}"/>`,
      `<text class="soft end" x="${left - 8}" y="${y(cost) + 4}">${round(cost)}</text>`,
    )
  }
  for (const { mark } of marks) {
    const at = x(mark.urls)
    parts.push(
      `<line class="grid" x1="${at}" x2="${at}" y1="${PANEL.top}" y2="${bottom}"/>`,
      `<text class="soft middle" x="${at}" y="${bottom + 18}">${shorten(mark.urls)}</text>`,
    )
  }
  parts.push(
    `<text class="soft middle" x="${left + PANEL.width / 2}" y="${bottom + 36}">known URLs (logarithmic)</text>`,
  )
  lines.forEach((line, index) => parts.push(...drawLine(line, x, y), ...drawLegend(line, left, index)))
  return parts.join('\n')
}

function drawLine(
  { name, colour, dashed, points }: Line,
  x: (urls: number) => number,
  y: (cost: number) => number,
): string[] {
  const style = `${colour}${dashed ? ' dashed' : ''}`
  const path = points.map(([urls, cost]) => `${x(urls)},${y(cost)}`).join(' ')
  return [
    `<polyline class="line ${style}" points="${path}"/>`,
    ...points.map(
      ([urls, cost]) =>
        `<circle class="${style}" cx="${x(urls)}" cy="${y(cost)}" r="3"><title>${name}, ${shorten(urls)}: ${costText(cost)} µs</title></circle>`,
    ),
  ]
}

function drawLegend({ name, colour, dashed, points }: Line, left: number, index: number): string[] {
  const y = LEGEND_TOP + 17 * index
  const cost = points.at(-1)?.[1]
  const end = cost === undefined ? '' : `: ${costText(cost)} µs at ${shorten(points.at(-1)?.[0] ?? 0)}`
  return [
    `<line class="line ${colour}${dashed ? ' dashed' : ''}" x1="${left}" x2="${left + 28}" y1="${y}" y2="${y}"/>`,
    `<text x="${left + 36}" y="${y + 4}">${name}${end}</text>`,
  ]
}

const height = LEGEND_TOP + 17 * Math.max(...panels.map(({ lines }) => lines.length)) + 6
const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="name" font-family="system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif" font-size="12">
<title id="name">The cost of an operation of the frontier by the number of known URLs</title>
<style>
  .paper { fill: #ffffff } text { fill: #1f2328 } .soft { fill: #59636e } .title { font-size: 15px; font-weight: 600 }
  .end { text-anchor: end } .middle { text-anchor: middle } .grid { stroke: #d8dee4; stroke-width: 1 }
  .line { fill: none; stroke-width: 2 } .dashed { stroke-dasharray: 5 4 } circle { stroke: none }
  .a { stroke: #0969da } .b { stroke: #bc4c00 } .c { stroke: #1a7f37 } .d { stroke: #8250df }
  circle.a { fill: #0969da } circle.b { fill: #bc4c00 } circle.c { fill: #1a7f37 } circle.d { fill: #8250df }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #0d1117 } text { fill: #e6edf3 } .soft { fill: #9198a1 } .grid { stroke: #30363d }
    .a { stroke: #58a6ff } .b { stroke: #f0883e } .c { stroke: #3fb950 } .d { stroke: #bc8cff }
    circle.a { fill: #58a6ff } circle.b { fill: #f0883e } circle.c { fill: #3fb950 } circle.d { fill: #bc8cff }
  }
</style>
<rect class="paper" width="${WIDTH}" height="${height}" rx="6"/>
<text class="soft" x="${LEFTS[0]}" y="24">Solid: the frontier. Dashed: the bare store, doing as many puts and gets. ${date}, Node ${node}, bench/frontier.ts</text>
${panels.map((panel, index) => drawPanel(panel, LEFTS[index] ?? 0)).join('\n')}
</svg>
`
writeFileSync(picture, svg)
