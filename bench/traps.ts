/**
 * How much of what is fetched of a site with a trap is new? The simulated walk of the tests, over generated sites of so many
 * honest pages and one trap each, with so many requests at once.
 *
 *   npx node bench/traps.ts [--each] [--only TRAP] [--pages N,N] [--at-once N,N]
 *
 * A cell is the least share of fetches that brought new content, over texts of 8, 40 and 120 words that repeat their address
 * or do not; with `--each`, every text has a row. `-3` behind it: so many contents were never fetched.
 */
import { parseArgs } from 'node:util'
import { SITES_WITH_TRAPS, type TrapOptions } from '../src/frontier/traps/test-support/sites.ts'
import { walk } from '../src/frontier/traps/test-support/walk.ts'
import { printTable } from './support/table.ts'

const SEED = 'https://host.test/'
const TEXTS = [8, 40, 120].flatMap((words) => [false, true].map((echoes) => ({ words, echoes })))

const { values: flags } = parseArgs({
  options: {
    each: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    pages: { type: 'string', default: '50,100,300,1000' },
    'at-once': { type: 'string', default: '1,8,32' },
  },
})
const numbers = (list: string): number[] => list.split(',').map(Number)
const columns = numbers(flags.pages).flatMap((pages) =>
  numbers(flags['at-once']).map((inFlight) => ({ pages, inFlight })),
)

type Text = Pick<TrapOptions, 'words' | 'echoes'>

function cell([, make, contents]: (typeof SITES_WITH_TRAPS)[number], texts: readonly Text[], at: (typeof columns)[0]) {
  const { pages, inFlight } = at
  const walks = texts.map((text) => walk(make({ pages, ...text }), SEED, 3 * pages, { inFlight }))
  const share = Math.min(...walks.map(({ fresh, fetched }) => fresh / fetched.length))
  const lost = Math.max(...walks.map((result) => contents(pages) - result.contents.size))
  return `${(100 * share).toFixed(1)}${lost === 0 ? '' : ` -${lost}`}`
}

const sites = SITES_WITH_TRAPS.filter(([name]) => name.includes(flags.only))
printTable(
  ['pages/at once', ...columns.map(({ pages, inFlight }) => `${pages}/${inFlight}`)],
  sites.flatMap((site) =>
    (flags.each ? TEXTS.map((text) => [text]) : [TEXTS]).map((texts) => [
      flags.each ? `${site[0]}, ${texts[0]?.words} words${texts[0]?.echoes === true ? ', echo' : ''}` : site[0],
      ...columns.map((at) => cell(site, texts, at)),
    ]),
  ),
)
