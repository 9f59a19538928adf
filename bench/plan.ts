/**
 * Does a crawl take as long as `tiptoe simulate` says? Webs of several shapes are served on loopback; each crawl is
 * predicted from its configuration before it starts, measured, and predicted again from its folder with `--whole`.
 *
 *   npx node bench/plan.ts [shape…]
 *
 * The ratio is the prediction over the measurement; within 0.9 and 1.1 is the promise.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRng } from '../src/base/index.ts'
import { createDemoWeb, createLoopbackWeb, type Answer, type HostBehaviour } from '../src/cli/demo/index.ts'
import { LAUNCHER, REPOSITORY } from './support/child.ts'
import { SITE, startSite } from './support/site.ts'
import { figure, printTable } from './support/table.ts'

interface Served {
  readonly seeds: readonly string[]
  readonly resolve: readonly string[]
  close(): Promise<void> | void
}

interface Shape {
  readonly about: string
  serve(): Promise<Served>
  /** The web answers quicker when it was crawled once before. */
  readonly warmUp?: true
  /** Flags of the crawl and of its plan. */
  readonly flags?: readonly string[]
  readonly delays?: Readonly<Record<string, string>>
  /** What the configuration alone cannot say; absent where nothing sensible can be assumed. */
  readonly assume?: readonly string[]
}

/** A host of so many pages in a tree of tens, each answering after its latency. */
function tree(
  pages: number,
  latency: () => number,
  extra: { readonly crawlDelay?: number; readonly failing?: number } = {},
): HostBehaviour {
  const body = (number: number): string => {
    const links = Array.from({ length: 10 }, (_, child) => number * 10 + child + 1).filter((link) => link < pages)
    return `<!doctype html><title>Page ${number}</title><main><p>This is page ${number}.</p>${links
      .map((link) => `<a href="/page/${link}">Page ${link}</a>`)
      .join('\n')}</main>`
  }
  return ({ path, n }): Answer => {
    const delayMs = latency()
    if (path === '/robots.txt') {
      const rules = extra.crawlDelay === undefined ? '' : `Crawl-delay: ${extra.crawlDelay}\n`
      return { body: `User-agent: *\nDisallow: /private/\n${rules}`, delayMs }
    }
    const number = path === '/' ? 0 : Number(/^\/page\/(\d+)$/.exec(path)?.[1] ?? NaN)
    if (!(number < pages)) return { status: 404, delayMs }
    if (extra.failing !== undefined && number > 0 && number % extra.failing === 0) {
      return number % 2 === 0
        ? { status: 404, delayMs }
        : n === 1
          ? { status: 500, delayMs }
          : { body: body(number), delayMs }
    }
    return { body: body(number), delayMs }
  }
}

async function serve(hosts: Readonly<Record<string, HostBehaviour>>): Promise<Served> {
  const web = await createLoopbackWeb(hosts)
  return { seeds: Object.keys(hosts).map((host) => web.url(host)), resolve: web.resolveFlags(), close: web.close }
}

const named = <T>(count: number, make: (index: number) => T): Record<string, T> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`h${index}.test`, make(index)]))

const MIXED_DELAYS = ['50ms', '100ms', '200ms', '500ms', '1s', '2s']

