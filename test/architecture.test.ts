/**
 * The house rules that a compiler does not check: which module may know which, and who may read the clock. The layers
 * are those of docs/architecture.md.
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
  ['frontier', 'politeness', 'fetch', 'sink', 'telemetry'],
  ['config'],
  ['engine'],
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

test('time and randomness are passed in, but for the few places that make them', () => {
  const makers = new Set(['base/clock.ts'])
  const forbidden = /\b(?:Date\.now|performance\.now|Math\.random|setTimeout|setInterval|new Date\(\))/
  const violations = production
    .filter((file) => !makers.has(file))
    .flatMap((file) =>
      text(file)
        .split('\n')
        .map((line, index) => ({ line, place: `${file}:${index + 1}` }))
        .filter(
          ({ line }) => forbidden.test(line) && !/^\s*(?:\*|\/\/|\/\*)/.test(line) && !line.includes('// real time:'),
        )
        .map(({ place }) => place),
    )
  expect(violations).toEqual([])
})

test('there are no empty folders and no file without an opening comment', () => {
  const silent = production.filter(
    (file) => !/^(?:#![^\n]*\n)?(?:\/\*\*|\/\/)/.test(text(file)) && !/^import[^\n]*\n+\/\*\*/.test(text(file)),
  )
  expect(silent).toEqual([])
})
