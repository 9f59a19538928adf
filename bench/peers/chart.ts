/**
 * Draws how Tiptoe stands beside other crawlers, from what bench/peers.ts has written: the same file gives the same
 * picture.
 *
 *   npx node bench/peers/chart.ts [FILE] [PICTURE]
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { figure } from '../support/table.ts'
import { LINKS_ONLY } from './contestants/tiptoe.ts'
import { cpuPerThousand, medianOf, pagesPerSecond, type Measured, type Result, type Run } from './measured.ts'

const REPOSITORY = join(import.meta.dirname, '../..')
const [file = join(REPOSITORY, 'bench/peers.json'), picture = join(REPOSITORY, 'docs/peers.svg')] =
  process.argv.slice(2)

const WIDTH = 860
/** Names stand left of the first panel. */
const NAMES = 196
const PANELS = { top: 84, width: 240, lefts: [NAMES + 14, NAMES + 348] }
const ROW = { height: 24, bar: 15 }

interface Panel {
  readonly title: string
  readonly note: string
  readonly read: (run: Run) => number
}

const panels: readonly Panel[] = [
  { title: 'Pages a second', note: 'longer is better', read: pagesPerSecond },
  { title: 'CPU seconds for 1,000 pages', note: 'shorter is better', read: cpuPerThousand },
]

const measured = JSON.parse(readFileSync(file, 'utf8')) as Measured
const { site, cores, concurrency, rounds, date, node } = measured
const results = [...measured.results].sort((a, b) => medianOf(b, pagesPerSecond) - medianOf(a, pagesPerSecond))

const round = (value: number): number => Math.round(value * 10) / 10
const colour = ({ name }: Result): string => {
  if (name.startsWith('Tiptoe')) return name === LINKS_ONLY ? 'own' : 'own more'
  return name.startsWith('bare') ? 'bare' : 'peer'
}
const middle = (index: number): number => PANELS.top + ROW.height * (index + 0.5)

function drawName(result: Result, index: number): string {
  const style = result.name.startsWith('Tiptoe') ? 'end strong' : 'end'
  return `<text class="${style}" x="${NAMES}" y="${middle(index) + 4}">${result.name}</text>`
}

/** Bars begin at zero, so that lengths can be compared. */
function drawPanel({ title, note, read }: Panel, left: number): string {
  const most = Math.max(...results.map((result) => medianOf(result, read)))
  const bottom = PANELS.top + ROW.height * results.length
  const bars = results.map((result, index) => {
    const value = medianOf(result, read)
    const length = Math.max(1, round((PANELS.width * value) / most))
    return [
      `<rect class="${colour(result)}" x="${left}" y="${middle(index) - ROW.bar / 2}" width="${length}" height="${ROW.bar}" rx="2"/>`,
      `<text x="${left + length + 6}" y="${middle(index) + 4}">${figure(value)}</text>`,
    ].join('\n')
  })
  return [
    `<text class="title" x="${left}" y="${PANELS.top - 28}">${title}</text>`,
    `<text class="soft" x="${left}" y="${PANELS.top - 10}">${note}</text>`,
    `<line class="grid" x1="${left}" x2="${left}" y1="${PANELS.top}" y2="${bottom}"/>`,
    ...bars,
  ].join('\n')
}

const height = PANELS.top + ROW.height * results.length + 42
const conditions =
  `${figure(site.pages)} pages of documentation, ${figure(site.bytesPerPage / 1_000)} KB and ${figure(site.linksPerPage)} links each, ` +
  `from nginx on the same ${cores} cores; ${concurrency} requests at once, no delay`
const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="name" font-family="system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif" font-size="12">
<title id="name">Pages a second and processor time of Tiptoe and other crawlers on the same site</title>
<style>
  .paper { fill: #ffffff } text { fill: #1f2328 } .soft { fill: #59636e } .title { font-size: 15px; font-weight: 600 }
  .strong { font-weight: 600 } .end { text-anchor: end } .grid { stroke: #d8dee4; stroke-width: 1 }
  .own { fill: #0969da } .more { fill: #54aeff } .peer { fill: #afb8c1 }
  .bare { fill: #ffffff; stroke: #59636e; stroke-dasharray: 4 3 }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #0d1117 } text { fill: #e6edf3 } .soft { fill: #9198a1 } .grid { stroke: #30363d }
    .own { fill: #58a6ff } .more { fill: #1f6feb } .peer { fill: #545d68 }
    .bare { fill: #0d1117; stroke: #9198a1 }
  }
</style>
<rect class="paper" width="${WIDTH}" height="${height}" rx="6"/>
<text class="soft" x="16" y="24">${conditions}</text>
${results.map(drawName).join('\n')}
${panels.map((panel, index) => drawPanel(panel, PANELS.lefts[index] ?? 0)).join('\n')}
<text class="soft" x="16" y="${height - 14}">Medians of ${rounds} rounds. Dashed: a loop that fetches and follows links, and keeps no promise. ${date}, Node ${node}, bench/peers.ts</text>
</svg>
`
writeFileSync(picture, svg)