const SHAPES: Readonly<Record<string, Shape>> = {
  mixed: {
    about: '24 hosts, delays of 50 ms to 2 s, latencies of 0 to 300 ms, some with Crawl-delay, some failing, 10 slots',
    serve() {
      const rng = createRng(7)
      return serve(
        named(24, (index) =>
          tree(12 + rng.int(12), () => rng.int(1 + 12 * index), {
            ...(index % 5 === 0 ? { crawlDelay: 0.7 } : {}),
            ...(index % 4 === 1 ? { failing: 5 } : {}),
          }),
        ),
      )
    },
    flags: ['--concurrency', '10'],
    delays: named(24, (index) => MIXED_DELAYS[index % MIXED_DELAYS.length] as string),
    assume: ['--pages', '18', '--latency', '140ms', '--size', '500B'],
  },
  'few slots': {
    about: '100 hosts of 10 pages, 100 ms delay, 50 ms to answer, 2 slots',
    serve: () => serve(named(100, () => tree(10, () => 50))),
    flags: ['--concurrency', '2', '--delay', '100ms'],
    assume: ['--pages', '10', '--latency', '50ms', '--size', '500B'],
  },
  'one host': {
    about: 'one host of 300 pages, 50 ms delay, 30 ms to answer, and 9 small ones',
    serve: () => serve(named(10, (index) => tree(index === 0 ? 300 : 10, () => 30))),
    flags: ['--delay', '50ms'],
  },
  'many hosts': {
    about: '200 hosts of 20 pages, 500 ms delay, 20 to 100 ms to answer, 20 slots',
    serve() {
      const rng = createRng(11)
      return serve(named(200, () => tree(20, () => 20 + rng.int(80))))
    },
    flags: ['--concurrency', '20', '--delay', '500ms'],
    assume: ['--pages', '20', '--latency', '60ms', '--size', '500B'],
  },
  latency: {
    about: '40 hosts of 15 pages, no delay, 300 ms to answer, 10 slots',
    serve: () => serve(named(40, () => tree(15, () => 300))),
    flags: ['--concurrency', '10', '--delay', '0'],
    assume: ['--pages', '15', '--latency', '300ms', '--size', '500B'],
  },
  demo: {
    about: 'the web of tiptoe demo, at its own pace',
    async serve() {
      const web = await createDemoWeb()
      return { seeds: web.seeds, resolve: web.resolveFlags(), close: () => web.close() }
    },
    flags: ['--fail-on', '100%'],
  },
  machine: {
    about: 'one host of 4,000 pages of 30 KB, no delay, 20 at once: the machine bounds it',
    async serve() {
      const site = await startSite({ pages: 4_000, linksPerPage: 110, bytesPerPage: 30_000, seed: 1 })
      return {
        seeds: [`http://${SITE}:${site.port}/`],
        resolve: [`${SITE}:${site.port}:127.0.0.1`],
        close: () => site.stop(),
      }
    },
    flags: ['--delay', '0', '--per-host', '20', '--concurrency', '20'],
    warmUp: true,
    assume: ['--pages', '4000', '--latency', '1ms'],
  },
}

async function tiptoe(words: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [join(REPOSITORY, LAUNCHER), ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`tiptoe ${words.slice(0, 3).join(' ')} … ended with ${code}`)
  return Buffer.concat(chunks).toString()
}

interface Predicted {
  readonly plan: {
    readonly durationMs: number
    readonly pages: number
    readonly requests: number
    readonly boundBy: string
  }
  readonly tookMs: number
}

const predict = async (slots: string, words: readonly string[]): Promise<Predicted> =>
  JSON.parse(await tiptoe(['simulate', ...words, '--workers', slots, '--json'])) as Predicted

const wanted = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'bench-plan-'))
const rows: string[][] = []
try {
  for (const [name, shape] of Object.entries(SHAPES)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue
    const { flags = [], delays = {}, assume } = shape
    const typed = flags.indexOf('--concurrency')
    const slots = typed === -1 ? '20' : (flags[typed + 1] as string)
    const web = await shape.serve()
    try {
      const config = join(folder, 'crawl.yaml')
      const sites = Object.fromEntries(Object.entries(delays).map(([host, delay]) => [host, { delay }]))
      writeFileSync(config, JSON.stringify({ seeds: web.seeds, crawler: { scope: { mode: 'host' } }, sites }))
      const before = assume === undefined ? undefined : await predict(slots, ['-c', config, ...flags, ...assume])
      const out = join(folder, 'out')
      const words = ['-c', config, ...flags, '--quiet', '-o', out, '--fresh', '--allow-address', '127.0.0.0/8']
      for (let times = shape.warmUp === true ? 2 : 1; times > 0; times--) {
        await tiptoe(['crawl', ...words, ...web.resolve.flatMap((flag) => ['--resolve', flag])])
      }
      const measured = JSON.parse(readFileSync(join(out, 'stats.json'), 'utf8')) as { seconds: number; saved: number }
      const after = await predict(slots, [out, '--whole'])
      const ratio = (plan: Predicted | undefined): string =>
        plan === undefined ? '' : (plan.plan.durationMs / 1_000 / measured.seconds).toFixed(3)
      const seconds = (plan: Predicted | undefined): string =>
        plan === undefined ? '' : figure(plan.plan.durationMs / 1_000)
      rows.push([
        name,
        figure(measured.saved),
        figure(measured.seconds),
        seconds(before),
        ratio(before),
        seconds(after),
        ratio(after),
        after.plan.boundBy,
        figure(after.tookMs / 1_000),
      ])
      process.stderr.write(`${rows.at(-1)?.join('  ')}\n`)
    } finally {
      await web.close()
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
for (const [name, { about }] of Object.entries(SHAPES)) process.stdout.write(`${name}: ${about}\n`)
process.stdout.write('\nSeconds; "before" from the configuration, "after" from the folder.\n')
printTable(['shape', 'pages', 'measured', 'before', 'ratio', 'after', 'ratio', 'bound by', 'to simulate'], rows)
