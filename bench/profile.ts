/**
 * Where the time of a CPU profile went: functions and modules by self time.
 *
 *   npx node bench/profile.ts FILE.cpuprofile [N]
 */
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { REPOSITORY } from './support/child.ts'
import { printTable } from './support/table.ts'

const TOP = 10

interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
  }[]
  readonly samples: readonly number[]
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[]
}

export function printProfile(file: string, top: number = TOP): void {
  const profile = JSON.parse(readFileSync(file, 'utf8')) as CpuProfile
  const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]))
  const functions = new Map<string, number>()
  const modules = new Map<string, number>()
  let busy = 0
  profile.samples.forEach((id, index) => {
    const frame = frames.get(id)
    // A sample lasts until the next one.
    const micros = profile.timeDeltas[index + 1] ?? 0
    if (frame === undefined || frame.functionName === '(idle)') return
    const place = placeOf(frame.url)
    const name = `${frame.functionName || '(anonymous)'}${place === '' ? '' : ` ${place}:${frame.lineNumber + 1}`}`
    busy += micros
    functions.set(name, (functions.get(name) ?? 0) + micros)
    const module = moduleOf(place, frame.functionName)
    modules.set(module, (modules.get(module) ?? 0) + micros)
  })
  const ranked = (times: ReadonlyMap<string, number>): [string, number][] =>
    [...times].sort((a, b) => b[1] - a[1]).slice(0, top)
  const rows = (times: ReadonlyMap<string, number>): string[][] =>
    ranked(times).map(([name, micros]) => [
      name,
      `${((100 * micros) / busy).toFixed(1)} %`,
      `${Math.round(micros / 1_000)} ms`,
    ])
  printTable(['function', 'of busy time', 'self'], rows(functions))
  printTable(['module', 'of busy time', 'self'], rows(modules))
}

/** Relative to the repository where it is in it. */
function placeOf(url: string): string {
  if (!url.startsWith('file:')) return url
  return relative(REPOSITORY, fileURLToPath(url))
}

/** `src/parse`, `undici`, `node:internal`, or what the engine itself does. */
function moduleOf(place: string, name: string): string {
  if (place === '') return name.startsWith('(') ? name : '(native)'
  if (place.startsWith('node:')) return 'node:internal'
  const parts = place.split('/')
  const packages = parts.lastIndexOf('node_modules')
  if (packages === -1) return parts.slice(0, Math.min(2, parts.length - 1)).join('/')
  const scoped = parts[packages + 1]?.startsWith('@') === true
  return parts.slice(packages + 1, packages + (scoped ? 3 : 2)).join('/')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [file, top] = process.argv.slice(2)
  if (file === undefined) throw new Error('which profile? npx node bench/profile.ts FILE.cpuprofile [N]')
  printProfile(file, Number(top ?? TOP))
}
