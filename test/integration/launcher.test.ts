/** What the launcher starts: the files that were put together, unless the sources that they were made of have changed. */
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { temporaryFolder } from '../support/program.ts'

const LAUNCHER = join('bin', 'tiptoe.mjs')
const SOURCE = join('src', 'cli', 'main.ts')

let folder: ReturnType<typeof temporaryFolder>
beforeEach(() => {
  folder = temporaryFolder()
  put(SOURCE, 'export const main = (words: string[]): void => console.log("sources", ...words)')
  put(join('dist', 'start', 'main.js'), 'export const main = (words) => console.log("bundle", ...words)')
  mkdirSync(join(folder.path, 'bin'))
  copyFileSync(join(import.meta.dirname, '..', '..', LAUNCHER), join(folder.path, LAUNCHER))
  const { size, mtimeMs } = statSync(join(folder.path, SOURCE))
  put(join('dist', 'start', 'sources.json'), JSON.stringify([['src/cli/main.ts', size, mtimeMs]]))
})
afterEach(() => folder.remove())

function put(path: string, text: string): void {
  const file = join(folder.path, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}
const start = (): string =>
  execFileSync(process.execPath, [join(folder.path, LAUNCHER), 'a'], { encoding: 'utf8', stdio: 'pipe' }).trim()

it('a clone starts from the bundle while its sources are the same', () => {
  expect(start()).toBe('bundle a')
})

it('from its sources when one of them is another', () => {
  utimesSync(join(folder.path, SOURCE), new Date(), new Date())
  expect(start()).toBe('sources a')
})

it('or has another length at the same time', () => {
  const { atime, mtime } = statSync(join(folder.path, SOURCE))
  put(SOURCE, 'export const main = (words: string[]): void => console.log("sources", "longer", ...words)')
  utimesSync(join(folder.path, SOURCE), atime, mtime)
  expect(start()).toBe('sources longer a')
})

it('and where nothing was put together', () => {
  rmSync(join(folder.path, 'dist'), { recursive: true })
  expect(start()).toBe('sources a')
})

it('a package, which has no sources, from the bundle', () => {
  rmSync(join(folder.path, 'src'), { recursive: true })
  expect(start()).toBe('bundle a')
})
