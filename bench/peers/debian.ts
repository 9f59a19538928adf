/**
 * Packages of Debian for a benchmark, unpacked into its own folder and never installed: nothing on the machine changes,
 * and no rights are needed. What a package depends on and the machine does not have is unpacked with it.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const DOWNLOAD_MS = 600_000

export interface Unpacked {
  /** Where the file that is `/usr/…` of a package stands. */
  path(file: string): string
  /** A program: from the folder, else the machine's own; undefined where there is neither. */
  program(name: string): string | undefined
  /** Lets programs of the folder find their libraries and modules. */
  readonly env: Readonly<Record<string, string>>
}

/** With `alone`, dependencies are left out: documentation needs none. Returns why not, where a package cannot be had. */
export function unpackPackages(
  folder: string,
  packages: readonly string[],
  options: { readonly alone?: boolean } = {},
): Unpacked | string {
  const done = join(folder, '.unpacked')
  for (const name of packages) {
    const mark = join(done, name)
    if (existsSync(mark)) continue
    const failed = unpackPackage(folder, name, options.alone ?? false)
    if (failed !== undefined) return failed
    mkdirSync(done, { recursive: true })
    writeFileSync(mark, '')
  }
  return describe(folder)
}

function unpackPackage(folder: string, name: string, alone: boolean): string | undefined {
  const names = alone ? [name] : missingWith(name)
  if (names === undefined) return `Debian has no ${name}`
  const debs = join(folder, '.debs')
  rmSync(debs, { recursive: true, force: true })
  mkdirSync(debs, { recursive: true })
  const download = spawnSync('apt-get', ['download', '-qq', ...names], {
    cwd: debs,
    encoding: 'utf8',
    timeout: DOWNLOAD_MS,
  })
  if (download.status !== 0) return `apt-get download ${name}: ${firstLine(download.stderr ?? 'there is no apt-get')}`
  for (const file of readdirSync(debs)) {
    const unpack = spawnSync('dpkg-deb', ['-x', join(debs, file), folder], { encoding: 'utf8' })
    if (unpack.status !== 0) return `dpkg-deb -x ${file}: ${firstLine(unpack.stderr ?? 'there is no dpkg-deb')}`
  }
  rmSync(debs, { recursive: true })
  return undefined
}

/** What would be installed for it; the package itself is unpacked even where the machine has it. */
function missingWith(name: string): string[] | undefined {
  const plan = spawnSync('apt-get', ['install', '-s', '-qq', '--no-install-recommends', name], { encoding: 'utf8' })
  if (plan.status !== 0) return undefined
  const missing = [...plan.stdout.matchAll(/^Inst (\S+)/gm)].map(([, found = '']) => found)
  return [...new Set([name, ...missing])]
}

function describe(folder: string): Unpacked {
  const path = (file: string): string => join(folder, file)
  const libraries = ['usr/lib', 'lib'].map(path).flatMap((parent) => {
    const inside = existsSync(parent) ? readdirSync(parent) : []
    return [parent, ...inside.filter((name) => name.endsWith('-linux-gnu')).map((name) => join(parent, name))]
  })
  return {
    path,
    program(name) {
      const own = ['usr/bin', 'usr/sbin', 'bin'].map((place) => path(join(place, name)))
      const elsewhere = (process.env['PATH'] ?? '').split(delimiter).map((place) => join(place, name))
      return [...own, ...elsewhere].find((file) => existsSync(file))
    },
    env: {
      LD_LIBRARY_PATH: libraries.join(delimiter),
      PYTHONPATH: path('usr/lib/python3/dist-packages'),
    },
  }
}

function firstLine(text: string): string {
  return text.trim().split('\n')[0] ?? ''
}
