/** Modules of npm in a folder of the benchmark, so that none is a dependency of ours. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const INSTALL_MS = 600_000

/** Modules by name, with the version that is wanted. Returns why not, where they cannot be had. */
export function installModules(folder: string, modules: Readonly<Record<string, string>>): string | undefined {
  const manifest = JSON.stringify({ private: true, dependencies: modules })
  const mark = join(folder, '.installed')
  if (existsSync(mark)) return undefined
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), manifest)
  // npm comes with the Node that runs this, or else from the path.
  const beside = join(dirname(process.execPath), 'npm')
  const npm = spawnSync(
    existsSync(beside) ? beside : 'npm',
    ['install', '--no-audit', '--no-fund', '--loglevel=error'],
    {
      cwd: folder,
      encoding: 'utf8',
      timeout: INSTALL_MS,
    },
  )
  if (npm.status !== 0) return `npm install: ${(npm.stderr ?? 'there is no npm').trim().split('\n')[0]}`
  writeFileSync(mark, '')
  return undefined
}
