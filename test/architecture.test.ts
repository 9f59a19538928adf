/**
 * The house rules that a compiler does not check: which module may know which, and who may touch the machine: its clock,
 * randomness, network and disk. The layers are those of docs/architecture.md.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import { expect, test } from 'vitest'

const SOURCE = join(import.meta.dirname, '..', 'src')
/** From the ground up. A module knows only modules of lower layers, and those by their doors. */
const LAYERS = [
  ['model', 'base'],
  ['url'],
  ['robots', 'parse', 'content'],
  ['frontier', 'politeness', 'fetch', 'sink', 'telemetry', 'reading'],
  ['config'],
  ['engine'],
  ['sim', 'export'],
  ['cli', 'library'],
] as const

const layerOf = new Map<string, number>(LAYERS.flatMap((names, layer) => names.map((name) => [name, layer])))
/** Files that stand alone in src/ are the library. */
const moduleOf = (file: string): string => (file.includes('/') ? (file.split('/', 1)[0] as string) : 'library')

const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => file.endsWith('.ts'))
const production = files.filter((file) => !file.endsWith('.test.ts') && !file.includes('/test-support/'))
const text = (file: string): string => readFileSync(join(SOURCE, file), 'utf8')

function importsOf(file: string): string[] {
  const found = text(file).matchAll(/(?:^|\n)(?:import|export)\b[^'"]*?from\s*'(\.[^']+)'|import\('(\.[^']+)'\)/g)
  return [...found].map((match) => {
    const path = join(dirname(join(SOURCE, file)), (match[1] ?? match[2]) as string)
    return normalize(relative(SOURCE, path)).replaceAll('\\', '/')
  })
}

test('every folder of src is a module with a place in the layers', () => {
  const unknown = new Set(files.map(moduleOf).filter((module) => !layerOf.has(module)))
  expect([...unknown]).toEqual([])
})

test('a module imports only from lower layers, and only through their doors', () => {
  const violations: string[] = []
  for (const file of production) {
    const from = moduleOf(file)
    for (const target of importsOf(file)) {
      if (target.startsWith('..')) {
        violations.push(`${file} imports ${target} from outside of src`)
        continue
      }
      const to = moduleOf(target)
      if (to === from) continue
      if ((layerOf.get(to) ?? 99) >= (layerOf.get(from) ?? -1))
        violations.push(`${file} imports ${target}: not below it`)
      if (target !== `${to}/index.ts`) violations.push(`${file} imports ${target}: not its door`)
    }
  }
  expect(violations).toEqual([])
})

test('no module imports itself in a circle through its own door', () => {
  const violations = production.flatMap((file) =>
    importsOf(file)
      .filter((target) => target === `${moduleOf(file)}/index.ts` && !file.endsWith('/index.ts'))
      .map(() => file),
  )
  expect(violations.filter((file) => file.includes('/'))).toEqual([])
})

/** Lines of code, without those that are only comments, each with its place. */
function* linesOf(file: string): Generator<{ line: string; place: string }> {
  for (const [index, line] of text(file).split('\n').entries()) {
    if (!/^\s*(?:\*|\/\/|\/\*)/.test(line)) yield { line, place: `${file}:${index + 1}` }
  }
}

const placesOf = (forbidden: RegExp, mayHaveIt: (file: string) => boolean): string[] =>
  production
    .filter((file) => !mayHaveIt(file))
    .flatMap((file) => [...linesOf(file)].filter(({ line }) => forbidden.test(line)).map(({ place }) => place))

test('time is passed in, but for the one place that makes it', () => {
  const clocks = /\b(?:Date\.now|performance\.now|setTimeout|setInterval|new Date\(\)|hrtime|node:timers)/
  expect(placesOf(clocks, (file) => file === 'base/clock.ts').filter((place) => !isRealTime(place))).toEqual([])
})

/** A line that says why it is about the machine's own time. */
function isRealTime(place: string): boolean {
  const [file = '', line = ''] = place.split(':')
  return text(file).split('\n')[Number(line) - 1]?.includes('// real time:') ?? false
}

test('randomness is passed in, but for the few places that begin with it', () => {
  const sources = /\b(?:Math\.random|getRandomValues|randomUUID|randomBytes|randomInt)\b/
  // The seed of a run, the key of a store, and names that nobody else may have.
  const makers = new Set([
    'engine/crawl.ts',
    'engine/workshop.ts',
    'frontier/embedded/storage.ts',
    'frontier/embedded/memory-database.ts',
    'frontier/redis/chance.ts',
  ])
  expect(placesOf(sources, (file) => makers.has(file))).toEqual([])
})

test('the network is reached through the fetcher alone; the faces have servers and look-ups of their own', () => {
  const network = /from '(?:node:(?:net|tls|dns|dns\/promises|http|https|http2|dgram)|undici)'/
  // Reading an address as text touches no network; measuring a machine is done on the machine.
  const others = new Set(['config/crawl-kinds.ts', 'config/fleet-kinds.ts', 'sim/plan/measured-machine.ts'])
  expect(placesOf(network, (file) => /^(?:fetch|cli)\//.test(file) || others.has(file))).toEqual([])
})

test("the disk is reached through the port, the store, and where a person's files are read and made", () => {
  const disk = /from 'node:(?:fs|fs\/promises|sqlite)'/
  const others = new Set([
    'config/config-file.ts',
    'config/generate.ts',
    'config/output-reference.ts',
    'engine/crawl-folder.ts',
    'engine/seeds.ts',
    // Its scripts are files beside it, and whom it trusts is in a file that a person names.
    'frontier/redis/scripts.ts',
    'frontier/redis/authority-file.ts',
    'sim/plan/measured-machine.ts',
  ])
  expect(placesOf(disk, (file) => /^(?:base|frontier\/embedded|cli|export)\//.test(file) || others.has(file))).toEqual(
    [],
  )
})

test('there are no empty folders and no file without an opening comment', () => {
  const silent = production.filter(
    (file) => !/^(?:#![^\n]*\n)?(?:\/\*\*|\/\/)/.test(text(file)) && !/^import[^\n]*\n+\/\*\*/.test(text(file)),
  )
  expect(silent).toEqual([])
})
